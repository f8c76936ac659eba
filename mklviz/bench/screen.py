"""What the dashboard costs a server: its pages, and a class of visitors, without a browser.

On a server of its own: the CPU time of opening each page, of pages on which nothing happens and of closed ones, and a
class whose visitors all arrive at once and press Run; each beside what it may cost. In this process: building the page
of a visitor, beside a bare page of the same shell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.plotting import figure
from panel.models.esm import ReactiveESM

from mklviz.bench._suite import Bench, Row, Suite
from mklviz.bench._visitors import Server, crowd, left_alone, on_a_server, to_open
from mklviz.engine.warmup import WARMUP
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.page import START
from mklviz.views.start.front_page import FrontPage

INPUTS = 12
GOAL = 0.25  # the server may work four times as long as for the bare page


def bare_page() -> pmui.Page:
    """Return a page of the same shell with next to nothing on it."""
    plot = figure(height=300)
    plot.line([1, 2], [1, 2])
    fields = [
        pmui.Select(label=f"field {k}", options=["a", "b"]) if k % 2 else pmui.TextInput(label=f"field {k}")
        for k in range(INPUTS)
    ]
    return pmui.Page(title="bare", sidebar=fields, main=[pn.pane.Bokeh(plot)], busy_indicator=None)


def dashboard() -> pmui.Page:
    """Return the page of one visitor."""
    return Explorer().page()


@dataclass(frozen=True)
class Size:
    """How large a page is: models of Bokeh, components with a script of their own, bytes of the document."""

    models: int
    components: int
    nbytes: int

    def __str__(self) -> str:
        return f"{self.models} models, {self.components} components, {self.nbytes / 1e3:.0f} kB"


def opened(make: Callable[[], pmui.Page]) -> Size:
    """Build and write a page as a server does for a visitor."""
    document = Document()
    make().server_doc(document)
    text = serialize_json(document.to_json())
    models = list(document.models)
    return Size(len(models), sum(isinstance(model, ReactiveESM) for model in models), len(text))


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


def page_rows(bench: Bench) -> Iterator[Row]:
    """Compare what the server does for one visitor."""
    bench.say("a page on the server")
    pages = {"start page": lambda: FrontPage(START).page(), "dashboard": dashboard, "bare page": bare_page}
    seconds = bench.alternate({name: partial(opened, make) for name, make in pages.items()}, 5)
    bare = ("bare page", seconds["bare page"])
    for name in ("start page", "dashboard"):
        note = f"{opened(pages[name])}; bare {opened(bare_page)}"
        yield Row.of(f"server, {name} of one visitor", (name, seconds[name]), bare, goal=GOAL, note=note)


def compare(bench: Bench) -> Iterator[Row]:
    """Yield what pages and a class cost a server, and the page beside a bare one."""
    yield from server_rows(bench)
    WARMUP.start()
    WARMUP.wait(600.0)
    yield from page_rows(bench)


SUITE = Suite(
    "Pages",
    "What pages and a class cost beside what they may; the dashboard beside a bare page of its shell, a figure and"
    " twelve inputs: how many times sooner ours is.",
    compare,
)
