"""Runs made up for stores, each step with its number in it."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mklviz.contract import Iterate
from mklviz.recipe import Recipe
from mklviz.recipe.recorded import RecordedRace, head_for
from mklviz.record import Trace
from mklviz.record.run_facts import Verdict
from mklviz.record.store import RunHead, Store, open_store, reset
from mklviz.record.store.folder import HEAD, SEEN, write_json
from mklviz.record.store.frames import write_frame
from mklviz.record.store.recorder import head_of
from mklviz.record.store.stored import new_id

__all__ = ["anew", "growing", "recorded", "recorded_race", "store", "unfinished"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store of the test's own, which is that of all it starts, opened as by a process that has just begun."""
    monkeypatch.setenv("MKLVIZ_STORE", str(tmp_path / "store"))
    reset()
    yield open_store(tmp_path / "store")
    reset()


def anew(store: Store) -> Store:
    """Return the same store as another process would open it."""
    reset()
    return open_store(store.folder)


def growing(trace: Trace | None = None, steps: int = 3, solver: str = "level") -> Trace:
    """Append steps to a trace that has not ended, by default to a new one."""
    grown = Trace(solver, solver.upper(), {"seed": 0}, ["a", "b", "c"]) if trace is None else trace
    for step in range(len(grown), len(grown) + steps):
        iterate = Iterate(weights=np.array([0.0, 0.0, 1.0]), dual=np.full(5, float(step)), objective=3.0,
                          lower_bound=1.0, step=0.1, svm_solves=step)  # fmt: skip
        grown.append(iterate, 0.1 * step)
    return grown


def recorded(
    store: Store, head: RunHead | None = None, solver: str = "level", status: str = "converged", steps: int = 3
) -> str:
    """Record a race of one run that has ended; return its key."""
    trace = growing(steps=steps, solver=solver)
    trace.finish(Verdict(status, "It has ended."))
    recording = store.record({solver: trace}, head or RunHead())
    recording.finish({solver: {"machine": "one"}})
    return recording.race


def recorded_race(store: Store, recipe: Recipe) -> str:
    """Run the race of a recipe, and record it as another program would; return its key."""
    prepared = recipe.prepare()
    race = recipe.race(prepared)
    kept = RecordedRace(race, head_for(recipe, "command line"), prepared, store=store)
    race.start()
    race.wait()
    kept.wait(60.0)
    return kept.race


def unfinished(store: Path, trace: Trace, seen: float, frames: int = 1) -> str:
    """Write the folder of a run that another process has begun and not ended; return its key."""
    run_id = new_id(trace.solver)
    folder = store / "runs" / run_id
    folder.mkdir(parents=True)
    head = head_of(run_id, trace.solver, trace, RunHead(race=f"race of {run_id}"))
    write_json(folder / HEAD, {**head, "created": min(head["created"], seen)})
    at = np.linspace(0, len(trace), frames + 1).astype(int)
    for first, last in pairwise(at):
        write_frame(folder, trace, int(first), int(last))
    (folder / SEEN).write_text(f"{seen:.1f}")
    return run_id
