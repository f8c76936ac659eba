"""What a store of runs survives: kills at random moments, a full disk, and being merged again and again.

``python tests/store_faults.py --count 100`` kills processes, by a signal that cannot be caught, while they record, take
runs in, pack them or bring the index to a later version. After each the store has to open without trouble, every run
that was there before has to be read in full, and of a run that was going on only the last second may be missing.
"""

import argparse
import contextlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from _stores import growing, recorded

from mklviz.record.run_facts import Verdict
from mklviz.record.store import RunHead, open_store, reset
from mklviz.record.store import index as index_module

LOST_SECONDS = 1.0  # of a run that is going on, at most
STEP_SECONDS = 0.004


class Fault(Exception):
    """Something that the store promises does not hold."""


def main(arguments: list[str] | None = None) -> int:
    """Inject the faults; return 0 where everything held."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=100, help="kills in all")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args(arguments)
    chance = random.Random(chosen.seed)
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="mklviz-faults-") as folder:
        place = Path(folder)
        try:
            for number in range(chosen.count):
                name, fault = FAULTS[number % len(FAULTS)]
                worst = max(worst, fault(_emptied(place / name), chance))
            for check in (merged_twice, full_disk):
                check(_emptied(place / check.__name__))
        except Fault as fault:
            print(f"After {name} was killed: {fault}" if number < chosen.count - 1 else fault)
            return 1
    kinds = ", ".join(name for name, _ in FAULTS)
    print(f"{chosen.count} kills while {kinds}: 0 unreadable stores, at most {worst:.2f} s of a run lost.")
    print("Stores merged twice have the same content. A full disk destroyed nothing old, and what waited was written.")
    return 0


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def filled(folder: Path, runs: int, steps: int = 40) -> dict[str, int]:
    """Record runs that have ended; return their lengths by their keys in the store."""
    store = open_store(folder)
    lengths: dict[str, int] = {}
    for number in range(runs):
        race = recorded(store, RunHead(words=f"run {number}"), steps=steps + number)
        (run,) = store.runs(f"race:{race}")
        lengths[run.id] = steps + number
    reset()
    return lengths


def killed(work: Callable[[], None], after: float) -> float:
    """Do some work in another process and kill that after so many seconds; return the time when it was killed."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    moment = time.time()
    os.waitpid(child, 0)
    return moment


def checked(folder: Path, lengths: dict[str, int]) -> None:
    """Open a store and read all its runs; those in `lengths` have so many steps, with their own numbers."""
    store = open_store(folder)
    try:
        if store.trouble:
            raise Fault(f"the store says {store.trouble}")
        kept = {run.id: run for run in store.runs()}
        if missing := set(lengths) - set(kept):
            raise Fault(f"{len(missing)} runs are missing")
        for run_id in kept:
            trace = store.trace(run_id)
            steps = [int(iterate.dual[0]) for iterate in trace]
            if steps != list(range(len(steps))):
                raise Fault(f"the steps of {run_id} are {steps}")
            if len(steps) != lengths.get(run_id, len(steps)):
                raise Fault(f"{run_id} has {len(steps)} steps instead of {lengths[run_id]}")
    finally:
        reset()


def while_recording(folder: Path, chance: random.Random) -> float:
    """Kill a process that records two runs; return how many seconds were lost."""
    old = filled(folder, 2)
    times = folder.with_suffix(".times")

    def record() -> None:
        store = open_store(folder)
        traces = {"a": growing(steps=0), "b": growing(steps=0)}
        with times.open("w", buffering=1) as written:
            store.record(traces, RunHead(words="killed"))
            for _ in range(10_000):
                for trace in traces.values():
                    growing(trace, steps=1)
                written.write(f"{time.time()}\n")
                time.sleep(STEP_SECONDS)

    moment = killed(record, chance.uniform(0.05, 3.0))
    checked(folder, old)
    appended = [float(line) for line in times.read_text().splitlines() if line.count(".") == 1]
    store = open_store(folder)
    kept = [len(store.trace(run.id)) for run in store.runs('words:killed status:"cut off"')]
    reset()
    fewest = min(kept) if len(kept) == 2 else 0
    lost = moment - appended[fewest] if fewest < len(appended) else 0.0
    if lost > LOST_SECONDS:
        raise Fault(f"{lost:.2f} s of a run are lost")
    return lost


def while_importing(folder: Path, chance: random.Random) -> float:
    """Kill a process that takes in another store and a file, then let it be done; nothing is lost or twice there."""
    other = folder.with_suffix(".other")
    theirs = filled(_emptied(other), 6)
    own = filled(folder, 2)
    bundle = folder.with_suffix(".zip")
    store = open_store(other)
    store.export([run.race for run in store.runs()], bundle)
    reset()

    def take_in() -> None:
        store = open_store(folder)
        store.runs()
        store.merge(other)
        store.import_file(bundle)

    killed(take_in, chance.uniform(0.0, 0.15))
    checked(folder, own)
    take_in()
    reset()
    checked(folder, own | theirs)
    if len(list((folder / "runs").glob("[!.]*"))) != len(own | theirs):
        raise Fault("a run is there twice")
    return 0.0


def while_packing(folder: Path, chance: random.Random) -> float:
    """Kill a process that packs runs; their steps are all there, before and after it is done by another."""
    lengths = filled(folder, 8, steps=200)

    def pack() -> None:
        open_store(folder).pack(at_once=True)

    killed(pack, chance.uniform(0.0, 0.15))
    checked(folder, lengths)
    pack()
    reset()
    checked(folder, lengths)
    return 0.0


def while_migrating(folder: Path, chance: random.Random) -> float:
    """Kill a process that makes an index of an earlier version anew; the next one does."""
    lengths = filled(folder, 20, steps=2)
    version = index_module.VERSION

    def migrate() -> None:
        open_store(folder).runs()

    try:
        open_store(folder).runs()
        reset()
        index_module.VERSION = version + 1
        killed(migrate, chance.uniform(0.0, 0.03))
        checked(folder, lengths)
    finally:
        index_module.VERSION = version
    return 0.0


FAULTS = (
    ("recording", while_recording),
    ("importing", while_importing),
    ("packing", while_packing),
    ("migrating", while_migrating),
)


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of the runs in a store by their paths, but for those still being written, which come and go."""
    runs = folder / "runs"
    return {str(path.relative_to(runs)): path.read_bytes() for path in runs.rglob("[!.]*") if path.is_file()}


def merged_twice(folder: Path) -> None:
    """Merge two stores into each other, twice: both have the same content, and the newest words win."""
    one, other = folder / "one", folder / "other"
    filled(one, 3)
    store = open_store(other)
    store.merge(one)
    (first, *_) = store.runs()
    store.describe(first.race, name="named later", tags=["kept"])
    reset()
    filled(other, 2)
    before: list[dict[str, bytes]] = []
    for _ in range(2):
        open_store(one).merge(other)
        open_store(other).merge(one)
        reset()
        before.append(contents(one))
        if contents(one) != contents(other):
            raise Fault("two stores merged into each other differ")
    if before[0] != before[1]:
        raise Fault("merging again has changed something")


def full_disk(folder: Path) -> None:
    """Fill the disk while runs are recorded: what is old stays, and what waited is written when there is room."""
    old = filled(folder, 3)
    before = contents(folder)
    store = open_store(folder)
    trace = growing(steps=0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        recording = store.record({"level": trace}, RunHead(words="waits"))
        growing(trace, steps=3000)
        recording.finish()
        trouble = store.trouble
        if "full" not in trouble:
            raise Fault(f"a full disk is called {trouble!r}")
        if before.items() - contents(folder).items():
            raise Fault("a full disk has destroyed something")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    trace.finish(Verdict("converged", "The gap is small."))
    recording.finish()
    if store.trouble:
        raise Fault(f"the disk has room again, but the store says {store.trouble}")
    run_id = recording.ids["level"]
    reset()
    checked(folder, old | {run_id: len(trace)})


if __name__ == "__main__":
    sys.exit(main())
