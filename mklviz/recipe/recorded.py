"""Races are saved in the store: their runs while they go on, and their scores when they have ended.

The command line, notebooks, scripts and the dashboard record by this one class. Data of one's own are not stored: the
recipe knows them by their digest.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mklviz.contract import Iterate
from mklviz.engine import Race, Run
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recipe import Recipe
from mklviz.record.store import RunHead, Store, open_store
from mklviz.record.store.folder import MEANWHILE
from mklviz.record.trace import Trace

__all__ = ["RecordedRace", "head_for"]

_log = logging.getLogger(__name__)


def head_for(recipe: Recipe, made_by: str, lesson: str = "") -> RunHead:
    """Return what the runs of a recipe's race share in the store.

    `made_by`: "dashboard", "notebook", "script" or "command line"; `lesson`: name of the scenario.
    """
    title = recipe.data.title
    return RunHead(words=recipe.to_words(), data=title, name=title, made_by=made_by, lesson=lesson)


class RecordedRace:
    """A race as it is being recorded.

    `head`: what its runs share; `prepared`: what scores each run when it has ended; `score`: scores in its place, where
    others ask for the same scores; `store`: by default the one that `open_store` returns; `stored`: runs of the race
    that are in the store already.
    """

    def __init__(
        self,
        race: Race,
        head: RunHead,
        prepared: Prepared | None = None,
        score: Callable[[Iterate], float] | None = None,
        store: Store | None = None,
        stored: Mapping[str, Run] = MappingProxyType({}),
    ) -> None:
        self.store = open_store() if store is None else store
        self._recording = self.store.record({}, head)
        self._prepared, self._score = prepared, score
        self._runs = dict(stored)
        self._threads: list[threading.Thread] = []
        self.add(race)

    @property
    def race(self) -> str:
        """The key of the race in the store."""
        return self._recording.race

    @property
    def ids(self) -> dict[str, str]:
        """The keys of the runs in the store by those in the race; none where races are not kept."""
        return self._recording.ids

    @property
    def kept(self) -> bool:
        """Whether all of it stands in the store, or races are not kept."""
        return self._recording.kept

    @property
    def not_kept(self) -> str:
        """What to say at the end of a race that is not kept."""
        return f"This race is not kept as a whole. {self.store.trouble.removesuffix(MEANWHILE)}"

    def holds(self, race: Race) -> bool:
        """Return whether this is the same race, to which branches may have been added."""
        return any(race.runs.get(key) is run for key, run in self._runs.items())

    def add(self, race: Race) -> None:
        """Record the runs that have joined the race."""
        new = {key: run for key, run in race.runs.items() if key not in self._runs}
        self._runs.update(new)
        for key, run in new.items():
            self._recording.add(key, run.trace)
        followed = {key: run for key, run in new.items() if key in self.ids}
        if followed:
            thread = threading.Thread(target=self._follow, args=(followed,), name="mklviz-recorded", daemon=True)
            self._threads.append(thread)
            thread.start()

    def wait(self, timeout: float) -> None:
        """Wait until all runs have ended and stand in the store with their scores, so many seconds at most."""
        for thread in self._threads:
            thread.join(timeout)

    def _follow(self, runs: Mapping[str, Run]) -> None:
        for key, run in runs.items():
            run.wait()
            self._recording.finish({key: self._results(run.trace)})

    def _results(self, trace: Trace) -> dict[str, Any]:
        """Return the score of a run that has ended, where there is one."""
        prepared = self._prepared
        if prepared is None or not len(trace):
            return {}
        try:
            score = (self._score or prepared.score)(trace.best)
        except Exception:  # whatever it is, the run itself is not to suffer from it
            _log.exception("The score of %s could not be computed", trace.label)
            return {}
        return {"score": score, "score_label": prepared.score_label} if math.isfinite(score) else {}
