"""A race on the screen: every curve grows while the solvers run.

Solvers only append to their traces. Once in a tenth of a second `tick` reads the traces, streams what is new into one
source per run and counts a frame; it waits when the browser has not painted the last two. See `stream` for the data,
`figures` for the drawing, `presence` for what happens when nobody watches.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from time import monotonic
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from mklviz.engine import Race
from mklviz.kernels.interface import Approximate
from mklviz.record import FINAL
from mklviz.views.live.attendance import Attendance
from mklviz.views.live.chips import Chips
from mklviz.views.live.frames import LOST_AFTER, Frames
from mklviz.views.live.heartbeat import every
from mklviz.views.live.locked_answers import answer_with_lock
from mklviz.views.live.race_page import RacePage
from mklviz.views.live.results import race_sentence, result_rows, states_of
from mklviz.views.live.scores import Score, Scores
from mklviz.views.live.stream import KernelSlots, RunFeed, recent_weights
from mklviz.views.live.styles import run_styles
from mklviz.views.look.palette import DARK, LIGHT, RunStyle, Theme, swatch
from mklviz.views.plots.figures import X_AXES, Charts, Look, add_weights, build_charts, zooms

__all__ = ["RaceView"]

TICK = 0.1  # seconds between looks at the traces
WORDS_EVERY = 0.5  # seconds between changes of text
KERNELS_EVERY = 1.0  # seconds between changes of the six kernels shown
IDLE_BEAT = 1.0  # seconds between frames when nothing happens; they push on whatever a queue still holds


class RaceView(pn.viewable.Viewer):
    """The live view of a race; it never starts or steps a solver, and holds or cancels them only if nobody watches.

    Attributes
    ----------
    race : Race or None
    x_axis : str
        "iteration", "svm_solves" or "seconds".
    log_x, log_y : bool
        Logarithmic axes.
    gap_tolerance : float or None
        Drawn as a dashed line.
    hidden : frozenset of str
        Keys of the runs that are not drawn.
    cursor : int or None
        The step at which a line stands in every figure, and as of which the table is; None follows the end.
    status_text : str
        How the race stands, in one sentence.
    slot : pn.Column
        Empty place below the table of results, for whoever embeds the view.
    on_key : callable or None
        Called with " ", "s", "x" or "r" when the key is pressed.
    """

    race = param.Parameter(default=None, doc="The race shown")
    x_axis = param.Selector(default="iteration", objects={v: k for k, v in X_AXES.items()}, label="Horizontal axis")
    log_x = param.Boolean(default=False, label="log x")
    log_y = param.Boolean(default=True, label="log y")
    gap_tolerance = param.Number(default=1e-2, bounds=(0, None), inclusive_bounds=(False, True), allow_None=True)
    hidden = param.Parameter(default=frozenset(), doc="Keys of the runs that are not drawn")
    cursor = param.Integer(default=None, bounds=(0, None), allow_None=True, doc="The step shown; None follows the end")
    status_text = param.String(default="")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        answer_with_lock()
        self.on_key: Callable[[str], None] | None = None
        self.theme: Theme = LIGHT
        self.charts: Charts | None = None
        self._zooms = zooms()
        self.feeds: dict[str, RunFeed] = {}
        self.styles: dict[str, RunStyle] = {}
        self._scores, self._regression = Scores(), False
        self._slots = KernelSlots(0)
        self.attendance, self.frames = Attendance(), Frames()
        self._words_at = self._kernels_at = 0.0
        self._weights_by: float | None = None  # when the figures of the weights follow at the latest
        self._states: list[str] = []
        self._callback: Any = None
        self.heartbeat = self.frames.heartbeat
        self.heartbeat.param.watch(self._acknowledged, "ack")
        self.heartbeat.on_key(lambda key: self.on_key(key) if self.on_key is not None else None)
        self._chips = Chips(margin=0)
        self._chips.param.watch(lambda event: self.param.update(hidden=frozenset(event.new)), "hidden")
        self._page = RacePage(self._chips, self._controls(), self.heartbeat)
        self.slot = self._page.slot
        self._rebuild()

    @property
    def scores(self) -> dict[str, float]:
        """Test scores of the runs that have ended, as far as they are known."""
        return self._scores.found

    def show(self, race: Race, score: Score | None = None, regression: bool = False) -> None:
        """Display `race`; ending the one shown before is up to the caller.

        Parameters
        ----------
        race : Race
        score : callable, optional
            Test accuracy of an iterate, in [0, 1], or R²; called in a thread, once for each run that has ended.
        regression : bool
            Whether the scores are R².
        """
        standing = self.charts if self.race is not None and self._alike(race) else None
        self.race, self._scores, self._regression = race, Scores(score), regression
        self.charts = standing  # those of other solvers must not be told who is hidden
        self.hidden = frozenset(self.hidden) & frozenset(race.runs)
        self._states = []
        self.attendance.begin()
        if standing is not None:
            with self.frames.in_order():
                self._make_feeds()
                standing.begin(self.hidden)
                self._mark(standing)
                self._name_kernels(standing)
                self._name_tolerance()
                self._words()
        else:
            self._zooms = zooms()
            self._rebuild()

    def clear(self) -> None:
        """Return to the empty state."""
        self.race, self._scores = None, Scores()
        self._rebuild()

    def set_dark(self, dark: bool) -> None:
        """Draw for a dark or a light page."""
        theme = DARK if dark else LIGHT
        if theme is not self.theme:
            self.theme = theme
            self._rebuild()

    def start_tick(self) -> None:
        """Begin to follow the race shown; to be called once the page or cell is there (``pn.state.onload``)."""
        if self._callback is not None:
            return
        self._callback = every(TICK, self.tick)
        if pn.state.curdoc is not None and pn.state.curdoc.session_context:
            pn.state.on_session_destroyed(lambda _context: self._end())

    def stop_tick(self) -> None:
        """Stop following."""
        if self._callback is not None:
            self._callback.stop()
            self._callback = None

    async def tick(self) -> None:
        """Send what is new since the last look."""
        self.look()

    def look(self) -> None:
        """Send what is new since the last look; within a running event loop, which scores need."""
        now = monotonic()
        if self.race is None or self.charts is None or not self._attended(self.race, now) or self.frames.behind(now):
            return
        if self._weights_by is not None and (self.frames.stand or now > self._weights_by):
            self._add_weights(self.charts)
        with self.frames.in_order():
            self._update(self.charts, now)

    def _update(self, charts: Charts, now: float) -> None:
        race = self.race
        states = [run.status for run in race.runs.values()]  # before the lengths: a final status makes a trace final
        self._choose_kernels(charts, now, exact=all(state in FINAL for state in states))
        fresh = [feed.push(state) for feed, state in zip(self.feeds.values(), states, strict=True)]
        changed = any(fresh) or states != self._states
        if changed and (now - self._words_at >= WORDS_EVERY or states != self._states):
            self._words()
        elif not changed and self._words_at < self.frames.sent_at:
            self._words()  # the last numbers of a race that has come to rest
        elif now - self._words_at >= WORDS_EVERY and any(run.doing for run in race.runs.values()):
            self._words()  # how far a long step is
        self._states = states
        self._mark(charts)
        charts.settle(self.feeds)
        if self._scores.look(race, states):
            self._words()
        if changed or now - self.frames.sent_at > IDLE_BEAT:
            self._send_frame(now)

    def _attended(self, race: Race, now: float) -> bool:
        event = self.attendance.look(race, now)
        if event == "back":
            self._resend()
        return event in ("here", "back")

    def _send_frame(self, now: float, figures: bool = False) -> None:
        if pn.state.curdoc is None or pn.state.curdoc.session_context is None:
            self._page.push()
        self.frames.send(now, figures)

    def _resend(self) -> None:
        """Send everything once more to a browser that may have missed some."""
        self.frames.catch_up()
        for feed in self.feeds.values():
            feed.restart()
        self._page.resend()

    def _choose_kernels(self, charts: Charts, now: float, exact: bool) -> None:
        if now - self._kernels_at < KERNELS_EVERY and not (exact and any(s not in FINAL for s in self._states)):
            return
        self._kernels_at = now
        shown = [run.trace for key, run in self.race.runs.items() if key not in self.hidden and len(run.trace)]
        weights = [trace.best.weights if exact else recent_weights(trace, len(trace)) for trace in shown]
        if self._slots.update(weights, exact):
            for feed in self.feeds.values():
                feed.restart()
            self._name_kernels(charts)

    def _words(self) -> None:
        """Bring all text up to date."""
        self._words_at = monotonic()
        if self.race is None:
            self._page.say_precision("")
            self._page.bars.param.update(items=[], spent={})
            self.status_text = race_sentence(None)
            return
        motions = {key: feed.motion for key, feed in self.feeds.items()}
        states, traces = states_of(self.race), self.race.traces
        score = partial(self._scores.at, traces)
        rows = result_rows(traces, self.styles, motions, score, self.hidden, self.cursor, states)
        self._page.bars.follow(traces, self.styles, self.hidden)
        self._page.say(rows, motions, self.theme, self._regression, self.cursor)
        self._page.show_tolerance(any(feed.tolerance_varies for feed in self.feeds.values()))
        self._page.say_precision(_precision(self.race))
        self.status_text = race_sentence(self.race)

    def _controls(self) -> list[Any]:
        text = {"fontSize": "0.82rem", "whiteSpace": "nowrap"}
        axis = pmui.RadioButtonGroup.from_param(
            self.param.x_axis, label="", size="small", margin=0, color="primary", sx={"& button": {**text, "py": 0.4}}
        )
        boxes = [
            pmui.Checkbox.from_param(
                self.param[name], size="small", margin=(0, 0, 0, 8), sx={"& .MuiFormControlLabel-label": text}
            )
            for name in ("log_x", "log_y")
        ]
        reset = pmui.Button(label="Reset zoom", variant="text", size="small", margin=(0, 0, 0, 8))
        reset.on_click(self._reset_zoom)
        return [axis, *boxes, reset]

    @param.depends("log_x", "log_y", watch=True)
    def _rebuild(self) -> None:
        """Build all figures, for a new set of runs, another theme or another kind of scale."""
        document = self._page.document
        with document.models.freeze() if document is not None else nullcontext():  # one walk through all models
            self._page.paint(self.theme)
            if self.race is None:
                self._build_empty()
            else:
                self._build_race()
        self._name_tolerance()
        self._words()
        if document is not None and document.session_context is not None:
            self._send_frame(monotonic(), figures=True)
        elif self.charts is not None:
            self._add_weights(self.charts)

    def _add_weights(self, charts: Charts) -> None:
        """Build the figures of the weights, which come second: the first curves need not wait for them."""
        self._weights_by = None
        document = self._page.document
        with document.models.freeze() if document is not None else nullcontext():
            add_weights(charts, self.feeds)
            charts.set_hidden(self.hidden)
            self._page.show_weights(charts)
            self._name_kernels(charts)
        if document is not None and document.session_context is not None:
            self._send_frame(monotonic(), figures=True)

    def _build_empty(self) -> None:
        self.charts, self.feeds, self.styles, self._weights_by = None, {}, {}, None
        self._chips.items = []
        self._page.show_empty(self.theme)

    def _build_race(self) -> None:
        self.styles = self._styles_of(self.race)
        self._chips.items = [
            {"key": key, "label": style.label, "swatch": swatch(style)} for key, style in self.styles.items()
        ]
        self._make_feeds()
        by_epoch = tuple(run.trace.label for run in self.race.runs.values() if run.solver.stochastic)
        signed = not self.race.problem.regularizer.conjugated  # such as a logarithm, below zero at will
        look = Look(self.theme, self.x_axis, self.log_x, self.log_y, self.gap_tolerance, signed, by_epoch)
        self.charts = build_charts(self.styles, self.feeds, look, self._zooms)
        self.charts.set_hidden(self.hidden)
        self.charts.settle(self.feeds)
        self._page.show_charts(self.charts)
        self._name_kernels(self.charts)
        self._weights_by = monotonic() + LOST_AFTER

    def _make_feeds(self) -> None:
        """Begin to read the traces of the race, into the sources that stand where there are some."""
        sources = {key: feed.source for key, feed in self.feeds.items()}
        self._slots = KernelSlots(self.race.problem.m)
        self.feeds = {
            key: RunFeed(key, run.trace, self._slots, self.log_x, offset=7 * i, source=sources.get(key))
            for i, (key, run) in enumerate(self.race.runs.items())
        }
        self._kernels_at = 0.0
        for key, run in self.race.runs.items():  # figures that come with their data need no second drawing
            self.feeds[key].push(run.status)

    def _alike(self, race: Race) -> bool:
        return self._styles_of(race) == self.styles

    def _styles_of(self, race: Race) -> dict[str, RunStyle]:
        return run_styles(race.traces, self.theme, {key: run.solver for key, run in race.runs.items()})

    def _name_kernels(self, charts: Charts) -> None:
        names = [self.race.problem.bank.names[k] for k in self._slots.slots]
        charts.name_kernels(names)
        self._page.name_kernels(names, self.race.problem.m, self.theme, self.race.problem.noun)

    def _name_tolerance(self) -> None:
        self._page.name_tolerance(self.gap_tolerance, "" if self.race is None else self.race.problem.no_bound)

    @param.depends("gap_tolerance", watch=True)
    def _change_tolerance(self) -> None:
        self._name_tolerance()
        if self.charts is not None:
            with self.frames.in_order():
                self.charts.set_tolerance(self.gap_tolerance)

    def _reset_zoom(self, _event: Any) -> None:
        if self.charts is not None:
            with self.frames.in_order():
                self.charts.reset_zoom()

    def _acknowledged(self, _event: Any) -> None:
        if self.frames.acknowledge(monotonic()):
            for feed in self.feeds.values():
                feed.restart()

    @param.depends("x_axis", watch=True)
    def _change_axis(self) -> None:
        if self.charts is not None:
            with self.frames.in_order():
                self.charts.set_x(self.x_axis)

    @param.depends("hidden", watch=True)
    def _change_hidden(self) -> None:
        self._chips.hidden = sorted(self.hidden)
        if self.charts is not None:
            with self.frames.in_order():
                self.charts.set_hidden(self.hidden)
                self._mark(self.charts)
                self._words()

    @param.depends("cursor", watch=True)
    def _change_cursor(self) -> None:
        if self.charts is not None:
            with self.frames.in_order():
                self._mark(self.charts)
                self._words()

    def _mark(self, charts: Charts) -> None:
        """Put the lines of the cursor where the runs stood at that step."""
        shown = {} if self.cursor is None else {k: f for k, f in self.feeds.items() if k not in self.hidden}
        charts.marks.place({key: feed.place(self.cursor) for key, feed in shown.items()})

    def _end(self) -> None:
        """The session is over."""
        self.stop_tick()
        if self.race is not None:
            self.race.cancel()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._page.root


def _precision(race: Race) -> str:
    """Say what is approximate, where kernels are: by the weights of the run with the smallest gap."""
    bank = race.problem.bank
    if not isinstance(bank, Approximate):
        return ""
    if race.closest is None:
        return bank.words()
    trace = race.runs[race.closest].trace
    return bank.words(trace.best.weights, trace.label)
