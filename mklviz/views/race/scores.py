"""Test scores of the runs that have ended, one at a time in a thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from mklviz.contract import Iterate
from mklviz.engine import Race
from mklviz.engine.task import ProgressReport, Task
from mklviz.record import FINAL, Trace

__all__ = ["Score", "Scores"]

Score = Callable[[Iterate], float | None]
Solution = tuple[str, int]  # the key of a run, and the step of its solution


class Scores:
    """The test scores of the solutions that are shown: those of runs that have ended, and of earlier steps.

    `score_of` is called in a thread, once for each solution.
    """

    def __init__(self, score_of: Score | None = None) -> None:
        self.task = Task[float]()
        self._score_of = score_of
        self._known: dict[object, float] = {}
        self._wanted: dict[str, Solution] = {}  # the solution asked for last, of each run; older ones are dropped

    def at(self, traces: Mapping[str, Trace], key: str, step: int) -> float:
        """Return the score of a run's solution as of a step, nan as long as it is not known; `update` asks for it."""
        solution = key, traces[key].best_index_at(step)
        if step < len(traces[key]) - 1:
            self._wanted[key] = solution
        return self._known.get(solution, math.nan)

    def update(self, race: Race, states: Sequence[str]) -> bool:
        """Take a finished score, and ask for the next missing one; return whether there is a new one."""
        news = self.task.ended
        if news:
            score = self.task.take()
            self._known[self.task.key] = math.nan if score is None else score
        if self._score_of is not None and not self.task.working:
            solution = self._missing(race, states)
            if solution is not None:
                key, step = solution
                score_of = partial(_score, self._score_of, race.runs[key].trace[step])
                self.task.ask(solution, score_of, f"The test score of {key} could not be computed")
        return news

    def _missing(self, race: Race, states: Sequence[str]) -> Solution | None:
        """Return a solution whose score is missing, first among those that are shown."""
        ended = [
            (key, run.trace.best_index)
            for (key, run), state in zip(race.runs.items(), states, strict=True)
            if state in FINAL and len(run.trace)
        ]
        return next((one for one in (*self._wanted.values(), *ended) if one not in self._known), None)


def _score(score_of: Score, iterate: Iterate, report: ProgressReport) -> float:
    score = score_of(iterate)
    return math.nan if score is None else float(score)
