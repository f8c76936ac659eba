"""How far the axes of a race reach, where on them the cursor stands, and the controls above them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from mklviz.record import FINAL
from mklviz.views.chart.axes import axis_end, counted
from mklviz.views.form import Button, Checkbox, Form, FormRow, Note, Segments, follow
from mklviz.views.host.frames import Frames
from mklviz.views.look.palette import RunStyle
from mklviz.views.race.figures import Charts
from mklviz.views.race.race_figures import RaceFigures
from mklviz.views.race.readings import Extent, Readings

__all__ = ["LongRuns", "RaceAxes", "above_box", "race_controls"]


class LongRuns:
    """Ends the axis before a run that would squeeze the others into a sliver, and says so beside a button for all."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.whole = False  # whether the whole axis is shown
        self.note = Note(small=True, visible=False)
        self.button = Button(self._turn, variant="text", visible=False)
        self.form = Form(FormRow(self.note, self.button, wrap=True), sizing_mode=None)

    def begin(self) -> None:
        """Expect another race."""
        self.whole = False
        self._say("", "")

    def update(
        self, charts: Charts, readings: Readings, styles: Mapping[str, RunStyle], hidden: Collection[str]
    ) -> None:
        """Bring axis and words up to date; `hidden` and failed runs do not count, and a log axis has room for all."""
        x, states = charts.options.x, dict(zip(readings.feeds, readings.states, strict=False))
        seen = {key: readings.feeds[key] for key, state in states.items() if key not in hidden and state != "failed"}
        reached = {
            key: feed.position(feed.trace.last_step).get(x, 0.0) for key, feed in seen.items() if len(feed.trace)
        }
        ended = {key: states[key] in FINAL for key in reached}
        end = math.inf if charts.options.log_x else axis_end(reached, ended)
        beyond = [f"{styles[key].label} goes on to {counted(far, x)}" for key, far in reached.items() if far > end]
        words = f"Not shown: {', '.join(beyond)}." if beyond and not self.whole else ""
        self._say(words, "Show where the others end" if beyond and self.whole else "Show all" if beyond else "")
        charts.set_end(math.inf if self.whole else end)

    def _say(self, text: str, label: str) -> None:
        self.note.param.update(object=text, visible=bool(text))
        self.button.param.update(label=label, visible=bool(label))

    def _turn(self, *_: object) -> None:
        self.whole = not self.whole
        self._changed()


_ABOVE = (
    "Draws the objective less the best lower bound of all solvers. It is done by itself where the plain curves lie too"
    " flat to be told apart."
)

_CORNER = {"position": "absolute", "top": "6px", "right": "12px"}  # takes no room from the figure


def race_controls(view: Any, reset_zoom: Callable[..., None]) -> list[Any]:
    """Return the controls of a view with the parameters `large`, `x_axis`, `log_x` and `log_y`."""
    large, axis = (Segments(label=each.label, options=each.names) for each in (view.param.large, view.param.x_axis))
    follow(large, view, "large")
    follow(axis, view, "x_axis")
    boxes = [Checkbox(label=view.param[name].label) for name in ("log_x", "log_y")]
    for box, name in zip(boxes, ("log_x", "log_y"), strict=True):
        follow(box, view, name)
    reset = Button(lambda *_: reset_zoom(), label="Reset zoom", variant="text")
    return [Form(FormRow(large, axis, *boxes, reset, wrap=True), sizing_mode=None)]


def above_box(view: Any) -> Form:
    """Return the box beside the heading of the objective, for a view with the parameter `above`."""
    box = Checkbox(label=view.param.above.label, description=_ABOVE)
    follow(box, view, "above")
    return Form(FormRow(box), sizing_mode=None, styles=_CORNER, css_classes=["aside"])


class RaceAxes:
    """Changes the ranges of the current figures, in the order in which the browser gets them."""

    def __init__(self, figures: RaceFigures, long_runs: LongRuns, frames: Frames) -> None:
        self._figures, self._long_runs, self._frames = figures, long_runs, frames

    @property
    def squashed(self) -> bool:
        """Whether objectives lie too flat to be told apart, and the chart is not zoomed."""
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
        self._change(lambda charts: self._long_runs.update(charts, figures.readings, figures.styles, figures.hidden))

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
