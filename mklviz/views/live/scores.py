"""Test scores of the runs that have ended, one at a time and away from the event loop."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Sequence

from mklviz.contract import Iterate
from mklviz.engine import Race
from mklviz.record import FINAL

__all__ = ["Score", "Scores"]

_log = logging.getLogger(__name__)

Score = Callable[[Iterate], float | None]


class Scores:
    """What `score_of` says of the solution of each run that has ended; nan where it says nothing.

    Parameters
    ----------
    score_of : callable, optional
        Called in a thread, once for each run.

    Attributes
    ----------
    found : dict of str to float
    """

    def __init__(self, score_of: Score | None = None) -> None:
        self.found: dict[str, float] = {}
        self._score_of = score_of
        self._told = 0
        self._task: asyncio.Task[None] | None = None

    def look(self, race: Race, states: Sequence[str]) -> bool:
        """Ask for the next score that is missing; return whether there is a new one since the last look.

        Whoever asks then says so: the task that computes a score has no lock, and what it sends can get lost.
        """
        if self._score_of is not None and (self._task is None or self._task.done()):
            for (key, run), state in zip(race.runs.items(), states, strict=True):
                if state in FINAL and key not in self.found and len(run.trace):
                    work = self._ask(self._score_of, key, run.trace.best)
                    self._task = asyncio.get_running_loop().create_task(work)
                    break
        news, self._told = len(self.found) > self._told, len(self.found)
        return news

    async def _ask(self, score_of: Score, key: str, iterate: Iterate) -> None:
        try:
            score = await asyncio.to_thread(score_of, iterate)
        except Exception:
            _log.exception("The test score of %s could not be computed", key)
            score = None
        self.found[key] = math.nan if score is None else float(score)
