"""The runs in the figures of a race: which runs are drawn, over which columns, and their new steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from time import monotonic

from mklviz.contract import Solver
from mklviz.engine.race import entered
from mklviz.problem import Regularizer
from mklviz.views.chart.columns import KernelColours, empty_source
from mklviz.views.chart.race_charts import ChartOptions
from mklviz.views.look.palette import RunStyle
from mklviz.views.race.chips import Chips
from mklviz.views.race.cursor_drag import CursorDrag
from mklviz.views.race.drawn_runs import DrawnRuns
from mklviz.views.race.figure_builder import FigureSetup, FigureBuilder
from mklviz.views.race.figures import Charts
from mklviz.views.race.frame_sender import FrameSender
from mklviz.views.race.pins import Pins
from mklviz.views.race.race_page import RacePage
from mklviz.views.race.readings import Readings
from mklviz.views.session.race_history import KeptRace

__all__ = ["RaceFigures"]


class RaceFigures:
    """Runs, and the figures on a page that draw them, in the colours and on the scales of `ChartOptions`."""

    def __init__(self, page: RacePage, chips: Chips, sender: FrameSender, options: ChartOptions) -> None:
        self._page, self._chips, self._sender, self._frames = page, chips, sender, sender.frames
        self._builder = FigureBuilder(page, sender)
        self.options = options  # as it was asked for
        self.hidden = frozenset[str]()  # keys of the runs that are not drawn
        self.drawn: DrawnRuns | None = None
        self.readings, self.pins, self.colours = Readings(), Pins(), KernelColours()
        sender.on_arrival = lambda: self.readings.restart()  # data streamed before the figures arrive are lost

    @property
    def cursor_drag(self) -> CursorDrag:
        """What tells where the cursor is dragged to."""
        return self._builder.cursor_drag

    @property
    def charts(self) -> Charts | None:
        """The figures on the page, also those that wait for a race; None where none have been built."""
        return self._builder.charts

    @property
    def styles(self) -> Mapping[str, RunStyle]:
        """How each run is drawn."""
        return {} if self._builder.setup is None or self.drawn is None else self._builder.setup.styles

    @property
    def full_options(self) -> ChartOptions:
        """The options with what the runs decide: objectives stand above the best bound where there is one."""
        if self.drawn is None:
            return replace(self.options, above=False)
        above = self.options.above and not self.drawn.no_bound
        return replace(self.options, above=above, no_bound=self.drawn.no_bound, noun=self.drawn.noun)

    # -- which runs, in which figures

    def draw(self, drawn: DrawnRuns, hidden: Collection[str]) -> None:
        """Draw runs, except those `hidden`: in the current figures if these suit and have arrived, else in new ones."""
        self.drawn, self.hidden = drawn, frozenset(hidden).intersection(drawn.traces)
        setup = FigureSetup.of(drawn.solvers, drawn.regularizer, self.options.theme)
        charts = self.charts if self._builder.suit(setup) and not self._frames.lost(monotonic()) else None
        if charts is None:
            self._builder.forget()
            self.rebuild()
            return
        with self._frames.in_order():
            self.readings = Readings(drawn, self.options.log_x, self._builder.sources, self.colours)
            charts.begin(self.hidden)
            self._present(drawn, charts)

    def leave(self) -> None:
        """Draw no runs any more, and keep the figures for the next ones."""
        self.drawn, self.readings = None, Readings()
        with self._frames.in_order():
            if self.charts is not None:
                self.charts.begin(())
                self.charts.marks.move({})
            for key, source in self._builder.sources.items():
                source.data = dict(empty_source(key).data)
        self._chips.items = []
        self._page.show_empty()
        self._page.write_titles(self.full_options)

    def prepare(self, solvers: Sequence[Solver], regularizer: Regularizer) -> None:
        """Build the figures for the race that these solvers would run, so that its first curves need not wait."""
        setup = FigureSetup.of(entered(solvers), regularizer, self.options.theme)
        if self.drawn is None and not self._builder.suit(setup):
            self._builder.forget()
            with self._sender.frozen():
                charts = self._builder.build(setup, self.full_options)
                self.pins.draw(charts, self.options.theme)
                self._page.show_charts(charts)
            self._builder.deliver(self.hidden)

    def rebuild(self) -> None:
        """Build all figures anew, for other solvers, colours or scales; without runs, there are none."""
        self._page.paint(self.options.theme)
        if self.drawn is None:
            self._builder.clear()
            self.leave()
            return
        with self._sender.frozen():
            self.readings = Readings(self.drawn, self.options.log_x, self._builder.sources, self.colours)
            setup = FigureSetup.of(self.drawn.solvers, self.drawn.regularizer, self.options.theme)
            charts = self._builder.build(setup, self.full_options, self.readings.sources)
            self.pins.draw(charts, self.options.theme)
            charts.set_hidden(self.hidden)
            charts.settle(self.readings.feeds)
            self._present(self.drawn, charts)
            self._page.show_charts(charts)  # in their final state: changes before the page has them get lost
        self._builder.deliver(self.hidden)
        self.name_kernels()

    def pin(self, races: Sequence[KeptRace]) -> bool:
        """Draw these earlier races in grey, instead of the current ones; return whether they changed."""
        another = races is not self.pins.races
        if another:
            self.pins.races = races
            self._chips.pinned = self.pins.named()
            self.rebuild()
        return another

    def apply(self, options: ChartOptions) -> bool:
        """Draw in other colours or on other axes; return whether that took new figures."""
        before, self.options = self.options, options
        if (before.theme, before.log_x, before.log_y) != (options.theme, options.log_x, options.log_y):
            if before.x != options.x:
                self._builder.forget_zooms()
            self.rebuild()
            return True
        if self.charts is not None:
            with self._frames.in_order():
                if before.x != options.x:
                    self.charts.set_x(options.x)
                self._draw_above(self.charts)
                self.charts.set_tolerance(options.gap_tolerance)
        self._page.write_titles(self.full_options)
        return False

    def hide(self, hidden: Collection[str]) -> None:
        """Draw the runs that are not hidden."""
        self.hidden = frozenset(hidden)
        if self.charts is not None:
            with self._frames.in_order():
                self.charts.set_hidden(hidden)

    # -- what is new of them

    def refer(self) -> bool:
        """Follow the best bound where objectives are drawn above it; return whether it changed."""
        above = self.full_options.above
        another = above and self.readings.refer()
        if above:
            self.pins.refer(self.readings.reference)
        return another

    def name_kernels(self) -> None:
        """Write which kernels are shown."""
        if self.charts is not None and self.drawn is not None:
            names = self.readings.kernels
            self.charts.name_kernels(names)
            self._page.name_kernels(names, len(self.drawn.names), self.options.theme, self.drawn.noun)

    def complete(self, now: float) -> None:
        """Build the figures of the weights when the browser has the others."""
        if self._builder.complete(self.hidden, now):
            self.name_kernels()

    # -- parts of it

    def _present(self, drawn: DrawnRuns, charts: Charts) -> None:
        """Say everywhere which runs these are."""
        self.pins.suit(list(drawn.traces.values()), self.options.log_x)
        self._chips.pinned = self.pins.named()
        self._chips.name_runs(self.styles)
        self._page.show_race(drawn.recorded)
        self.name_kernels()
        self._page.write_titles(self.full_options)
        self._draw_above(charts)

    def _draw_above(self, charts: Charts) -> None:
        self.refer()
        charts.set_above(self.full_options.above)
