"""What the page shows beside a race: a recording until it begins, and a lesson's answer when it has ended."""

from __future__ import annotations

import math
from functools import partial
from time import monotonic

from mklviz.engine import Race
from mklviz.engine.kinds import falls_below_zero
from mklviz.engine.task import Task
from mklviz.engine.warmup import WARMUP
from mklviz.record.bundle import recording
from mklviz.scenarios import Answer, Outcome, Scenario
from mklviz.views.race.race_figures import RaceFigures
from mklviz.views.race.race_view import Playback, RaceView
from mklviz.views.session.session import LessonResult, Session
from mklviz.views.sidebar.scenario_panel import OPEN, LessonPanel
from mklviz.views.sidebar.sidebar import Sidebar

# The page until a race begins: a recording of the chosen race, dimmed and marked as one, and its figures in advance.
#
# Solvers are compiled once on a machine, which takes half a minute: until then the recording plays. Later it stands
# there as a whole. A race that is not exactly a recorded scenario waits without a recording.

PLAYED = "A recording of this race."
YOURS_FOLLOWS = "A recording of this race: yours begins when the first solver is compiled, once on this machine."


class ColdStart:
    """Shows the recording of a scenario until its race begins: it plays where solvers are being compiled."""

    def __init__(self, sidebar: Sidebar, view: RaceView) -> None:
        self._sidebar, self._view = sidebar, view
        self._scenario, self._delayed = "", False
        self.awaited = False  # whether Run was pressed, so that a guess comes too late

    @property
    def bridges(self) -> bool:
        """Whether a recording plays because its solvers are being compiled."""
        return self._view.playback is not None and self._delayed and WARMUP.running

    @property
    def set_up(self) -> str:
        """The scenario that the controls set up, if it was recorded; "" while its lesson waits for a guess."""
        scenario = self._sidebar.scenario
        asks = scenario.lesson.open and not (scenario.lesson.guess.value or self.awaited)
        as_it_is = not (scenario.changed or self._sidebar.blocked or asks)
        return scenario.choice.value if as_it_is and recording(scenario.choice.value) else ""

    def update(self, pace: float, drawable: bool, seen: bool = True) -> None:
        """Without a race: begin, if the figures are `drawable` and `seen`, or end where another race was set up."""
        scenario, playback = self.set_up, self._view.playback
        if playback is None:
            if seen and scenario and (drawable or WARMUP.running):
                self._begin(scenario, pace, drawable)
        elif scenario == self._scenario:
            playback.pace = pace
        else:
            self._view.clear()

    def _begin(self, scenario: str, pace: float, drawable: bool) -> None:
        recipe = self._sidebar.recipe
        delayed = WARMUP.delays([choice.name for choice in recipe.solvers])
        if delayed or drawable:
            self._scenario, self._delayed = scenario, delayed
            self._view.play(Playback(scenario, recipe, pace, whole=not delayed))


IDLE = 0.5  # seconds without a touch, after which the figures are built


class FiguresAhead:
    """Builds the figures of the next race when no control was touched for a moment."""

    def __init__(self, sidebar: Sidebar, figures: RaceFigures) -> None:
        self._sidebar, self._figures = sidebar, figures
        self._touched_at = 0.0

    @property
    def built(self) -> bool:
        """Whether the figures of what is set up are there, or on their way to the browser."""
        return math.isinf(self._touched_at)

    def touch(self) -> None:
        """Wait, for something has changed."""
        self._touched_at = monotonic()

    def tick(self, now: float) -> None:
        """Build the missing figures; call it while there is no race."""
        if now - self._touched_at > IDLE:
            self.build()

    def build(self) -> bool:
        """Build a part of what is missing; return whether all is there, or cannot be."""
        if not self.built and not self._sidebar.blocked:
            touched_at, self._touched_at = self._touched_at, math.inf  # once, until something is touched
            recipe = self._sidebar.recipe
            solvers = [choice.make(recipe.split.seed) for choice in recipe.solvers]
            if not self._figures.prepare(solvers, falls_below_zero(recipe.problem.loss, recipe.problem.regularizer)):
                self._touched_at = touched_at
                return False
        return True


# The end of a lesson: when its race has ended, the answer is computed in a thread and shown beside the guess.
#
# Scenario and answer belong to the session, so pages that follow it compute nothing.


_WHOLE = ("converged", "precision", "rule", "limit")  # ends of runs that were not cut short


class Lesson:
    """Answers the question of the scenario chosen from the session's race; the panel shows question and answer."""

    def __init__(self, session: Session, panel: LessonPanel) -> None:
        self._session, self._panel = session, panel
        self._race: Race | None = None  # the question is about this one, or was
        self._scenario: Scenario | None = None
        self.task = Task[Answer]()

    def update(self) -> None:
        """Follow another race or scenario; once the race has ended, compute the answer and show it."""
        race, scenario = self._session.race, self._panel.scenario
        self._session.lesson_open = self._panel.open
        if self._scenario is not scenario or not self._goes_on(race):
            self._forget()
        elif self._race is not None:
            self._race = race
        if self._race is None and race is not None and race.status == "finished":
            self._begin(race, scenario)
        if self.task.ended:
            if (answer := self.task.take()) is not None:
                self._tell(LessonResult(answer))
            else:
                self._tell(LessonResult(left_open=f"{self.task.fault} The question stays open."))

    def _goes_on(self, race: Race | None) -> bool:
        """Return whether the question is about this race, to which a branch may have been added."""
        if self._race is None or self._race is race:
            return True
        return race is not None and all(race.traces.get(key) is trace for key, trace in self._race.traces.items())

    def close(self) -> None:
        self.task.forget()

    def _forget(self) -> None:
        self.close()
        self._race, self._scenario = None, self._panel.scenario
        self._session.scenario = self._scenario
        self._tell(None)

    def _tell(self, result: LessonResult | None) -> None:
        self._session.lesson_result = result
        self._panel.show_result(result)

    def _begin(self, race: Race, scenario: Scenario) -> None:
        self._race = race
        traces = {key: trace for key, trace in race.traces.items() if trace.origin is None}
        made = all(trace.recipe for trace in traces.values())  # and not begun at a point of the map
        recipe = self._session.recipe
        if not made or recipe is None or not recipe.same_race(scenario.recipe):
            return  # the lesson says nothing about other races
        if any(trace.status not in _WHOLE for trace in traces.values()):
            self._tell(LessonResult(left_open=OPEN))
        elif scenario.question is None:
            self._tell(LessonResult())
        else:
            answered = partial(scenario.question.answer, Outcome(self._session.prepared, traces))
            self.task.ask(race, lambda _report: answered(), "The answer could not be computed")
