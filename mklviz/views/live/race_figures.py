"""The figures of a race: built for its solvers, colours and scales, and kept as long as those stay.

Those of the weights come second, so that the first curves need not wait for them.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from time import monotonic

from mklviz.engine import Race
from mklviz.views.live.chips import Chips
from mklviz.views.live.frames import LOST_AFTER
from mklviz.views.live.race_page import RacePage
from mklviz.views.live.readings import Readings
from mklviz.views.live.styles import race_styles
from mklviz.views.look.palette import RunStyle, Theme, swatch
from mklviz.views.plots.figures import Charts, Look, add_weights, build_charts, zooms

__all__ = ["RaceFigures"]


class RaceFigures:
    """The figures on a page, what they draw and how.

    Parameters
    ----------
    page : RacePage
    chips : Chips
        The legend.

    Attributes
    ----------
    charts : Charts or None
        None where there is no race.
    readings : Readings
    styles : dict of str to RunStyle
    """

    def __init__(self, page: RacePage, chips: Chips) -> None:
        self._page, self._chips = page, chips
        self._race: Race | None = None
        self.charts: Charts | None = None
        self.readings = Readings()
        self._shown: list[tuple[int, str]] = []  # kernels that had a colour when there were any
        self.styles: dict[str, RunStyle] = {}
        self._zooms = zooms()
        self._weights_by: float | None = None  # when the figures of the weights follow at the latest

    def suit(self, race: Race, theme: Theme) -> bool:
        """Return whether the figures that stand may draw another race."""
        return self.charts is not None and race_styles(race, theme) == self.styles

    def turn_to(self, race: Race, theme: Theme, log_x: bool, hidden: Collection[str]) -> None:
        """Draw another race in the figures that stand."""
        self._read(race, log_x)
        if self.charts is not None:
            self.charts.begin(hidden)
        self.name_kernels(theme)

    def forget_zooms(self) -> None:
        """Begin with the next figures at their whole ranges."""
        self._zooms = zooms()

    def build(self, race: Race | None, look: Look, hidden: Collection[str]) -> None:
        """Build all figures but those of the weights; empty ones where there is no race."""
        with self._frozen():
            self._page.paint(look.theme)
            if race is None:
                self._build_empty()
            else:
                self._build_race(race, look, hidden)

    def _build_empty(self) -> None:
        self._race, self.charts, self.styles, self._weights_by = None, None, {}, None
        self._shown = self.readings.shown or self._shown
        self.readings = Readings()
        self._chips.items = []
        self._page.show_empty()

    def _build_race(self, race: Race, look: Look, hidden: Collection[str]) -> None:
        self.styles = race_styles(race, look.theme)
        self._chips.items = [
            {"key": key, "label": style.label, "swatch": swatch(style)} for key, style in self.styles.items()
        ]
        self._read(race, look.log_x)
        by_epoch = tuple(run.trace.label for run in race.runs.values() if run.solver.stochastic)
        signed = not race.problem.regularizer.conjugated  # such as a logarithm, below zero at will
        look = replace(look, signed=signed, by_epoch=by_epoch)
        self.charts = build_charts(self.styles, self.readings.feeds, look, self._zooms)
        self.charts.set_hidden(hidden)
        self.charts.settle(self.readings.feeds)
        self._page.show_charts(self.charts)
        self.name_kernels(look.theme)
        self._weights_by = monotonic() + LOST_AFTER

    def weights_due(self, stand: bool, now: float) -> bool:
        """Return whether the figures of the weights are to follow: the others `stand`, or will not be waited for."""
        return self._weights_by is not None and (stand or now > self._weights_by)

    def add_weights(self, theme: Theme, hidden: Collection[str]) -> None:
        """Build the figures of the weights."""
        self._weights_by = None
        if self.charts is None:
            return
        with self._frozen():
            add_weights(self.charts, self.readings.feeds)
            self.charts.set_hidden(hidden)
            self._page.show_weights(self.charts)
            self.name_kernels(theme)

    def name_kernels(self, theme: Theme) -> None:
        """Write which kernels are shown."""
        if self.charts is not None and self._race is not None:
            names, problem = self.readings.kernels, self._race.problem
            self.charts.name_kernels(names)
            self._page.name_kernels(names, problem.m, theme, problem.noun)

    def _read(self, race: Race, log_x: bool) -> None:
        self._shown = self.readings.shown or self._shown
        self._race, self.readings = race, Readings(race, log_x, self.readings.sources, self._shown)

    def _frozen(self) -> AbstractContextManager[object]:
        """Let Bokeh walk through all models once."""
        document = self._page.document
        return document.models.freeze() if document is not None else nullcontext()
