"""How a lesson goes on when its race has ended: the answer is computed in a thread, and told beside the guess.

Scenario and answer are the session's, so that those who follow it need not compute anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from mklviz.context.cancelling import interruptible
from mklviz.engine import Race
from mklviz.engine.background import Background
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.scenarios import Answer, Outcome, Question, Scenario
from mklviz.views.session.session import LessonResult, Session
from mklviz.views.sidebar.lesson_panel import OPEN, LessonPanel
from mklviz.views.sidebar.scenario_panel import same_race

__all__ = ["Lesson"]

_WHOLE = ("converged", "precision", "rule", "limit")  # ends of runs that nobody cut short


class Lesson:
    """What becomes of the question of the scenario that is chosen.

    Parameters
    ----------
    session : Session
        Whose race it is about.
    panel : LessonPanel
        Where question, guess and answer stand.
    """

    def __init__(self, session: Session, panel: LessonPanel) -> None:
        self._session, self._panel = session, panel
        self._race: Race | None = None  # the one that is asked about, or was
        self._scenario: Scenario | None = None
        self._work: Background[Answer] | None = None

    def look(self) -> None:
        """Turn to another race or scenario; once the race has ended, begin with the answer, and tell it when known."""
        race, scenario = self._session.race, self._panel.scenario
        if self._scenario is not scenario or not self._goes_on(race):
            self._forget()
        elif self._race is not None:
            self._race = race
        if self._race is None and race is not None and race.status == "finished":
            self._begin(race, scenario)
        if self._work is not None and self._work.ended:
            work, self._work = self._work, None
            if work.result is None:
                self._tell(LessonResult(left_open=f"{work.trouble} The question stays open."))
            else:
                self._tell(LessonResult(work.result))

    def _goes_on(self, race: Race | None) -> bool:
        """Return whether a race is the one asked about, maybe with a solver more that goes on from one of its steps."""
        if self._race is None or self._race is race:
            return True
        return race is not None and all(race.traces.get(key) is trace for key, trace in self._race.traces.items())

    def close(self) -> None:
        """Nobody waits for an answer any more."""
        if self._work is not None:
            self._work.cancel()
        self._work = None

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
        if not made or not same_race(self._session.recipe, scenario.recipe):
            return  # another race than the lesson's, of which its file knows nothing
        if any(trace.status not in _WHOLE for trace in traces.values()):
            self._tell(LessonResult(left_open=OPEN))
        elif scenario.question is None:
            self._tell(LessonResult())
        else:
            answer = partial(_answered, scenario.question, self._session.prepared, traces)
            self._work = Background(answer, "The answer")


def _answered(
    question: Question, prepared: Prepared, traces: Mapping[str, Trace], report: Callable[[float], None]
) -> Answer:
    """Return the answer to a question; what it solves for that stops when nobody waits any more."""
    with interruptible(partial(report, 0.0)):
        return question.answer(Outcome(prepared, traces))
