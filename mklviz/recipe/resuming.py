"""Going on from a run that was cut off, or ended: its problem is posed anew, and a branch begins at its best iterate.

Nothing inside the solver is restored, such as the cuts of a cutting plane method: the branch begins with the weights,
the dual variables and the lower bound that the run had found.
"""

from __future__ import annotations

from collections.abc import Callable

from mklviz.datasets import Dataset
from mklviz.engine import Race, make_solver
from mklviz.errors import MklvizError, ProblemError
from mklviz.recipe.choices import DataChoice
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recipe import Recipe
from mklviz.recipe.recorded import RecordedRace
from mklviz.record.store import RunHead, Store, StoredRun

__all__ = ["go_on", "recipe_of", "record_on", "resume_run"]


def recipe_of(run: StoredRun, data: Dataset | None = None) -> Recipe:
    """Return the recipe of a stored run; `data`: those of one's own, where it was about such.

    Raises `MklvizError` if the run has no recipe, or `data` are others.
    """
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


def go_on(store: Store, run: StoredRun, recipe: Recipe, prepared: Prepared, solver: str = "") -> Race:
    """Return a race with one run, not yet started, that goes on from a stored one.

    `recipe`, `prepared`: of the run, see `recipe_of`; `solver`: another than before, with its default options. Raises
    `UnsupportedProblem` if the solver cannot go on from there, with the reason, and `MklvizError` if nothing of the
    run can be read.
    """
    trace = store.trace(run.id)
    made = make_solver(solver, seed=recipe.split.seed) if solver else make_solver(run.solver, **trace.options)
    taken = [other.key for other in store.runs(f"race:{run.race}")]
    race = Race.going_on(prepared.problem, trace, made, recipe.stop.rules(recipe.convex), taken=taken)
    for grown in race.traces.values():
        grown.recipe = recipe.to_json()
    return race


def record_on(store: Store, run: StoredRun, race: Race, prepared: Prepared, made_by: str) -> RecordedRace:
    """Record a race that goes on from a stored run, as part of that run's race."""
    head = RunHead(run.race, run.words, run.data, run.name, run.lesson, made_by, run.owner)
    return RecordedRace(race, head, prepared, store=store)


def resume_run(
    store: Store,
    run: StoredRun,
    made_by: str,
    solver: str = "",
    data: Dataset | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Race, Recipe, Prepared, RecordedRace]:
    """Prepare all that goes on from a stored run: the race, not yet started, its recipe and problem, its recording."""
    recipe = recipe_of(run, data)
    prepared = recipe.prepare(progress=progress)
    race = go_on(store, run, recipe, prepared, solver)
    return race, recipe, prepared, record_on(store, run, race, prepared, made_by)
