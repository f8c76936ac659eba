"""The figures of a race: built for its solvers, colours and scales, and kept as long as those stay.

A page builds them while nobody waits for them, for the race that is set up; they take in any race they suit. Those of
the weights come second, so that the first curves need not wait for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from bokeh.models import ColumnDataSource

from mklviz.contract import Solver
from mklviz.engine.race import entered
from mklviz.problem import Regularizer
from mklviz.views.chart.columns import empty_source
from mklviz.views.chart.kernel_colours import KernelColours
from mklviz.views.chart.race_charts import ChartOptions
from mklviz.views.host.document_models import walk_models_once
from mklviz.views.host.frames import LOST_AFTER
from mklviz.views.look.palette import RunStyle, Theme, swatch
from mklviz.views.look.styles import solver_styles
from mklviz.views.race.chips import Chips
from mklviz.views.race.drawn_runs import DrawnRuns
from mklviz.views.race.figures import Charts, add_weights, build_charts
from mklviz.views.race.pins import Pins
from mklviz.views.race.race_page import RacePage
from mklviz.views.race.readings import Readings
from mklviz.views.race.zooms import Zooms

__all__ = ["Cast", "RaceFigures"]


@dataclass(frozen=True)
class Cast:
    """What figures have to know of a race before they are built.

    Attributes
    ----------
    styles : mapping of str to RunStyle
        How each run is drawn.
    by_epoch : tuple of str
        Labels of the runs whose iterations are epochs.
    signed : bool
        Whether the objective may fall below zero, as with a logarithm.
    """

    styles: Mapping[str, RunStyle]
    by_epoch: tuple[str, ...]
    signed: bool

    @classmethod
    def of(cls, drawn: DrawnRuns, theme: Theme) -> Cast:
        """Return the cast of what is drawn."""
        return cls._of(drawn.solvers, drawn.regularizer, theme)

    @classmethod
    def planned(cls, solvers: Sequence[Solver], regularizer: Regularizer, theme: Theme) -> Cast:
        """Return the cast of the race that these solvers would run."""
        return cls._of(entered(solvers), regularizer, theme)

    @classmethod
    def _of(cls, solvers: Mapping[str, Solver], regularizer: Regularizer, theme: Theme) -> Cast:
        by_epoch = tuple(str(solver.name) for solver in solvers.values() if solver.stochastic)
        return cls(solver_styles(solvers, theme), by_epoch, signed=not regularizer.conjugated)


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
        None where none have been built.
    cast : Cast or None
        What they were built for.
    readings : Readings
        Of the race they draw, if they draw one.
    pins : Pins
        Races of before, behind it.
    colours : KernelColours
        Those of the kernels.
    """

    def __init__(self, page: RacePage, chips: Chips) -> None:
        self._page, self._chips = page, chips
        self._drawn: DrawnRuns | None = None
        self.charts: Charts | None = None
        self.cast: Cast | None = None
        self.readings, self.pins = Readings(), Pins()
        self._sources: dict[str, ColumnDataSource] = {}
        self.colours = KernelColours()
        self._zooms = Zooms()
        self._weights_by: float | None = None  # when the figures of the weights follow at the latest

    @property
    def styles(self) -> Mapping[str, RunStyle]:
        """How each run is drawn."""
        return {} if self.cast is None else self.cast.styles

    def suit(self, cast: Cast) -> bool:
        """Return whether the figures that stand may draw a race of this cast."""
        return self.charts is not None and self.cast == cast

    def turn_to(self, drawn: DrawnRuns, theme: Theme, log_x: bool, hidden: Collection[str]) -> None:
        """Draw other runs in the figures that stand."""
        self._read(drawn, log_x)
        self._suit_pins(log_x)
        self._name_runs()
        self._page.show_race()
        if self.charts is not None:
            self.charts.begin(hidden)
        self.name_kernels(theme)

    def leave(self) -> None:
        """Draw no race any more, and keep the figures."""
        self._drawn, self.readings = None, Readings()
        if self.charts is not None:
            self.charts.begin(())
            self.charts.marks.place({})
        for key, source in self._sources.items():
            source.data = dict(empty_source(key).data)
        self._chips.items = []
        self._page.show_empty()

    def clear(self, theme: Theme) -> None:
        """Draw no race, and forget the figures: the next ones look different."""
        self.charts = self.cast = self._weights_by = None
        self._sources = {}
        self._page.paint(theme)
        self._page.draw_nothing()
        self.leave()

    def forget_zooms(self) -> None:
        """Begin with the next figures at their whole ranges."""
        self._zooms = Zooms()

    def forget(self) -> None:
        """Begin with the next figures from nothing."""
        self.charts, self._sources = None, {}
        self.forget_zooms()

    def prepare(self, cast: Cast, options: ChartOptions) -> None:
        """Build all figures but those of the weights for a race to come."""
        with walk_models_once(self._page.document):
            self._sources = {key: empty_source(key) for key in cast.styles}
            self._page.place(self._build(cast, options))

    def build(self, drawn: DrawnRuns, options: ChartOptions, hidden: Collection[str]) -> None:
        """Build all figures but those of the weights."""
        with walk_models_once(self._page.document):
            self._page.paint(options.theme)
            self._read(drawn, options.log_x)
            charts = self._build(Cast.of(drawn, options.theme), options)
            self._suit_pins(options.log_x)
            charts.set_hidden(hidden)
            charts.settle(self.readings.feeds)
            self._page.place(charts)  # as they are to be: what changes before the page has them gets lost
            self._name_runs()
            self._page.show_race()
            self.name_kernels(options.theme)

    def _build(self, cast: Cast, options: ChartOptions) -> Charts:
        self.cast = cast
        options = replace(options, signed=cast.signed, by_epoch=cast.by_epoch)
        self.charts = build_charts(cast.styles, self._sources, options, self._zooms)
        self.pins.draw(self.charts, options.theme)
        self._weights_by = monotonic() + LOST_AFTER
        return self.charts

    def refer(self) -> bool:
        """Draw objectives above the best bound there is by now; return whether it is another one."""
        news = self.readings.refer()
        self.pins.refer(self.readings.reference)
        return news

    def _suit_pins(self, log_x: bool) -> None:
        self.pins.suit([] if self._drawn is None else list(self._drawn.traces.values()), log_x)
        self._chips.pinned = self.pins.named()

    def _name_runs(self) -> None:
        self._chips.items = [
            {"key": key, "label": style.label, "swatch": swatch(style)} for key, style in self.styles.items()
        ]

    def weights_due(self, stand: bool, now: float) -> bool:
        """Return whether the figures of the weights are to follow: the others `stand`, or will not be waited for."""
        return self._weights_by is not None and (stand or now > self._weights_by)

    def add_weights(self, theme: Theme, hidden: Collection[str]) -> None:
        """Build the figures of the weights."""
        self._weights_by = None
        if self.charts is None:
            return
        with walk_models_once(self._page.document):
            add_weights(self.charts)
            self.charts.set_hidden(hidden)
            self._page.place_weights(self.charts)
            self.name_kernels(theme)

    def name_kernels(self, theme: Theme) -> None:
        """Write which kernels are shown."""
        if self.charts is not None and self._drawn is not None:
            names = self.readings.kernels
            self.charts.name_kernels(names)
            self._page.name_kernels(names, len(self._drawn.names), theme, self._drawn.noun)

    def _read(self, drawn: DrawnRuns, log_x: bool) -> None:
        self._drawn, self.readings = drawn, Readings(drawn, log_x, self._sources, self.colours)
        self._sources = self.readings.sources
