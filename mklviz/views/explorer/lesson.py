"""The end of a lesson: when its race has ended, the answer is computed in a thread and shown beside the guess.

Scenario and answer belong to the session, so pages that follow it compute nothing.
"""

from __future__ import annotations

from functools import partial

from mklviz.engine import Race
from mklviz.engine.task import Task
from mklviz.scenarios import Answer, Outcome, Scenario
from mklviz.views.session.session import LessonResult, Session
from mklviz.views.sidebar.scenario_panel import OPEN, LessonPanel

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
