"""A race on the screen: every curve grows while the solvers run.

Solvers only append to their traces. Once in a tenth of a second `tick` reads the traces, streams what is new into one
source per run and counts a frame; it waits when the browser has not painted the last two. See `stream` for the data,
`figures` for the drawing, `hold_unseen` for what happens when nobody watches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any

import panel as pn
import param

from mklviz.contract import Solver
from mklviz.engine import Race
from mklviz.problem import Regularizer
from mklviz.record import FINAL
from mklviz.record.motion import Motion
from mklviz.views.chart.axes import X_AXES
from mklviz.views.chart.kernel_colours import KernelColours
from mklviz.views.chart.race_charts import ChartOptions
from mklviz.views.host.bokeh_defaults import remember_defaults
from mklviz.views.host.document_lock import answer_with_lock
from mklviz.views.host.frames import Frames
from mklviz.views.host.page_session import is_on_page, is_served
from mklviz.views.host.visibility import Connection
from mklviz.views.look.palette import LIGHT, RunStyle, Theme, theme_for
from mklviz.views.race.chips import Chips
from mklviz.views.race.drawn_runs import DrawnRuns
from mklviz.views.race.feed import RunFeed
from mklviz.views.race.figures import Charts
from mklviz.views.race.hold_unseen import HoldUnseen
from mklviz.views.race.long_runs import LongRuns
from mklviz.views.race.playback import Playback
from mklviz.views.race.race_controls import above_box, race_controls
from mklviz.views.race.race_figures import Cast, RaceFigures
from mklviz.views.race.race_page import RacePage
from mklviz.views.race.readings import Readings
from mklviz.views.race.results import ResultRow, milestone_table, race_sentence, result_rows, states_of
from mklviz.views.race.scores import Score, Scores
from mklviz.views.session.race_history import KeptRace

__all__ = ["RaceView"]

TICK = 0.1  # seconds between looks at the traces
WORDS_EVERY = 0.5  # seconds between changes of text
PLAYED_EVERY = 0.5  # seconds between frames of a recording, whose painting takes time from what is being compiled
IDLE_BEAT = 1.0  # seconds between frames when nothing happens; they push on whatever a queue still holds


class RaceView(pn.viewable.Viewer):
    """The live view of a race; it never starts or steps a solver, and holds or cancels them only if nobody watches.

    Attributes
    ----------
    race : Race or None
    playback : Playback or None
        The recording that is played as long as there is no race.
    x_axis : str
        "iteration", "svm_solves" or "seconds".
    log_x, log_y : bool
        Logarithmic axes.
    above : bool
        Draw objectives above the best bound, where there is one. Set by itself, for one race, where they lie too flat.
    above_chosen : bool
        Whether somebody has said how objectives are drawn.
    gap_tolerance : float or None
        Drawn as a dashed line.
    hidden : frozenset of str
        Keys of the runs that are not drawn.
    on_take_off : callable or None
        Called with a race that is to be pinned no longer.
    cursor : int or None
        The step at which a line stands in every figure, and as of which the table is; None follows the end.
    status_text : str
        How the race stands, in one sentence.
    slot : pn.Column
        Empty place below the table of results, for whoever embeds the view.
    long_runs : LongRuns
        What ends the horizontal axis before a run that is far longer than the others, and says so.
    on_key : callable or None
        Called with " ", "s", "x" or "r" when the key is pressed.
    chooses : bool
        Whether it chooses the kernels that are drawn, of those whose colours it shares: the one that is seen does.
    """

    race = param.Parameter(default=None, doc="The race shown")
    x_axis = param.Selector(default="iteration", objects={v: k for k, v in X_AXES.items()}, label="Horizontal axis")
    log_x = param.Boolean(default=False, label="log x")
    log_y = param.Boolean(default=True, label="log y")
    above = param.Boolean(default=False, label="above best bound")
    gap_tolerance = param.Number(default=1e-2, bounds=(0, None), inclusive_bounds=(False, True), allow_None=True)
    hidden = param.Parameter(default=frozenset(), doc="Keys of the runs that are not drawn")
    cursor = param.Integer(default=None, bounds=(0, None), allow_None=True, doc="The step shown; None follows the end")
    status_text = param.String(default="")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        answer_with_lock()
        remember_defaults()
        self.on_key: Callable[[str], None] | None = None
        self.on_take_off: Callable[[KeptRace], None] | None = None
        self.playback: Playback | None = None
        self.chooses = True
        self.theme: Theme = LIGHT
        self._scores, self._regression = Scores(), False
        self.above_chosen, self._by_itself = False, False
        self.hold_unseen, self.frames = HoldUnseen(), Frames()
        self._words_at = 0.0
        self._log_of = {"svm_solves": True}  # some methods solve a hundred times as many, and would flatten all others
        self.heartbeat = self.frames.heartbeat
        self.heartbeat.param.watch(self._acknowledged, "ack")
        self.heartbeat.on_key(lambda key: self.on_key(key) if self.on_key is not None else None)
        self._chips = Chips(margin=0)
        self._chips.param.watch(lambda event: self.param.update(hidden=frozenset(event.new)), "hidden")
        self._chips.on_take_off = self._take_off
        self.long_runs = LongRuns(lambda: self._change(self._turn_end))
        controls = [*race_controls(self, self._reset_zoom), self.long_runs.form]
        self._page = RacePage(self._chips, controls, above_box(self), self.heartbeat)
        self._figures = RaceFigures(self._page, self._chips)
        self.slot = self._page.slot
        self._rebuild()

    @property
    def colours(self) -> KernelColours:
        """Those of the kernels, which several views of a race share."""
        return self._figures.colours

    @colours.setter
    def colours(self, colours: KernelColours) -> None:
        self._figures.colours = colours

    @property
    def charts(self) -> Charts | None:
        """The figures, where they draw anything."""
        return None if self._drawn is None else self._figures.charts

    @property
    def styles(self) -> dict[str, RunStyle]:
        """How each run is drawn, where there are any."""
        return {} if self._drawn is None else dict(self._figures.styles)

    @property
    def _drawn(self) -> DrawnRuns | None:
        """The runs that are drawn, of the race or of a recording in its place."""
        if self.race is None:
            return None if self.playback is None else self.playback.drawn
        return DrawnRuns.of(self.race)

    @property
    def feeds(self) -> dict[str, RunFeed]:
        """What reads the trace of each run."""
        return self._figures.readings.feeds

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
        drawn, played = DrawnRuns.of(race), self.playback is not None
        alike = self._figures.suit(Cast.of(drawn, self.theme)) and not self.frames.lost(monotonic())
        if not alike:
            self._figures.forget()  # those of other solvers must not be told who is hidden
        held, self.playback = self._figures.readings.extents(self.hidden) if played else {}, None
        self.race, self._scores, self._regression = race, Scores(score), regression
        hidden = frozenset(self.hidden) & frozenset(race.runs)
        self.hold_unseen.begin()
        self.long_runs.begin()
        if not self.above_chosen and not played:
            self._set_above(False)
        if not alike:
            self.hidden = hidden
            self._rebuild()
            return
        with self.frames.in_order():
            self._figures.turn_to(drawn, self.theme, self.log_x, hidden)
            self._name_tolerance()
        self.hidden = hidden
        self._change(self._follow_above)
        self._change(lambda charts: charts.hold(held))  # the same curves will fill the same axes
        self._change_cursor()

    def play(self, playback: Playback) -> None:
        """Play a recording until there is a race; what it draws is marked, and counts nowhere as a result."""
        self.playback = playback
        playback.look(monotonic())
        self.long_runs.begin()
        if not self._figures.suit(Cast.of(playback.drawn, self.theme)) or self.frames.lost(monotonic()):
            self._figures.forget()
            self._rebuild()
            return
        with self.frames.in_order():
            self._figures.turn_to(playback.drawn, self.theme, self.log_x, self.hidden)
        self._change(self._follow_above)
        self._page.mark_recording()
        self._words()

    def clear(self) -> None:
        """Return to the empty state; figures that stand may draw the next race."""
        self.hold_unseen.release()
        self.race, self.playback, self._scores = None, None, Scores()
        self.long_runs.begin()
        with self.frames.in_order():
            self._figures.leave()
        self._name_tolerance()
        self._words()

    def prepare(self, solvers: Sequence[Solver], regularizer: Regularizer) -> None:
        """Build the figures for a race to come, while there is none, so that its first curves need not wait for them.

        Parameters
        ----------
        solvers : sequence of Solver
        regularizer : Regularizer
        """
        cast = Cast.planned(solvers, regularizer, self.theme)
        if self._drawn is None and not self._figures.suit(cast):
            served = self._served
            self._figures.forget()
            self._figures.prepare(cast, self._options)
            self._figures_built(served)

    def set_dark(self, dark: bool) -> None:
        """Draw for a dark or a light page."""
        self.set_theme(theme_for(dark))

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours, or another size."""
        if theme is not self.theme:
            self.theme = theme
            self._rebuild()

    async def tick(self) -> None:
        """Send what is new since the last look."""
        self.look()

    def look(self) -> None:
        """Send what is new since the last look; within a running event loop, which scores need."""
        now = monotonic()
        if self._figures.weights_due(self.frames.stand, now):
            self._add_weights()
        attended = self.race is None or self._attended(self.race, now)
        drawn = self._drawn
        if drawn is None or self.charts is None or not attended or self.frames.behind(now):
            return
        if self.race is None and now - self.frames.sent_at < PLAYED_EVERY:
            return
        with self.frames.in_order():
            if self.race is None and self.playback is not None:
                self.playback.look(now)
            self._update(self.charts, drawn.states(), now)  # before the lengths: a final status makes a trace final

    def _update(self, charts: Charts, states: list[str], now: float) -> None:
        readings = self._figures.readings
        if readings.choose_kernels(states, self.hidden, now, self.chooses):
            self._figures.name_kernels(self.theme)
        turned = states != readings.states
        changed = readings.push(states) or turned
        due = now - self._words_at >= WORDS_EVERY
        rests = not changed and self._words_at < self.frames.sent_at  # its last numbers are to be said
        if (changed and (due or turned)) or rests:
            changed = self._refer(readings) or changed
            self._words()
        elif due and self.race is not None and any(run.doing for run in self.race.runs.values()):
            self._words()  # how far a long step is
        readings.states = states
        self._mark(charts)
        self.long_runs.look(self._figures, self.hidden)
        if all(state in FINAL for state in states):
            charts.hold({})
        charts.settle(readings.feeds)
        if self.race is not None and self._scores.look(self.race, states):
            self._words()
        if changed or now - self.frames.sent_at > IDLE_BEAT:
            self._send_frame(now)

    def _refer(self, readings: Readings) -> bool:
        """Keep up with the best bound where objectives stand above it; return whether there is anything new."""
        if self.charts is not None and not (self.above_chosen or self.above) and self.charts.may_turn:
            self._set_above(readings.squashed(self.hidden))
        return self._draws_above and self._figures.refer()

    def _set_above(self, above: bool) -> None:
        """Choose how objectives are drawn without anybody having said so."""
        self._by_itself, self.above = True, above
        self._by_itself = False

    @property
    def _draws_above(self) -> bool:
        return self.above and self._drawn is not None and not self._no_bound

    @property
    def _no_bound(self) -> str:
        """Why there is no lower bound, or ""."""
        return "" if self.race is None else self.race.problem.no_bound

    @param.depends("above", watch=True)
    def _change_above(self) -> None:
        self.above_chosen = self.above_chosen or not self._by_itself
        self._change(self._follow_above)

    def _follow_above(self, charts: Charts) -> None:
        if self._draws_above:
            self._figures.refer()
        charts.set_above(self._draws_above)
        self._page.name_objective(self._draws_above)

    def _attended(self, race: Race, now: float) -> bool:
        connection = self.hold_unseen.update(race, now)
        if connection is Connection.RESUMED:
            self.resend()
        return connection.shows_page

    def _send_frame(self, now: float, figures: bool = False) -> None:
        if not is_served():
            self._page.push()
        self.frames.send(now, figures)

    def resend(self) -> None:
        """Send everything once more to a browser that may have missed some."""
        stood = self.frames.stand
        self.frames.catch_up()
        if not stood:  # it may never have got the figures, and know nothing of what they consist of
            self._figures.forget()
            self._rebuild()
        self._figures.readings.restart()
        self._page.resend()

    def _words(self) -> None:
        """Bring all text up to date."""
        self._words_at = monotonic()
        if self.race is None:
            self._page.say_precision("")
            self._page.say_milestones("")
            self._page.bars.param.update(items=[], spent={})
            self.status_text = race_sentence(None)
            self._head_recording()
            return
        states, traces, motions = states_of(self.race), self.race.traces, self._figures.readings.motions
        score = partial(self._scores.at, traces)
        rows = result_rows(traces, self._figures.styles, motions, score, self.hidden, self.cursor, states)
        self._page.bars.follow(traces, self._figures.styles, self.hidden)
        self._page.say(rows, motions, self.theme, self._regression, self.cursor)
        self._page.show_tolerance(self._figures.readings.tolerance_varies)
        self._page.say_precision(self.race.precision)
        ended = all(state.status in FINAL for state in states.values())
        self._page.say_milestones(milestone_table(traces, self._figures.styles) if ended else "")
        self.status_text = race_sentence(self.race)

    def _head_recording(self) -> None:
        """Name the runs of a recording above their weights. How those have moved is what a lesson may ask."""
        if self.playback is not None:
            still = {key: Motion() for key in self.styles}
            rows = [ResultRow(key, style, "running", hidden=key in self.hidden) for key, style in self.styles.items()]
            self._page.head(rows, still, self.theme)

    @param.depends("log_x", "log_y", watch=True)
    def _rebuild(self) -> None:
        """Build all figures, for a new set of runs, another theme or another kind of scale."""
        self._log_of[self.x_axis] = self.log_x
        served = self._served  # asked before: a figure that is new is in no document yet
        drawn = self._drawn
        if drawn is None:
            self._figures.clear(self.theme)
        else:
            self._figures.build(drawn, self._options, self.hidden)
        if self.race is None and self.playback is not None:
            self._page.mark_recording()
        self._name_tolerance()
        self._change(self._follow_above)
        self._words()
        if drawn is not None:
            self._figures_built(served)

    def pin(self, races: Sequence[KeptRace]) -> None:
        """Draw races of before in grey behind this one, instead of those that are."""
        if races is not self._figures.pins.races:
            self._figures.pins.races = races
            self._chips.pinned = self._figures.pins.named()
            self._rebuild()

    def _take_off(self, place: int) -> None:
        if self.on_take_off is not None:
            self.on_take_off(self._figures.pins.races[place])

    @property
    def _options(self) -> ChartOptions:
        return ChartOptions(self.theme, self.x_axis, self.log_x, self.log_y, self._draws_above, self.gap_tolerance)

    def _figures_built(self, served: bool) -> None:
        if served:
            self._send_frame(monotonic(), figures=True)
        else:
            self._add_weights()

    def _add_weights(self) -> None:
        served = self._served
        self._figures.add_weights(self.theme, self.hidden)
        if served:
            self._send_frame(monotonic(), figures=True)

    @property
    def _served(self) -> bool:
        """Whether the figures are on a page with a browser on the other end."""
        return is_on_page([self._page])

    def _name_tolerance(self) -> None:
        self._page.name_tolerance(self.gap_tolerance, self._no_bound)

    @param.depends("gap_tolerance", watch=True)
    def _change_tolerance(self) -> None:
        self._name_tolerance()
        self._change(lambda charts: charts.set_tolerance(self.gap_tolerance))

    def _change(self, act: Callable[[Charts], None]) -> None:
        """Change the figures that stand, if there are any, in the order in which the browser gets them."""
        if self._figures.charts is not None:
            with self.frames.in_order():
                act(self._figures.charts)

    def _reset_zoom(self) -> None:
        self._change(lambda charts: charts.reset_zoom())

    def _turn_end(self, charts: Charts) -> None:
        self.long_runs.look(self._figures, self.hidden)
        charts.reset_zoom()

    def _acknowledged(self, _event: Any) -> None:
        if self.frames.acknowledge(monotonic()):
            self._figures.readings.restart()

    @param.depends("x_axis", watch=True)
    def _change_axis(self) -> None:
        """Draw over another column, each on the scale it was last seen on."""
        log_x = self._log_of.get(self.x_axis, False)
        if log_x == self.log_x:
            self._change(self._follow_axis)
        else:
            self._figures.forget_zooms()
            self.log_x = log_x

    def _follow_axis(self, charts: Charts) -> None:
        charts.set_x(self.x_axis)
        self.long_runs.look(self._figures, self.hidden)

    @param.depends("hidden", watch=True)
    def _change_hidden(self) -> None:
        self._chips.hidden = sorted(self.hidden)
        self._change(lambda charts: charts.set_hidden(self.hidden))
        self._change_cursor()

    @param.depends("cursor", watch=True)
    def _change_cursor(self) -> None:
        self._change(self._follow_cursor)

    def _follow_cursor(self, charts: Charts) -> None:
        """Bring to the step chosen what stands at it: the lines in the figures, and all text."""
        self._mark(charts)
        self._words()

    def _mark(self, charts: Charts) -> None:
        charts.marks.place(self._figures.readings.places(self.cursor, self.hidden))

    def __panel__(self) -> pn.viewable.Viewable:
        return self._page.root
