"""The figures on the page of a race, and the runs in them: which are drawn, over which columns, and their new steps.

Figures stay as long as solvers and colours do. Those of the weights come second, so that no curve waits for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from bokeh.models import ColumnDataSource

from mklviz.contract import Solver
from mklviz.engine.race import entered
from mklviz.record import FINAL, Trace
from mklviz.record.summary import Reference
from mklviz.views.chart.columns import Thinning, drawable, empty_source, line_columns, race_slots
from mklviz.views.chart.race_charts import ChartOptions, epochs
from mklviz.views.host.frames import LOST_AFTER, Frames, walk_models_once
from mklviz.views.host.page_session import is_on_page, is_served
from mklviz.views.look.palette import RunStyle, Theme, readable
from mklviz.views.look.styles import run_styles, solver_styles
from mklviz.views.race.components import Chips, CursorDrag
from mklviz.views.race.figures import Charts, Zooms, add_weights, build_charts
from mklviz.views.race.race_page import RacePage
from mklviz.views.race.readings import DrawnRuns, Readings
from mklviz.views.session.session import KeptRace, difference


@dataclass(frozen=True)
class FigureSetup:
    """The facts of a race that its figures need before they are built."""

    styles: Mapping[str, RunStyle]
    by_epoch: tuple[str, ...]  # labels of the runs whose iterations are epochs
    signed: bool  # whether the objective may fall below zero, as with a logarithm

    @classmethod
    def of(cls, solvers: Mapping[str, Solver], signed: bool, theme: Theme) -> FigureSetup:
        """Return the setup of these solvers, by the keys of their runs."""
        return cls(solver_styles(solvers, theme), epochs(solvers.values()), signed)


class RaceFigures:
    """Runs, and the figures on a page that draw them, in the colours and on the scales of `ChartOptions`."""

    def __init__(self, page: RacePage, chips: Chips, frames: Frames, options: ChartOptions) -> None:
        self._page, self._chips, self._frames = page, chips, frames
        self.options = options  # as it was asked for
        self.hidden = frozenset[str]()  # keys of the runs that are not drawn
        self.drawn: DrawnRuns | None = None
        self.readings, self.pins, self.cursor_drag = Readings(), Pins(), CursorDrag()
        self.charts: Charts | None = None  # also while they wait for a race
        self._setup: FigureSetup | None = None  # that they were built for
        self._sources: dict[str, ColumnDataSource] = {}  # that they draw, by the keys of the runs
        self._zooms = Zooms()
        self._weights_by: float | None = None  # when the figures of the weights follow at the latest
        self._large = "objective"
        frames.heartbeat.param.watch(lambda _event: self._acknowledged(), "ack")

    def _acknowledged(self) -> None:
        if self._frames.acknowledge(monotonic()):
            self.readings.restart()  # data streamed before the figures arrived are lost

    def send(self, now: float, figures: bool = False) -> None:
        """Send a frame with all that has changed on the page; with `figures`, the current figures come with it."""
        if not is_served():
            self._page.push()
        self._frames.send(now, figures)

    def _frozen(self) -> AbstractContextManager[object]:
        """Let Bokeh walk through all models once, at the end of what is built within."""
        return walk_models_once(self._page.document)

    @property
    def styles(self) -> Mapping[str, RunStyle]:
        """How each run is drawn."""
        return {} if self._setup is None or self.drawn is None else self._setup.styles

    @property
    def full_options(self) -> ChartOptions:
        """The options with what the runs decide: objectives stand above the best bound where there is one."""
        if self.drawn is None:
            return replace(self.options, above=False)
        known = self.drawn.facts
        above = self.options.above and not known.no_bound
        return replace(self.options, above=above, no_bound=known.no_bound, noun=known.noun)

    # -- which runs, in which figures

    def draw(self, drawn: DrawnRuns, hidden: Collection[str]) -> None:
        """Draw runs, except those `hidden`: in the current figures if these suit and have arrived, else in new ones."""
        before = self.readings.slots if self.drawn is not None and self.drawn.recording else None
        race_slots((drawn.recording or drawn.traces).values(), before)
        self.drawn, self.hidden = drawn, frozenset(hidden).intersection(drawn.traces)
        setup = FigureSetup.of(drawn.solvers, drawn.facts.signed, self.options.theme)
        shown = self.charts is not None and self._page.shows(self.charts)
        if self.charts is None or not shown or self._setup != setup or self._frames.lost(monotonic()):
            self._forget()
            self.rebuild()
            return
        with self._frames.in_order():
            self.readings = Readings(drawn, self.options.log_x, self._sources)
            self.charts.begin(self.hidden)
            self._present(drawn, self.charts)

    def leave(self) -> None:
        """Draw no runs any more, and keep the figures for the next ones."""
        self.drawn, self.readings = None, Readings()
        with self._frames.in_order():
            if self.charts is not None:
                self.charts.begin(())
                self.charts.marks.move({})
            for key, source in self._sources.items():
                source.data = dict(empty_source(key).data)
        self._chips.items = []
        self._page.show_empty()
        self._page.write_titles(self.full_options)

    def prepare(self, solvers: Sequence[Solver], signed: bool) -> bool:
        """Build the figures for the race that these solvers would run, so that its first curves need not wait.

        On a page that is served they are built by one call and shown by the next; return whether they are shown.
        """
        setup = FigureSetup.of(entered(solvers), signed, self.options.theme)
        if self.drawn is not None:
            return True
        if self.charts is None or self._setup != setup:
            self._forget()
            self._build(setup, {key: empty_source(key) for key in setup.styles})
            if is_on_page([self._page]):
                return False
        if self.charts is not None and not self._page.shows(self.charts):
            with self._frozen():
                self._page.show_charts(self.charts)
            self._deliver()
        return True

    def rebuild(self) -> None:
        """Build all figures anew, for other solvers, colours or scales; without runs, there are none."""
        self._page.paint(self.options.theme)
        if self.drawn is None:
            self.charts = self._setup = self._weights_by = None  # where the user has zoomed, the next ones stay zoomed
            self._sources = {}
            self._page.draw_nothing()
            self.leave()
            return
        with self._frozen():
            self.readings = Readings(self.drawn, self.options.log_x, self._sources)
            setup = FigureSetup.of(self.drawn.solvers, self.drawn.facts.signed, self.options.theme)
            charts = self._build(setup, {key: feed.source for key, feed in self.readings.feeds.items()})
            charts.set_hidden(self.hidden)
            charts.settle(self.readings.feeds)
            self._present(self.drawn, charts)
            self._page.show_charts(charts)  # in their final state: changes before the page has them get lost
        self._deliver()
        self.name_kernels()

    def _forget(self) -> None:
        """Build the next figures from scratch, at their whole ranges."""
        self.charts, self._sources, self._zooms = None, {}, Zooms()

    def _build(self, setup: FigureSetup, sources: Mapping[str, ColumnDataSource]) -> Charts:
        """Build all figures but those of the weights, from the sources of the setup's runs."""
        self._setup, self._sources = setup, dict(sources)
        options = replace(self.full_options, signed=setup.signed, by_epoch=setup.by_epoch)
        self.charts = build_charts(setup.styles, self._sources, options, self._zooms)
        self.cursor_drag.listen(self.charts.figures, self.charts.marks.source)
        self.charts.enlarge(self._large)
        self.pins.draw(self.charts, self.options.theme)
        self._weights_by = monotonic() + LOST_AFTER
        return self.charts

    def _deliver(self) -> None:
        """Send the figures that were put on the page; where the page is idle, build those of the weights as well."""
        if is_on_page([self._page]):
            self.send(monotonic(), figures=True)
        else:
            self._add_weights()

    def complete(self, now: float) -> None:
        """Build the figures of the weights if it is time: the browser has the others, or will not be waited for."""
        charts, due = self.charts, self._frames.stand or now > (self._weights_by or 0.0)
        if charts is None or self._weights_by is None or not (due and self._page.shows(charts)):
            return
        served = is_on_page([self._page])
        if served and not charts.weights:
            add_weights(charts)  # which are shown the next time
            return
        self._add_weights()
        if served:
            self.send(monotonic(), figures=True)
        self.name_kernels()

    def _add_weights(self) -> None:
        self._weights_by = None
        if self.charts is not None:
            with self._frozen():
                if not self.charts.weights:
                    add_weights(self.charts)
                self.cursor_drag.listen(list(self.charts.weights.values()), self.charts.marks.source)
                self.charts.set_hidden(self.hidden)
                self._page.weights.show_charts(self.charts)

    def pin(self, races: Sequence[KeptRace]) -> bool:
        """Draw these earlier races in grey, instead of the current ones; return whether they changed."""
        another = races is not self.pins.races
        if another:
            self.pins.races = races
            self._chips.pinned = self.pins.named()
            self.rebuild()
        return another

    def change(self, change: Callable[[Charts], None]) -> None:
        """Change the figures, in the order in which the browser gets them."""
        if self.charts is not None:
            with self._frames.in_order():
                change(self.charts)

    def apply(self, options: ChartOptions) -> None:
        """Draw in other colours, which takes new figures, or on other axes."""
        before, self.options = self.options, options
        if before.theme != options.theme:
            self.rebuild()
        else:
            self.change(lambda charts: self._change_axes(charts, before))
        self._page.write_titles(self.full_options)

    def _change_axes(self, charts: Charts, before: ChartOptions) -> None:
        options = self.options
        if (before.log_x, before.log_y) != (options.log_x, options.log_y):
            charts.set_scales(options.log_x, options.log_y)
        if before.log_x != options.log_x:
            self.readings.set_log(options.log_x)
            self.pins.suit([] if self.drawn is None else list(self.drawn.traces.values()), options.log_x)
        if before.x != options.x:
            charts.set_x(options.x)
        self._draw_above(charts)
        charts.set_tolerance(options.gap_tolerance)

    def enlarge(self, name: str) -> None:
        """Draw one quantity larger than the others."""
        self._large = name
        self._page.enlarge(name, self.full_options)
        if self.charts is not None:
            self.charts.enlarge(name)

    def hide(self, hidden: Collection[str]) -> None:
        """Draw the runs that are not hidden."""
        self.hidden = frozenset(hidden)
        self.change(lambda charts: charts.set_hidden(hidden))

    def mark(self, step: int | None) -> None:
        """Draw upright lines at the step that is chosen, or none."""
        positions = self.readings.positions(step, self.hidden)
        self.change(lambda charts: charts.marks.move(positions))

    def settle(self, states: Sequence[str]) -> None:
        """Let the ranges follow the drawn data of the runs, whose status is in `states`."""
        if all(state in FINAL for state in states):
            self.change(lambda charts: charts.hold({}))
        self.change(lambda charts: charts.settle(self.readings.feeds))

    @property
    def squashed(self) -> bool:
        """Whether objectives lie too flat to be told apart, and the chart is not zoomed."""
        charts = self.charts
        fit = charts is not None and charts.options.log_y and not charts.options.signed and not charts.zooms
        return fit and self.readings.squashed(self.hidden)

    # -- what is new of them

    def refer(self) -> bool:
        """Follow the best bound where objectives are drawn above it; return whether it changed."""
        above = self.full_options.above
        another = above and self.readings.refer()
        if above:
            self.pins.refer(self.readings.reference)
        return another

    def name_kernels(self) -> None:
        if self.charts is not None and self.drawn is not None:
            slots = self.readings.slots
            self.charts.name_kernels(slots)
            self._page.name_kernels(slots, self.options.theme, self.drawn.facts.noun)

    # -- parts of it

    def _present(self, drawn: DrawnRuns, charts: Charts) -> None:
        self.pins.suit(list(drawn.traces.values()), self.options.log_x)
        self._chips.pinned = self.pins.named()
        self._chips.name_runs(self.styles)
        self._page.show_race("Recording" if drawn.recording else "")
        self.name_kernels()
        self._page.write_titles(self.full_options)
        self._draw_above(charts)

    def _draw_above(self, charts: Charts) -> None:
        self.refer()
        charts.set_above(self.full_options.above)


# -- earlier races, in grey behind the current one


_COLUMNS = ("iteration", "svm_solves", "seconds", "objective", "above", "gap")


class Pins:
    """The lines in grey; `races` are those that are pinned."""

    def __init__(self) -> None:
        self.races: Sequence[KeptRace] = ()
        self._lines: list[tuple[Trace, ColumnDataSource]] = []
        self._apart: set[int] = set()  # indices of races on another problem than the one shown
        self._reference = Reference()

    def draw(self, charts: Charts, theme: Theme) -> None:
        """Draw the races behind everything in these figures; `suit` gives them their points."""
        self._lines, self._reference = [], Reference()
        grey = readable(theme.axis, theme.card)
        for race in self.races:
            styles = run_styles(race.traces, theme)
            for key, trace in race.traces.items():
                source = ColumnDataSource({name: [] for name in _COLUMNS}, name=f"pin-{race.name}-{key}")
                charts.pin(source, f"{styles[key].label} ({race.name})", grey, styles[key].dash)
                self._lines.append((trace, source))

    def suit(self, shown: Sequence[Trace], log_x: bool) -> None:
        """Draw the values that can be compared with the runs that are `shown`."""
        self._apart = {index for index, race in enumerate(self.races) if difference([*shown, *race.traces.values()])}
        apart = {id(trace) for index in self._apart for trace in self.races[index].traces.values()}
        for trace, source in self._lines:
            drawn = line_columns(trace, Thinning(log_x).whole(len(trace)), Reference())  # as those of a live run
            columns = {name: drawn[name] for name in _COLUMNS}
            if id(trace) in apart:
                columns["objective"] = [math.nan] * len(columns["objective"])
            source.data = columns | {"above": self._above(columns["objective"])}

    def refer(self, reference: Reference) -> None:
        """Draw objectives above another bound."""
        if reference != self._reference:
            self._reference = reference
            for _, source in self._lines:
                source.data = {**source.data, "above": self._above(source.data["objective"])}

    def _above(self, objectives: Sequence[float]) -> list[float]:
        return drawable(map(self._reference.above, objectives))

    def named(self) -> list[dict[str, Any]]:
        """Return the legend entry of each race."""
        return [
            {"key": index, "label": race.name, "summary": race.summary, "apart": index in self._apart}
            for index, race in enumerate(self.races)
        ]
