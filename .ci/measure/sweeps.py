"""Sweeps: how much faster several workers are than one, and what workers that are killed cost.

``python .ci/measure sweeps [--quick] [--words WORDS] [--workers 1,2] [--kill SECONDS]`` solves a sweep with each number
of workers, into a new store each time, and then once more with a worker killed every so many seconds. The rows say the
seconds, how many runs finished, how many workers were killed, and how many finished runs were solved again when the
sweep was started anew, which must be none. The whole sweep is 12 data sets x 20 splits x 8 solvers, some hours;
`--quick` is a part of it.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from measure.report import Row, parser, print_rows
from mklviz.record.store import open_store, reset
from mklviz.sweeps import Processes, Sweep, SweepRun

SOLVERS = "closed-form,level,newton,pgd,silp,simplemkl,spg,spicymkl"
WHOLE = (
    "data=australian,breast,german,heart,ionosphere,liver,pima,sonar,two_moons,vote,wdbc,wpbc; split=0...19;"
    f" solvers={SOLVERS}"
)
QUICK = f"data=heart,liver,sonar,vote; split=0,1; solvers={SOLVERS}"
LOOK_SECONDS = 0.2


def measure(words: str, workers: Sequence[int] = (1, 2), kill: float = 20.0) -> Iterator[Row]:
    """Yield a row for each number of workers, and one with workers that are killed."""
    alone = 0.0
    for count in workers:
        row = _solved(words, count, 0.0)
        alone = alone or row["seconds"]
        yield {**row, "times_as_fast": alone / row["seconds"]}
    if kill:
        row = _solved(words, max(workers), kill)
        yield {**row, "times_as_fast": alone / row["seconds"]}


def _solved(words: str, count: int, kill: float) -> Row:
    sweep = Sweep.from_words(words)
    with tempfile.TemporaryDirectory(prefix="mklviz-sweep-") as folder:
        engine = Processes(count)
        begun = time.monotonic()
        run = SweepRun(sweep, open_store(folder), engine)
        run.start()
        killed = _kill_now_and_then(run, engine, kill)
        seconds = time.monotonic() - begun
        finished = run.progress.done
        again = SweepRun(sweep, open_store(folder), Processes(1))
        again.start()
        again.wait()
        repeated = again.progress.total - again.progress.skipped
        reset()
        return Row(
            workers=count,
            runs=len(sweep),
            seconds=seconds,
            finished=finished,
            failed=run.progress.failed,
            killed=killed,
            repeated=repeated,
        )


def _kill_now_and_then(run: SweepRun, engine: Processes, every: float) -> int:
    """Wait for the end, and kill a worker every so many seconds; return how many."""
    killed, due = 0, time.monotonic() + every
    while not run.wait(LOOK_SECONDS):
        if not every or time.monotonic() < due:
            continue
        due = time.monotonic() + every
        pids = engine.pids
        with suppress(ProcessLookupError):
            if pids:
                os.kill(pids[killed % len(pids)], signal.SIGKILL)
                killed += 1
    return killed


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the rows as they come."""
    options = parser("sweeps", __doc__ or "")
    options.add_argument("--quick", action="store_true", help="a part of the sweep")
    options.add_argument("--words", help="another sweep")
    options.add_argument("--workers", default="1,2", help="numbers of workers (default: 1,2)")
    options.add_argument("--kill", type=float, default=20.0, help="seconds between two kills, 0 for none (default: 20)")
    given = options.parse_args(arguments)
    workers = [int(count) for count in given.workers.split(",")]
    words = given.words or (QUICK if given.quick else WHOLE)
    print_rows(measure(words, workers, given.kill))


if __name__ == "__main__":
    main()
