"""How far the axes of a race reach, and where on them the cursor stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mklviz.record import FINAL
from mklviz.views.host.frames import Frames
from mklviz.views.race.figures import Charts, Extent
from mklviz.views.race.long_runs import LongRuns
from mklviz.views.race.race_figures import RaceFigures

__all__ = ["RaceAxes"]


class RaceAxes:
    """Changes the ranges of the current figures, in the order in which the browser gets them."""

    def __init__(self, figures: RaceFigures, long_runs: LongRuns, frames: Frames) -> None:
        self._figures, self._long_runs, self._frames = figures, long_runs, frames

    @property
    def squashed(self) -> bool:
        """Whether objectives lie too flat to be told apart, and nobody has zoomed into them."""
        charts, figures = self._figures.charts, self._figures
        return charts is not None and charts.may_turn and figures.readings.squashed(figures.hidden)

    def settle(self, states: Sequence[str]) -> None:
        """Let the ranges follow the drawn data of the runs, whose status is in `states`."""
        self.end()
        if all(state in FINAL for state in states):
            self.hold({})
        self._change(lambda charts: charts.settle(self._figures.readings.feeds))

    def hold(self, extents: Mapping[str, Extent]) -> None:
        """Let the ranges include the `extents`, by column, whatever is drawn."""
        self._change(lambda charts: charts.hold(extents))

    def end(self) -> None:
        """End the horizontal axis before runs that are far longer than the others."""
        figures = self._figures
        self._change(
            lambda charts: self._long_runs.update(charts, figures.readings, figures.styles, figures.hidden),
        )

    def turn_end(self) -> None:
        """Show all of the horizontal axis, or its beginning again."""
        self.end()
        self.reset_zoom()

    def reset_zoom(self) -> None:
        """Let every figure follow its data again."""
        self._change(lambda charts: charts.reset_zoom())

    def mark(self, step: int | None) -> None:
        """Draw upright lines at the step that is chosen, or none."""
        positions = self._figures.readings.positions(step, self._figures.hidden)
        self._change(lambda charts: charts.marks.move(positions))

    def _change(self, change: Callable[[Charts], None]) -> None:
        if self._figures.charts is not None:
            with self._frames.in_order():
                change(self._figures.charts)
