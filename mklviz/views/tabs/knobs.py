"""KNOBS: one number of a method or of the problem is turned, and everything is solved again as it turns."""

from __future__ import annotations

import math
from html import escape
from time import monotonic
from typing import Any

import panel as pn

from mklviz.engine import Gap, MaxIter, MaxSeconds, Race, make_solver
from mklviz.errors import MklvizError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.form import Button, Form, FormRow, ProgressBar, Segments, Slider
from mklviz.views.host.figure_sync import FigureSync
from mklviz.views.lab.knobs import GOAL, KNOBS, Knob, MaxSolves, Turn, bars, lines, outcome, too_large
from mklviz.views.lab.lab_charts import bar_table, bars_chart, curve_tables, curves_chart, lab_figure
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.look.styles import solver_styles
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.tabs._tab import Tab

__all__ = ["Knobs"]

PATIENCE = 0.5  # seconds that a solve may take before its progress is shown
MOST_SOLVES, MOST_STEPS = 500, 300  # of one solve; line searches take many SVMs in a step
SECONDS, ONCE = 10.0, 60.0  # of a solver that follows the slider, and of one that solves once
_ABOUT = "Turn one thing and leave all others as they are in the race shown: it is solved again wherever you stop."
_GAP = (
    "To a gap of 1 %, in at most 500 SVM solves, 300 steps and 10 s, or 60 s by the button. Faint: the position before."
)
_WEIGHTS = "At the end, of the heaviest kernels. Grey: the position before."


class Knobs(Tab):
    """A slider for one knob at a time, the gap it leads to, and the weights at the end.

    Attributes
    ----------
    choice : Segments
        Which knob.
    slider : Slider
        Its positions.
    once : Button
        Solves at the position chosen, where that takes too long to follow the slider.
    now, before : Turn or None
        What is drawn, and what is drawn faint behind it.
    """

    title, order = "Knobs", 12

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._theme: Theme | None = None
        self._problem: Problem | None = None
        self._refusal = ""  # why the knob chosen cannot be turned on it
        self._steady = FigureSync()
        self._steady.frames.heartbeat.on_key(lambda key: self._session.press(key) if self._session else None)
        self.now: Turn | None = None
        self.before: Turn | None = None
        self._rivals: dict[str, Trace] = {}
        self._race: Race | None = None  # of the position asked for last
        self._asked: tuple[Knob, int] | None = None
        self._asked_at, self._redraw, self._pressed = 0.0, True, False
        titles = {knob.title: knob for knob in KNOBS}
        self.choice = Segments(label="Knob", options=titles, value=KNOBS[0])
        self.slider = Slider(label="")
        self.once = Button(self._solve_once, label="Solve once", variant="contained", visible=False)
        self.stop = Button(self._give_up, label="Stop", variant="text", visible=False)
        self.bar = ProgressBar(label="How far the solve is", visible=False)
        self._watch, self._why_not, self.told = note(), note(), note(spoken=True)
        self._place = cards.grid(columns="auto-fit, minmax(min(400px, 100%), 1fr)")
        self.choice.param.watch(lambda _event: self._turn_to_knob(), "value")
        about = cards.html(f'{cards.title("Turn one knob")}<p class="why">{_ABOUT}</p>')
        controls = (FormRow(self.choice), self._watch, FormRow(self.slider, self.once, self.stop))
        form = Form(*controls, self._why_not, self.bar, self.told, margin=(8, 0, 0, 0))
        objects = (cards.card(about, form), self._place, self._steady.frames.heartbeat)
        self.root = pn.Column(*objects, margin=(8, 0, 0, 0), sizing_mode="stretch_width")

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race is needed whose problem has a gap, and which is one's own."""
        if session.race is None:
            return "Press Run first: the knobs turn the problem of the race that is shown."
        if session.follows:
            return "This page follows somebody else's race. The knobs are on a dashboard of your own."
        return session.race.problem.no_bound

    # -- what is turned

    @property
    def knob(self) -> Knob:
        """The knob chosen."""
        found: Knob = self.choice.value
        return found

    def _turn_to_knob(self) -> None:
        """Begin with another knob, or with another problem."""
        self._cancel()
        self._asked = self.now = self.before = None
        self._redraw = True
        if self._problem is None:
            return
        knob = self.knob
        self._refusal = knob.refusal(self._problem)
        last = len(knob.names) - 1
        place = knob.usual(self._problem)
        self.slider.param.update(end=last, names=list(knob.names), value=place, label=knob.symbol or "Method")
        say(self._watch, knob.watch)

    def follow(self, session: Session) -> None:
        """Turn the problem of the session's race."""
        self._session = session
        if session.theme is not self._theme:
            self._theme, self._redraw = session.theme, True
            self.root.stylesheets = [cards.variables(session.theme)]
            self._build(session.theme)
        problem = None if session.race is None or self.supports(session) else session.race.problem
        if problem is not self._problem:
            self._problem = problem
            self._rivals.clear()
            self._turn_to_knob()

    def _build(self, theme: Theme) -> None:
        self.gaps = lab_figure(curves_chart("knob-gap", "SVM solves", theme), theme)
        self.weights = lab_figure(bars_chart("knob-weights", theme), theme)
        figures = (("Duality gap", _GAP, self.gaps.plot), ("Kernel weights", _WEIGHTS, self.weights.plot))
        self._place.objects = [_box(title, why, plot) for title, why, plot in figures]

    # -- how it is solved

    def tick(self, now: float) -> None:
        """Solve for the position chosen last, and draw what came of it."""
        if not self.shown or self._problem is None or self._theme is None:
            return
        knob, reason, large = self.knob, self._refusal, too_large(self._problem)
        self.once.visible = bool(large) and not reason
        say(self._why_not, reason or large)
        wanted = knob, self.slider.value
        if not reason and wanted != self._asked and (not large or self._pressed):
            self._begin(knob, self.slider.value, ONCE if large else SECONDS)
        if self._race is not None:
            self._look(self._race)
        if self._redraw and self._steady.ready([self.gaps.plot, self.weights.plot]):
            self._draw()

    def _solve_once(self, *_: Any) -> None:
        self._pressed, self._asked = True, None

    def _begin(self, knob: Knob, place: int, seconds: float) -> None:
        """Give up what is being solved, and solve for another position."""
        self._cancel()
        self._pressed, self._asked, self._asked_at = False, (knob, place), monotonic()
        solvers = [knob.solver(place)]
        if knob.rival and knob.rival not in self._rivals:
            solvers.append(make_solver(knob.rival))
        try:
            posed = knob.problem(self._problem, place)  # type: ignore[arg-type]
            self._race = Race(
                posed, solvers, (Gap(GOAL), MaxSolves(MOST_SOLVES), MaxIter(MOST_STEPS), MaxSeconds(seconds))
            )
        except MklvizError as error:
            say(self.told, str(error))
            return
        self._race.start()

    def _look(self, race: Race) -> None:
        """Take over how far the solve is."""
        late = monotonic() - self._asked_at > PATIENCE
        main, *rivals = race.runs.values()
        if not race.finished:
            if late and len(main.trace):
                self.stop.visible = self.bar.visible = True
                self.bar.value = _per_cent(main.trace)
                say(self.told, f"Solving. SVM solves so far: {main.trace.final.svm_solves:,}.")
            return
        self._race = None
        self.stop.visible = self.bar.visible = False
        if not len(main.trace):
            say(self.told, main.reason)
            return
        for run in rivals:
            self._rivals[run.solver.name_] = run.trace
        knob, place = self._asked or (self.knob, self.slider.value)
        self.before, self.now = self.now, Turn(knob, place, main.trace)
        self._redraw = True

    def _give_up(self, *_: Any) -> None:
        """Be content with what is drawn."""
        self._cancel()
        drawn = "" if self.now is None else f" What is drawn is {self.now.said}."
        say(self.told, f"Stopped by hand.{drawn}")

    def _cancel(self) -> None:
        if self._race is not None:
            self._race.cancel()
            self._race = None
        self.stop.visible = self.bar.visible = False

    # -- what is drawn

    def _draw(self) -> None:
        self._redraw = False
        now, theme = self.now, self._theme
        with self._steady.frames.in_order():
            if now is None or theme is None:
                self.gaps.show(curve_tables([]))
                self.weights.show(bar_table([], ""))
                say(self.told, "")
                return
            styles = _styles(now, theme)
            rival = self._rivals.get(now.knob.rival)
            self.gaps.show(curve_tables(lines(now, self.before, rival, styles), GOAL))
            self.weights.show(bar_table(bars(now, self.before), styles[0].colour))
        say(self.told, outcome(now, self.before, rival))

    def close(self) -> None:
        """Stop what is being solved."""
        self._cancel()

    def __panel__(self) -> Any:
        return self.root


def _styles(now: Turn, theme: Theme) -> list[RunStyle]:
    """Return how the knob's solver is drawn, and its rival."""
    solvers = {"now": now.knob.solver(now.place)}
    if now.knob.rival:
        solvers["rival"] = make_solver(now.knob.rival)
    return list(solver_styles(solvers, theme).values())


def _per_cent(trace: Trace) -> int:
    """Return how far a solve is, by its gap on a logarithmic scale or by what it may still take."""
    first, gap = trace.gap_at(0), trace.gap_at(len(trace) - 1)
    down = math.log(first / gap) / math.log(first / GOAL) if first > gap > 0.0 and first > GOAL else 0.0
    spent = max(trace.final.svm_solves / MOST_SOLVES, len(trace) / MOST_STEPS)
    return int(100 * min(max(down, spent), 1.0))


def _box(title: str, why: str, plot: Any) -> Any:
    heading = cards.html(f'{cards.title(title)}<p class="why">{escape(why)}</p>')
    return cards.card(heading, pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0))
