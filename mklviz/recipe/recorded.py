"""Races are saved in the store: their runs while they go on, and their scores when they have ended.

The command line, notebooks, scripts and the dashboard record by this one class. Data of one's own are not stored: the
recipe knows them by their digest.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from mklviz.contract import Iterate
from mklviz.datasets import Dataset
from mklviz.engine import Race, Run, make_solver
from mklviz.errors import MklvizError, ProblemError
from mklviz.recipe.choices import DataChoice, SolverChoice
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recipe import Recipe
from mklviz.record.history import short_id
from mklviz.record.store import RunHead, Store, StoredRun, open_store
from mklviz.record.store.folder import CUT_OFF_SECONDS, MEANWHILE
from mklviz.record.store.stored import CUT_OFF
from mklviz.record.trace import Trace

_log = logging.getLogger(__name__)


def head_for(recipe: Recipe, made_by: str, lesson: str = "") -> RunHead:
    """Return what the runs of a recipe's race share in the store; `lesson`: name of the scenario."""
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
        self.race = self._recording.race  # the key of the race in the store
        self._prepared, self._score = prepared, score
        self._runs = dict(stored)
        self._threads: list[threading.Thread] = []
        self.add(race)

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


# -- going on from a run: its problem is posed anew, and a branch begins at its best iterate


def recipe_of(run: StoredRun, data: Dataset | None = None) -> Recipe:
    """Return the recipe of a stored run; `data`: those of one's own, where it was about such."""
    if not (run.recipe or run.words):
        raise MklvizError(
            "This run was recorded without its data and kernels, as mv.race records it: pose its problem again, and use"
            " mv.Race.going_on."
        )
    recipe = Recipe.from_json(run.recipe) if run.recipe else Recipe.from_words(run.words)
    if data is None:
        return recipe
    if recipe.data.source != DataChoice.of(data).source:
        raise ProblemError("These are not the data of that run: they have another digest.")
    return recipe.on(data)


def left_of(store: Store, recipe: Recipe, solver: SolverChoice | None = None) -> StoredRun | None:
    """Return the newest run of a recipe, whatever its stop rules, if it was cut off or stopped.

    Those that were so before their first step do not count. `solver`: with its options; None for any. Raises
    `MklvizError` where that run is going on.
    """
    options = {} if solver is None else solver.make(recipe.split.seed).options()
    for run in store.runs():
        if recipe.data.source not in run.recipe or (not run.steps and run.status in (CUT_OFF, "stopped")):
            continue
        with suppress(MklvizError):  # of another version, for example
            if replace(recipe_of(run), solvers=recipe.solvers, stop=recipe.stop) != recipe:
                continue
            if solver is None or (run.solver, run.options) == (solver.name, options):
                break
    else:
        return None
    if run.status == "running":
        raise MklvizError(
            f"The run {short_id(run.id)} of this recipe is going on, or its process ended less than"
            f" {CUT_OFF_SECONDS:.0f} s ago: ask again then."
        )
    return run if run.status in (CUT_OFF, "stopped") else None


def go_on(
    store: Store, run: StoredRun, recipe: Recipe, prepared: Prepared, made_by: str, solver: str = "", threads: int = 1
) -> tuple[Race, RunHead]:
    """Return a race with one run, not yet started, that goes on from a stored one, maybe with another `solver`."""
    trace = store.trace(run.id)
    made = make_solver(solver, seed=recipe.split.seed) if solver else make_solver(run.solver, **trace.options)
    taken = [other.key for other in store.runs(f"race:{run.race}")]
    race = Race.going_on(prepared.problem, trace, made, recipe.stop.rules(recipe.convex), taken=taken, threads=threads)
    for grown in race.traces.values():
        grown.recipe = recipe.to_json()
    return race, RunHead(run.race, run.words, run.data, run.name, run.lesson, made_by, run.owner)


def resume_run(
    store: Store,
    run: StoredRun,
    made_by: str,
    solver: str = "",
    data: Dataset | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Race, Recipe, Prepared, RunHead]:
    """Prepare all that goes on from a stored run: the race, not yet started, its recipe, problem, and head."""
    recipe = recipe_of(run, data)
    prepared = recipe.prepare(progress=progress)
    race, head = go_on(store, run, recipe, prepared, made_by, solver)
    return race, recipe, prepared, head
