"""A race on the screen: every curve grows while the solvers run.

Solvers only append to their traces. Once in a tenth of a second `tick` reads the traces, streams what is new into one
source per run and counts a frame; it waits when the browser has not painted the last two. A race goes on while it is
watched: it is held when its page has had no connection for `HOLD_AFTER` seconds, and cancelled after `GIVE_UP_AFTER`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import Any

import param

from mklviz.engine import Race, Run
from mklviz.engine.kinds import ProblemFacts, falls_below_zero
from mklviz.engine.race import entered
from mklviz.recipe import Recipe
from mklviz.record import FINAL
from mklviz.record.bundle import recording
from mklviz.views.chart.axes import X_AXES
from mklviz.views.chart.race_charts import ChartOptions
from mklviz.views.host.frames import Frames
from mklviz.views.host.page_session import GIVE_UP_AFTER, is_connected
from mklviz.views.host.panel_setup import answer_with_lock, remember_defaults
from mklviz.views.look.cards import Rooted
from mklviz.views.look.palette import LIGHT
from mklviz.views.race.components import Chips, step_near
from mklviz.views.race.figures import Charts
from mklviz.views.race.race_figures import RaceFigures
from mklviz.views.race.race_page import LARGE_CHARTS, RacePage
from mklviz.views.race.race_text import LongRuns, RaceText, Score, above_box, race_controls
from mklviz.views.race.readings import DrawnRuns
from mklviz.views.session.session import Session

HOLD_AFTER = 5.0
PAGE_CLOSED = "The page was closed, or without a connection for minutes; the run's steps so far are kept."


class HoldUnseen:
    """Holds the runs of a race while the page has no connection, and lets them go on when it has one again."""

    decides = True  # whether the race is the page's own, not one it follows
    is_seen = staticmethod(is_connected)

    def __init__(self) -> None:
        self._lost_at: float | None = None
        self._held: list[Run] = []

    def begin(self) -> None:
        """Expect another race, of which nothing is held."""
        self._held = []

    def release(self) -> None:
        """Let the held race go on: another page looks after it now."""
        for run in self._held:
            run.start()
        self._held = []

    def update(self, race: Race, now: float) -> bool:
        """Hold, cancel or resume the race as needed; return whether there is a browser on the other end."""
        if self.is_seen():
            self._lost_at = None
            self.release()
            return True
        self._lost_at = now if self._lost_at is None else self._lost_at
        absent = now - self._lost_at if self.decides else 0.0
        if absent > GIVE_UP_AFTER:
            race.cancel(PAGE_CLOSED)
        elif absent > HOLD_AFTER and not self._held:
            self._held = [run for run in race.runs.values() if run.status == "running"]
            if self._held:
                race.pause()
        return False


# -- a recording that is shown: its traces grow again, some steps a second, or are whole


_FASTEST = 50.0  # steps per second; faster is not seen


class Playback:
    """The recorded runs of a scenario from their first steps, `pace` steps a second, 50 at full speed; or `whole`."""

    def __init__(self, scenario: str, recipe: Recipe, pace: float, whole: bool = False) -> None:
        by_key = entered([choice.make(recipe.split.seed) for choice in recipe.solvers])
        self.pace, recorded = pace, recording(scenario)
        self._whole = {key: recorded[key] for key in by_key}
        self._grown = {key: whole.without_steps() for key, whole in self._whole.items()}
        names = next(iter(self._whole.values())).kernel_names
        facts = ProblemFacts(names, signed=falls_below_zero(recipe.problem.loss, recipe.problem.regularizer))
        self.drawn = DrawnRuns(self._grown, self._states, facts, by_key, self._whole)
        self._played, self._at = float(max(map(len, self._whole.values()))) if whole else 0.0, math.nan

    def _states(self) -> list[str]:
        """The status of the runs; a run that is played to its end has its recorded status."""
        return [trace.status if trace.status in FINAL else "running" for trace in self._grown.values()]

    def advance(self, now: float) -> None:
        """Play on to the time `now`, in seconds."""
        if not math.isnan(self._at):
            self._played += (now - self._at) * (self.pace or _FASTEST)
        self._at = now
        for key, whole in self._whole.items():
            grown = self._grown[key]
            for t in range(len(grown), min(int(self._played) + 1, len(whole))):
                grown.append(whole[t], whole.seconds_at(t), whole.split_at(t) or None)
            if len(grown) == len(whole):
                grown.status, grown.reason = whole.status, whole.reason


PLAYED_EVERY = 0.5  # seconds between frames of a recording, whose painting takes time from what is being compiled
IDLE_BEAT = 4.0  # seconds between frames when nothing happens; they push on whatever a queue still holds


class RaceView(Rooted):
    """The live view of a race; it never starts or steps a solver, and holds or cancels one only if the page is left."""

    race = param.Parameter(default=None, doc="The race shown")
    theme = param.Parameter(default=LIGHT, doc="Colours and sizes")
    x_axis = param.Selector(default="iteration", objects={v: k for k, v in X_AXES.items()}, label="Horizontal axis")
    log_x = param.Boolean(default=False, label="log x")
    log_y = param.Boolean(default=True, label="log y")
    above = param.Boolean(default=False, label="above best bound")
    large = param.Selector(default="objective", objects=LARGE_CHARTS, label="Large chart")
    gap_tolerance = param.Number(default=1e-2, bounds=(0, None), inclusive_bounds=(False, True), allow_None=True)
    hidden = param.Parameter(default=frozenset(), doc="Keys of the runs that are not drawn")
    cursor = param.Integer(default=None, bounds=(0, None), allow_None=True, doc="The step shown; None follows the end")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        answer_with_lock()
        remember_defaults()
        self.on_key: Callable[[str], None] | None = None
        self.playback: Playback | None = None  # the recording that is played as long as there is no race
        self.above_chosen = False  # whether a person has chosen how objectives are drawn
        self._by_itself = False
        self._log_of = {"svm_solves": True}  # some methods solve a hundred times as many, and would flatten all others
        self.frames, self.chips = Frames(), Chips(margin=0)
        self.heartbeat = self.frames.heartbeat
        self.long_runs = LongRuns(lambda: self._turn_end())
        controls = [*race_controls(self, lambda *_: self.figures.change(Charts.reset_zoom)), self.long_runs.form]
        self.page = RacePage(self.chips, controls, above_box(self), self.heartbeat)
        self.root, self.slot = self.page.root, self.page.slot
        self.figures = RaceFigures(self.page, self.chips, self.frames, self._options)
        self.text = RaceText(self.page)
        self.hold_unseen = HoldUnseen()
        self.heartbeat.on_key(lambda key: self.on_key(key) if self.on_key is not None else None)
        self.chips.param.watch(lambda event: self.param.update(hidden=frozenset(event.new)), "hidden")
        self._log_of[self.x_axis] = self.log_x
        self.figures.rebuild()
        self._enlarge()
        self._write(monotonic())

    @property
    def charts(self) -> Charts | None:
        """The figures, where they draw anything."""
        return None if self.figures.drawn is None else self.figures.charts

    # -- what is shown

    def follow(self, session: Session) -> None:
        """Show the session's race, in its colours, with the step it stands at."""
        self.on_key = session.press
        self.chips.on_take_off = lambda index: session.unpin(self.figures.pins.races[index])
        self.hold_unseen.decides = not session.follows
        self.theme = session.theme
        if session.race is None and self.race is not None:
            self.clear()
        elif session.race is not self.race:
            self.gap_tolerance = session.tolerance
            self.show(session.race, session.score, session.fits_numbers)
        if self.figures.pin(session.pinned):
            self._write(monotonic())
        if self.race is not None:
            self.page.show_race("Old settings" if session.stale else "")
        self.cursor = session.cursor

    def show(self, race: Race, score: Score | None = None, regression: bool = False) -> None:
        """Display `race`; ending the one shown before is up to the caller. See `RaceText.begin` for the score."""
        played = self.playback is not None
        extents = self.figures.readings.extents(self.hidden) if played else {}
        if not self.above_chosen and not played:
            self._set_above(False)
        self.race, self.playback = race, None
        self.text.begin(score, regression)
        self.hold_unseen.begin()
        self._draw(DrawnRuns.of(race))
        self.figures.change(lambda charts: charts.hold(extents))  # the same curves will fill the same axes

    def play(self, playback: Playback) -> None:
        """Play a recording until there is a race; it is marked as one, and never counts as a result."""
        self.playback = playback
        playback.advance(monotonic())
        self._draw(playback.drawn)

    def clear(self) -> None:
        """Return to the empty state; the current figures may draw the next race."""
        self.hold_unseen.release()
        self.race = self.playback = None
        self.text.begin()
        self.long_runs.begin()
        self.figures.leave()
        self._write(monotonic())

    def _draw(self, runs: DrawnRuns) -> None:
        self.long_runs.begin()
        self.figures.draw(runs, self.hidden)
        self.hidden = self.figures.hidden
        self._change_shown()

    # -- what is new

    def hold(self, now: float) -> bool:
        """Hold the race while the page has no connection; return whether there is one, or no race."""
        return self.race is None or self.hold_unseen.update(self.race, now)

    def tick(self, now: float) -> None:
        """Send what is new at the time `now`, in seconds; within a running event loop, which scores need."""
        self.figures.complete(now)
        seen, runs = self.hold(now), self.figures.drawn
        if runs is None or not seen or self.frames.behind(now):
            return
        if self.playback is not None and now - self.frames.sent_at < PLAYED_EVERY:
            return
        with self.frames.in_order():
            if self.playback is not None:
                self.playback.advance(now)
            self._send_news(runs.states(), now)  # before the lengths: a final status makes a trace final

    def _send_news(self, states: list[str], now: float) -> None:
        news = self.figures.readings.read(states, now)
        if news.kernels:
            self.figures.name_kernels()
        changed = news.points or news.states
        if self.text.due(self.race, news, self.frames.sent_at, now):
            if not (self.above_chosen or self.above) and self.figures.squashed:
                self._set_above(True)
            changed = self.figures.refer() or changed
            self._write(now)
        self.figures.mark(self.cursor)
        self.long_runs.update(self.figures)
        self.figures.settle(states)
        if self.race is not None and self.text.scores.update(self.race, states):
            self._write(now)
        if changed or now - self.frames.sent_at > IDLE_BEAT:
            self.figures.send(now)

    def _write(self, now: float) -> None:
        self.text.write(self.race, self.figures, self.cursor, now)

    # -- what a person chooses

    def drag_cursor(self, go: Callable[[int], None], anywhere: bool) -> None:
        """Call `go` with the step that the cursor is dragged to, by its lines or from `anywhere` on a figure."""

        def go_near(place: float, line: int) -> None:
            traces = [] if self.race is None else [self.race.traces[key] for key in self.figures.styles]
            step = step_near(traces[line : line + 1] if line >= 0 else traces, self.x_axis, place)
            if step is not None:
                go(step)

        self.figures.cursor_drag.first = anywhere
        self.figures.cursor_drag.on_place = go_near

    @param.depends("theme", "x_axis", "log_x", "log_y", "above", "gap_tolerance", watch=True)
    def _change_charts(self) -> None:
        """Draw on other axes, each on the scale it was last seen on, or in other colours."""
        if self._options == self.figures.options:
            return
        other_axis = self.x_axis != self.figures.options.x
        if other_axis and self._log_of.get(self.x_axis, False) != self.log_x:
            self.log_x = not self.log_x  # which comes back here, with both
            return
        self._log_of[self.x_axis] = self.log_x
        if self.above != self.figures.options.above:
            self.above_chosen = self.above_chosen or not self._by_itself
        self.figures.apply(self._options)
        self.long_runs.update(self.figures)
        self._write(monotonic())

    @param.depends("large", "theme", watch=True)
    def _enlarge(self) -> None:
        """Draw the quantity chosen large; on a projector the objective stands alone."""
        self.figures.enlarge("objective" if self.theme.projected else self.large)

    @param.depends("hidden", "cursor", watch=True)
    def _change_shown(self) -> None:
        """Draw the visible runs, with lines at the chosen step, and set all text to that step."""
        self.chips.hidden = sorted(self.hidden)
        if self.hidden != self.figures.hidden:
            self.figures.hide(self.hidden)
        self.figures.mark(self.cursor)
        self._write(monotonic())

    def _turn_end(self) -> None:
        """Show all of the horizontal axis, or its beginning again."""
        self.long_runs.update(self.figures)
        self.figures.change(Charts.reset_zoom)

    def _set_above(self, above: bool) -> None:
        """Choose by itself how objectives are drawn."""
        self._by_itself, self.above = True, above
        self._by_itself = False

    @property
    def _options(self) -> ChartOptions:
        return ChartOptions(self.theme, self.x_axis, self.log_x, self.log_y, self.above, self.gap_tolerance)
