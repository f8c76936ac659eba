"""What recording costs, and how long a store of many runs takes to open and to search.

``python .ci/measure store`` prints three tables. CPU spent on writing and on beginning a recording is divided by that
of the whole process while the race runs, so that other programs do not matter.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import mklviz as mv
from measure.report import Row, parser, print_rows
from mklviz.engine.race import Race
from mklviz.record.store import RunHead, Store, open_store, reset
from mklviz.record.store.recorder import WRITER

RACES = {
    "default": "",
    "small": "data=two_moons; gap=1e-3",
    "exact": "gap=1e-6",
    "more": "gap=1e-5; solvers=silp,level,spg,pgd,newton,simplemkl",
}
SEARCHES = ("", "sonar level", "solver:silp gap<1e-3", "nothing that is there", "tag:thesis since:2026-01-01")


def main(arguments: Sequence[str]) -> None:
    """Print the tables."""
    options = parser("store", __doc__ or "")
    options.add_argument("--runs", type=int, default=10_000, help="in the store that is opened")
    options.add_argument("--repeats", type=int, default=3, help="of each race")
    chosen = options.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mklviz-store-") as folder:
        print_rows(costs(Path(folder) / "costs", chosen.repeats))
        print()
        many = Path(folder) / "many"
        make_many(many, chosen.runs)
        print_rows(openings(many))
        print()
        print_rows(searches(many))


def costs(folder: Path, repeats: int) -> Iterator[Row]:
    """Yield what recording races costs, and what they take on the disk."""
    store = open_store(folder)
    for name, words in RACES.items():
        recipe = mv.Recipe.from_words(words)
        problem = recipe.prepare().problem
        _raced(recipe, problem, store)  # compiles
        for _ in range(repeats):
            yield {"race": name, "runs": len(recipe.solvers), **_raced(recipe, problem, store)}


def _raced(recipe: mv.Recipe, problem: mv.Problem, store: Store) -> Row:
    """Return what one recorded race has cost."""
    race = Race(problem, [solver.name for solver in recipe.solvers], recipe.stop.rules(problem.convex))
    spent, begun, written = time.process_time(), time.perf_counter(), WRITER.seconds
    own = time.thread_time()
    recording = store.record(race.traces, RunHead(words="measured"))
    own = time.thread_time() - own
    race.start()
    race.wait()
    recording.finish()
    spent = time.process_time() - spent
    recorded = WRITER.seconds - written + own
    size = sum(run.bytes for run in store.runs(f"race:{recording.race}"))
    store.pack(at_once=True)
    packed = sum(run.bytes for run in store.runs(f"race:{recording.race}"))
    return {
        "seconds": time.perf_counter() - begun,
        "CPU": spent,
        "steps": sum(len(trace) for trace in race.traces.values()),
        "recording_%": 100.0 * recorded / spent,
        "bytes": size,
        "packed": packed,
    }


def make_many(folder: Path, count: int) -> None:
    """Make a store of many small runs, which differ in what is searched for."""
    store = open_store(folder)
    trace = mv.solve(mv.Recipe.from_words("data=sonar").prepare().problem, "level", max_iter=2)
    recording = store.record({"level": trace}, RunHead(words="data=sonar; solvers=level", data="Sonar"))
    recording.finish({"level": {"score": 0.9}})
    (run_id,) = recording.ids.values()
    reset()
    pattern = folder / "runs" / run_id
    head, end = (json.loads((pattern / f"{name}.json").read_text()) for name in ("head", "end"))
    for number in range(count):
        solver, data = ("level", "silp", "newton")[number % 3], ("sonar", "heart", "vote", "wine")[number % 4]
        copy = folder / "runs" / f"20260101T{number:06d}-{number:08x}-{solver}"
        copy.mkdir()
        about = {**head["trace"], "solver": solver, "label": solver.upper()}
        own = {**head, "race": f"race-{number // 3}", "words": f"data={data}; solvers={solver}", "data": data.title()}
        created = head["created"] - 60.0 * number
        (copy / "head.json").write_text(json.dumps({**own, "key": solver, "created": created, "trace": about}))
        gap = 10.0 ** -(number % 7)
        (copy / "end.json").write_text(json.dumps({**end, "numbers": {**end["numbers"], "gap": gap}}))
        if number % 10 == 0:
            (copy / "about.json").write_text(json.dumps({"tags": ["thesis"], "note": f"note {number}", "changed": 1.0}))
        for frame in pattern.glob("*.frame"):
            os.link(frame, copy / frame.name)
        os.utime(copy, (created, created))  # as it is when a store has rested for some seconds
    shutil.rmtree(pattern)


_OPEN = """
import sys, time
from mklviz.record.store import open_store
begun = time.perf_counter()
runs = open_store(sys.argv[1]).runs(limit=100)
print(time.perf_counter() - begun)
"""


def openings(folder: Path) -> Iterator[Row]:
    """Yield how long it takes in a new process until the newest runs are known."""
    for how in ("without an index", "with the index", "with the index"):
        if how.startswith("without"):
            (folder / "index.sqlite").unlink(missing_ok=True)
        done = subprocess.run([sys.executable, "-c", _OPEN, str(folder)], capture_output=True, text=True, check=True)
        yield {"opened": how, "seconds": float(done.stdout)}


def searches(folder: Path) -> Iterator[Row]:
    """Yield how long searches take, all runs that are found or the first hundred."""
    store = open_store(folder)
    store.runs(limit=1)
    for where in SEARCHES:
        for limit in (100, None):
            begun = time.perf_counter()
            matching = store.runs(where, limit=limit)
            seconds = time.perf_counter() - begun
            yield {"search": where or "everything", "most": str(limit), "found": len(matching), "seconds": seconds}
    reset()
