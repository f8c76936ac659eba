"""KNOBS: turn one number of a method or of the problem, and everything is solved again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

from mklviz.analysis.knobs import GOAL, KNOBS, Knob, Turn, bars, lines, outcome, solve_at, too_large
from mklviz.engine import make_solver
from mklviz.engine.task import STOPPED, Task
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.form import Button, Form, FormRow, ProgressBar, Segments, Slider
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import solver_styles
from mklviz.views.model.lab_charts import bar_table, bars_chart, curve_tables, curves_chart, lab_figure
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.tabs import FigureTab
from mklviz.views.tabs._previews import curves_preview

PATIENCE = 0.5  # seconds that a solve may take before its progress is shown
HELD = 0.4  # seconds that a solve is not given up for, so that curves come while the slider moves on
SECONDS, ONCE = 10.0, 60.0  # of a solver that follows the slider, and of one that solves once
_ABOUT = (
    "Change one setting; the rest stays as in this race. The problem is solved again as the slider moves: what takes"
    " long at first coarsely, and to the end where you stop."
)
_GAP = (
    "To a gap of 1 %, or until 500 SVM solves, 300 steps or 10 s (60 s by the button) are reached; the last step is"
    " finished. Faint: the position before."
)
_WEIGHTS = "At the end, of the heaviest kernels. Grey: the position before."


class Knobs(FigureTab):
    """A slider for one knob at a time, and the gap and weights that it leads to: `now`, and faint those `before`."""

    title, order = "Knobs", 12
    rest = 0.4  # seconds without a move after which the slider rests
    preview = staticmethod(curves_preview)

    def __init__(self) -> None:
        super().__init__()
        self._theme: Theme | None = None
        self._problem: Problem | None = None
        self._refusal = ""  # why the chosen knob does not fit it
        self.now: Turn | None = None
        self.before: Turn | None = None
        self.rivals: dict[str, Trace] = {}
        self.task = Task[tuple[Turn, Trace | None]]()
        self.outdated, self._asked_at, self._pressed = True, 0.0, False
        self._place: tuple[Knob, int] | None = None  # that was asked for last
        self._moved_at = 0.0
        titles = {knob.title: knob for knob in KNOBS}
        self.choice = Segments(label="Knob", options=titles, value=KNOBS[0])
        self.slider = Slider(label="")
        self.slider.param.watch(lambda _event: self._move(), "value")
        self.once = Button(self._solve_once, label="Solve once", variant="contained", visible=False)
        self.stop = Button(lambda *_: self.task.cancel(), label="Stop", variant="text", visible=False)
        self.bar = ProgressBar(label="Progress of the solve", visible=False)
        self._gap_heading = cards.html(cards.heading("Duality gap", _GAP))
        self._watch, self.refusal, self.progress = note(), note(), note(spoken=True)
        self._grid = cards.grid(columns="auto-fit, minmax(min(400px, 100%), 1fr)")
        self.choice.param.watch(lambda _event: self._turn_to_knob(), "value")
        about = cards.html(cards.heading("Turn one knob", _ABOUT))
        controls = (FormRow(self.choice), self._watch, FormRow(self.slider, self.once, self.stop))
        form = Form(*controls, self.refusal, self.bar, self.progress, margin=(8, 0, 0, 0))
        self.root = cards.column(cards.card(about, form), self._grid, self.frames.heartbeat)

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race is needed whose problem has a gap, and which is one's own."""
        if session.race is None:
            return "Press Run first: the knobs turn the problem of the race that is shown."
        if session.follows:
            return "This page follows another page's race. The knobs are on a dashboard of your own."
        return session.missing or session.race.problem.no_bound

    # -- what is turned

    def _turn_to_knob(self) -> None:
        """Begin with another knob, or with another problem."""
        self.task.forget()
        self.stop.visible = self.bar.visible = False
        self.now = self.before = self._place = None
        self.outdated = True
        if self._problem is None:
            return
        knob: Knob = self.choice.value
        self._refusal = knob.refusal(self._problem)
        last, usual = len(knob.names) - 1, knob.usual(self._problem)
        self.slider.param.update(end=last, names=list(knob.names), value=usual, label=knob.symbol or "Method")
        say(self._watch, knob.watch)
        self._moved_at = 0.0

    def _move(self) -> None:
        self._moved_at = monotonic()

    def follow(self, session: Session) -> None:
        """Turn the problem of the session's race."""
        self._session = session
        if session.theme is not self._theme:
            self._theme, self.outdated = session.theme, True
            self._build(session.theme)
        problem = None if session.race is None or self.supports(session) else session.race.problem
        if problem is not self._problem:
            self._problem = problem
            self.rivals.clear()
            self._turn_to_knob()

    def _build(self, theme: Theme) -> None:
        self.gaps = lab_figure(curves_chart("knob-gap", "SVM solves", theme), theme)
        self.weights = lab_figure(bars_chart("knob-weights", theme), theme)
        headings = self._gap_heading, cards.html(cards.heading("Kernel weights", _WEIGHTS))
        self._grid.objects = [
            cards.card(heading, cards.figure(plot))
            for heading, plot in zip(headings, (self.gaps.plot, self.weights.plot), strict=True)
        ]

    # -- how it is solved

    def tick(self, now: float) -> None:
        """Solve for the position chosen last, and draw the result."""
        if not self.shown or self._problem is None or self._theme is None:
            return
        reason, large = self._refusal, too_large(self._problem)
        self.once.visible = bool(large) and not reason
        say(self.refusal, reason or large)
        if not reason and (not large or self._pressed):
            self._solve(self._problem, ONCE if large else SECONDS)
        if self.task.working:
            self._look()
        if self.outdated and self.sync.ready([self.gaps.plot, self.weights.plot]):
            self._draw()

    def _solve_once(self, *_: Any) -> None:
        self._pressed, self._place = True, None
        self.task.forget()

    def _solve(self, problem: Problem, seconds: float) -> None:
        """Solve for the chosen position, unless it was the last; a solve of another that takes long is cancelled."""
        place, moves = (self.choice.value, self.slider.value), monotonic() - self._moved_at < self.rest
        if place == self._place:
            due = not (moves or self.task.working) and self.now is not None and self.now.coarse and not self.task.fault
        else:
            due = not (self.task.working and monotonic() - self._asked_at < HELD)
        if due:
            self._ask(problem, place, seconds, coarse=moves and not self._pressed)

    def _ask(self, problem: Problem, place: tuple[Knob, int], seconds: float, coarse: bool) -> None:
        (knob, position), self._place = place, place
        self._pressed, self._asked_at = False, monotonic()
        rival = "" if coarse or knob.rival in self.rivals else knob.rival
        solved = partial(solve_at, problem, knob, position, rival, seconds, coarse)
        self.task.ask(object(), solved, "The problem could not be solved")
        self.stop.visible = self.bar.visible = False

    def _look(self) -> None:
        """Show the progress of the solve, or its result."""
        solved, working = self.task.take(), self.task.working
        late = monotonic() - self._asked_at > PATIENCE
        self.stop.visible = self.bar.visible = working and late and bool(self.task.status)
        if self.bar.visible:
            self.bar.value = int(100 * self.task.fraction)
        if solved is not None:
            turn, rival = solved
            if rival is not None:
                self.rivals[turn.knob.rival] = rival
            if self.now is None or not self.now.coarse:
                self.before = self.now
            self.now, self.outdated = turn, True
        elif self.bar.visible or not working:
            drawn = "" if self.now is None or self.task.fault != STOPPED else f" What is drawn is {self.now.words}."
            say(self.progress, self.task.status + drawn)

    # -- what is drawn

    def _draw(self) -> None:
        self.outdated = False
        now, theme = self.now, self._theme
        with self.frames.in_order():
            if now is None or theme is None:
                self.gaps.show(curve_tables([], {}))
                self.weights.show(bar_table([], ""))
                say(self.progress, "")
                return
            styles = _styles(now, theme)
            rival = self.rivals.get(now.knob.rival)
            self._gap_heading.object = cards.heading("Duality gap", _GAP, beside=cards.legend(styles.values()))
            self.gaps.show(curve_tables(lines(now, self.before, rival), styles, GOAL))
            self.weights.show(bar_table(bars(now, self.before), styles["now"].colour))
        say(self.progress, outcome(now, self.before, rival))

    def close(self) -> None:
        self.task.forget()


def _styles(now: Turn, theme: Theme) -> dict[str, RunStyle]:
    """Return how the knob's solver is drawn, and its rival."""
    solvers = {"now": now.knob.solver(now.position)}
    if now.knob.rival:
        solvers["rival"] = make_solver(now.knob.rival)
    dashes = {"now": "solid", "rival": "dashed"}
    styles = solver_styles(solvers, theme).items()
    return {key: replace(style, label=str(solvers[key].name), dash=dashes[key]) for key, style in styles}
