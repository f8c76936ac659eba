"""Do visits leave anything behind? Opens and closes many sessions of the dashboard and weighs the process.

    python .ci/measure sessions [--visits 1000]

Every visit is a websocket of its own to a server in this process, without a browser: the page is built, its clocks
start, every tenth visitor runs a race, and the connection is closed as when a tab is closed. Reported are the resident
memory along the way, and how many explorers, views and documents are still alive at the end.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from measure.report import Row, parser, print_rows
from mklviz.bench._served import Served, Visit
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.views.explorer.explorer import Explorer

AT_ONCE = 4
SMALL = Recipe(data=DataChoice("two_moons"), solvers=(SolverChoice("level"),), stop=StopChoice(gap=1e-9, max_iter=20))


def resident() -> float:
    """Return the resident memory of this process in megabytes (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def survivors(served: Served, patience: float = 60.0) -> dict[str, int]:
    """Wait until all sessions are over, and count what is left of them."""
    deadline = time.monotonic() + patience
    while True:
        gc.collect()
        left = {"sessions": served.sessions, "explorers": len(served.explorers), "documents": len(served.documents)}
        if not any(left.values()) or time.monotonic() > deadline:
            return left
        time.sleep(0.2)


def small_explorer() -> Explorer:
    """Return an explorer with a small race set up."""
    explorer = Explorer()
    explorer.sidebar.load(SMALL)
    return explorer


def measure(served: Served, visits: int) -> Iterator[Row]:
    """Let so many visitors come and go, and yield memory and time ten times along the way."""
    begun = time.perf_counter()
    for count in range(0, visits, AT_ONCE):
        guests = [Visit(served) for _ in range(min(AT_ONCE, visits - count))]
        if count % 40 == 0:
            guests[0].do("run")
            time.sleep(1.0)
        for guest in guests:
            guest.close()
        del guests
        done = count + AT_ONCE
        if done % max(visits // 10 // AT_ONCE * AT_ONCE, AT_ONCE) == 0:
            gc.collect()
            pace = (time.perf_counter() - begun) / done
            yield Row(visits=done, resident_MB=resident(), s_per_visit=pace, sessions=served.sessions)


def main(arguments: Sequence[str]) -> None:
    """Open and close the sessions, and print memory and time along the way."""
    known = parser("sessions", __doc__)
    known.add_argument("--visits", type=int, default=1000)
    visits = known.parse_args(arguments).visits
    served = Served(small_explorer, lifetime=3000, check=500)  # longer than it takes to build a page
    served.settle()
    rows = print_rows(measure(served, visits))
    left = survivors(served)
    print(f"left: {', '.join(f'{count} {what}' for what, count in left.items())}")
    grown = resident() - rows[0]["resident_MB"]
    print(f"grown by {grown:.1f} MB since the first tenth, {resident():.1f} MB in all")
    served.close()
    sys.exit(1 if any(left.values()) else 0)
