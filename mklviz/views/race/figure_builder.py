"""The figures on the page of a race: built for its solvers, colours and scales, and kept as long as those stay.

A page builds them while it is idle, for the race that is set up; they take in any race they suit. Those of
the weights come second, so that the first curves need not wait for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from time import monotonic

from bokeh.models import ColumnDataSource

from mklviz.contract import Solver
from mklviz.problem import Regularizer
from mklviz.views.chart.columns import empty_source
from mklviz.views.chart.race_charts import ChartOptions
from mklviz.views.host.frames import LOST_AFTER
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import solver_styles
from mklviz.views.race.cursor_drag import CursorDrag
from mklviz.views.race.figures import Charts, Zooms, add_weights, build_charts
from mklviz.views.race.frame_sender import FrameSender
from mklviz.views.race.race_page import RacePage

__all__ = ["FigureSetup", "FigureBuilder"]


@dataclass(frozen=True)
class FigureSetup:
    """The facts of a race that its figures need before they are built."""

    styles: Mapping[str, RunStyle]
    by_epoch: tuple[str, ...]  # labels of the runs whose iterations are epochs
    signed: bool  # whether the objective may fall below zero, as with a logarithm

    @classmethod
    def of(cls, solvers: Mapping[str, Solver], regularizer: Regularizer, theme: Theme) -> FigureSetup:
        """Return the setup of these solvers, by the keys of their runs."""
        by_epoch = tuple(str(solver.name) for solver in solvers.values() if solver.stochastic)
        return cls(solver_styles(solvers, theme), by_epoch, signed=not regularizer.conjugated)


class FigureBuilder:
    """Figures on a page and the sources they draw, by the keys of the runs; it knows no race."""

    def __init__(self, page: RacePage, sender: FrameSender) -> None:
        self._page, self._sender = page, sender
        self.charts: Charts | None = None
        self.setup: FigureSetup | None = None  # the setup they were built for
        self.sources: dict[str, ColumnDataSource] = {}
        self.cursor_drag = CursorDrag()
        self._zooms = Zooms()
        self._weights_by: float | None = None  # when the figures of the weights follow at the latest

    def suit(self, setup: FigureSetup) -> bool:
        """Return whether these figures may draw a race of this setup."""
        return self.charts is not None and self.setup == setup

    def forget(self) -> None:
        """Build the next figures from scratch."""
        self.charts, self.sources = None, {}
        self.forget_zooms()

    def forget_zooms(self) -> None:
        """Begin with the next figures at their whole ranges."""
        self._zooms = Zooms()

    def clear(self) -> None:
        """Take the figures off the page; where the user has zoomed, the next ones stay zoomed."""
        self.charts = self.setup = self._weights_by = None
        self.sources = {}
        self._page.draw_nothing()

    def build(
        self, setup: FigureSetup, options: ChartOptions, sources: Mapping[str, ColumnDataSource] | None = None
    ) -> Charts:
        """Build all figures but those of the weights, from the sources of the setup's runs or from empty ones."""
        self.setup, self.sources = setup, dict(sources or {key: empty_source(key) for key in setup.styles})
        options = replace(options, signed=setup.signed, by_epoch=setup.by_epoch)
        self.charts = build_charts(setup.styles, self.sources, options, self._zooms)
        self.cursor_drag.listen(self.charts.figures, self.charts.marks.source)
        self._weights_by = monotonic() + LOST_AFTER
        return self.charts

    def deliver(self, hidden: Collection[str]) -> None:
        """Send the figures that were put on the page; where the page is idle, build those of the weights as well."""
        if self._sender.served:
            self._sender.send(monotonic(), figures=True)
        else:
            self._add_weights(hidden)

    def complete(self, hidden: Collection[str], now: float) -> bool:
        """Build the figures of the weights if it is time: the browser has the others, or will not be waited for."""
        due = self._weights_by is not None and (self._sender.frames.stand or now > self._weights_by)
        if due:
            self._add_weights(hidden)
            if self._sender.served:
                self._sender.send(monotonic(), figures=True)
        return due

    def _add_weights(self, hidden: Collection[str]) -> None:
        self._weights_by = None
        if self.charts is not None:
            with self._sender.frozen():
                add_weights(self.charts)
                self.cursor_drag.listen(list(self.charts.weights.values()), self.charts.marks.source)
                self.charts.set_hidden(hidden)
                self._page.weights.show_charts(self.charts)
