"""What the dashboard costs a server: its pages, and a class of visitors, without a browser.

On a server of its own: the CPU time of opening each page, of pages on which nothing happens and of closed ones, and a
class whose visitors all arrive at once and press Run; each beside what it may cost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.bench._suite import Bench, Row, Suite
from mklviz.bench._visitors import Server, crowd, left_alone, on_a_server, to_open

BUDGETS = {"start": 0.5, "lessons": 0.5, "explore": 0.9, "runs": 0.7}  # CPU seconds to open a page
STAYS = 4.0  # seconds, in which a page draws what it has not sent at once
IDLE, CLOSED = 0.005, 0.002  # of a core: an open page on which nothing happens; all pages that were closed
FORGOTTEN, ALONE, WATCHED = 5, 16.0, 20.0  # pages that are left alone; seconds until they count, and that they do
CLASS = {"last page usable": 15.0, "last race ended": 90.0, "longest stall": 0.5}  # seconds
STUDENTS, ROOM = 50, 12.0  # visitors of a class, and megabytes that each may take


def within(name: str, what: str, spent: Any, most: float, note: str = "") -> Row:
    """Return what was spent, in seconds, beside the most that it may be."""
    spent = np.maximum(np.atleast_1d(np.asarray(spent, dtype=float)), 1e-4)  # what the clock does not see
    return Row.of(name, (what, spent), ("at most", np.full(len(spent), most)), goal=1.0, note=note)


def server_rows(bench: Bench) -> Iterator[Row]:
    """Measure pages on a server that is warm, and a class on another."""
    if not Path("/proc/self/stat").exists():
        yield Row.missing("server", "pages", "at most", "this system does not say what other processes cost")
        return
    bench.say("pages of a warm server")
    rounds = bench.repeats or (2 if bench.quick else 5)

    async def pages(server: Server) -> tuple[dict[str, list[float]], tuple[float, float]]:
        spent: dict[str, list[float]] = {page: [] for page in BUDGETS}
        for _ in range(rounds + 1):
            for page, seconds in spent.items():
                seconds.append(await to_open(server, f"?page={page}", STAYS))
        return spent, await left_alone(server, "?page=explore", FORGOTTEN, ALONE, WATCHED)

    spent, (idle, closed) = on_a_server(1, pages)
    for page, seconds in spent.items():
        yield within("server, CPU to open", page, seconds[1:], BUDGETS[page])  # the first is not warm
    yield within("server, CPU of a minute", "an open page", 60.0 * idle, 60.0 * IDLE)
    yield within("server, CPU of a minute", f"{FORGOTTEN} closed pages", 60.0 * closed, 60.0 * CLOSED)
    bench.say("a class")
    size, processes = 5 if bench.quick else STUDENTS, min(os.cpu_count() or 1, 4)
    came = on_a_server(processes, lambda server: crowd(server, size))
    note = f"{came.megabytes:.1f} MB a visitor, of at most {ROOM:g}; {came.cpu:.0f} CPU s in {processes} processes"
    for (what, most), took in zip(CLASS.items(), (max(came.pages), max(came.races), came.stall), strict=True):
        yield within(f"a class of {size}", what, took, most, note if what == "last race ended" else "")


SUITE = Suite("Pages", "What pages and a class cost a server, each beside the most that it may cost.", server_rows)
