"""Test scores of the runs that have ended, one at a time and away from the event loop."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence

from mklviz.contract import Iterate
from mklviz.engine import Race
from mklviz.record import FINAL, Trace

__all__ = ["Score", "Scores"]

_log = logging.getLogger(__name__)

Score = Callable[[Iterate], float | None]
Solution = tuple[str, int]  # the key of a run, and at which step it was found


class Scores:
    """What `score_of` says of the solutions that are looked at: those of runs that have ended, and of earlier steps.

    Parameters
    ----------
    score_of : callable, optional
        Called in a thread, once for each solution.

    Attributes
    ----------
    found : dict of str to float
        Of the solutions of runs that have ended; nan where nothing can be said.
    """

    def __init__(self, score_of: Score | None = None) -> None:
        self.found: dict[str, float] = {}
        self._score_of = score_of
        self._known: dict[Solution, float] = {}
        self._wanted: dict[str, Solution] = {}  # of each run the solution asked for last: others are past
        self._told = 0
        self._task: asyncio.Task[None] | None = None

    def at(self, traces: Mapping[str, Trace], key: str, step: int) -> float:
        """Return the score of a run's solution as of a step, nan as long as it is not known; `look` asks for it."""
        solution = key, traces[key].best_index_at(step)
        if step < len(traces[key]) - 1:
            self._wanted[key] = solution
        return self._known.get(solution, math.nan)

    def look(self, race: Race, states: Sequence[str]) -> bool:
        """Ask for the next score that is missing; return whether there is a new one since the last look.

        Whoever asks then says so: the task that computes a score has no lock, and what it sends can get lost.
        """
        if self._score_of is not None and (self._task is None or self._task.done()):
            solution = self._missing(race, states)
            if solution is not None:
                key, step = solution
                work = self._ask(self._score_of, solution, race.runs[key].trace[step])
                self._task = asyncio.get_running_loop().create_task(work)
        news, self._told = len(self._known) > self._told, len(self._known)
        return news

    def _missing(self, race: Race, states: Sequence[str]) -> Solution | None:
        """Return a solution whose score is to be found, those that are looked at first."""
        ended = {
            key: (key, run.trace.best_index)
            for (key, run), state in zip(race.runs.items(), states, strict=True)
            if state in FINAL and len(run.trace)
        }
        self.found = {key: self._known[solution] for key, solution in ended.items() if solution in self._known}
        return next((one for one in (*self._wanted.values(), *ended.values()) if one not in self._known), None)

    async def _ask(self, score_of: Score, solution: Solution, iterate: Iterate) -> None:
        try:
            score = await asyncio.to_thread(score_of, iterate)
        except Exception:
            _log.exception("The test score of %s could not be computed", solution[0])
            score = None
        self._known[solution] = math.nan if score is None else float(score)
