"""What the dashboard costs: its pages on the server, a class of visitors, and in a real Chromium.

On a server of its own, without a browser: the CPU time of opening each page, of pages on which nothing happens and of
closed ones, and a class whose visitors all arrive at once and press Run; each beside what it may cost. In a browser:
Opening the page, and the first curves of its races, beside a bare page of the same shell. A curve's first point counts
from the press of Run, with compiled kernels and a built bank: after Reset, when all figures are built anew, and for
another race of the same solvers.

Chromium draws in software where there is no GPU, so its numbers hold for this machine only.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
from panel.io.server import get_server
from panel.models.esm import ReactiveESM
from tornado.ioloop import IOLoop

from mklviz.bench._suite import Bench, Row, Suite
from mklviz.bench._visitors import Server, crowd, left_alone, on_a_server, to_open
from mklviz.engine.warmup import WARMUP
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.navigation import START
from mklviz.views.host.panel_setup import configure
from mklviz.views.start.front_page import FrontPage

INPUTS, SERVES = 12, "served"
SETTLED = 700  # milliseconds after a page can be used, in which it still draws
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")
GOAL = 0.25  # the server may work four times as long as for the bare page
LENGTHS = """() => new Map([...Bokeh.documents[0].all_models]
  .filter((m) => (m.name ?? "").startsWith("run-")).map((source) => [source.id, source.get_length()]))"""
# resolves when a source has points that were not there before; those of the race before may linger
PRESS = f"""(button) => {{
  const lengths = {LENGTHS}, before = lengths(), pressed = performance.now()
  const begun = () => [...lengths()].some(([id, length]) => length > 0 && length < (before.get(id) || Infinity))
  button.click()
  return new Promise((done) => {{
    const look = () => begun() ? done(performance.now() - pressed) : setTimeout(look, 5)
    look()
  }})
}}"""


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


def _configured() -> pmui.Page:
    configure()
    return dashboard()


def start_page() -> pmui.Page:
    """Return the page that a first visitor sees."""
    return FrontPage(START).page()


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
    pages = {"start page": start_page, "dashboard": dashboard, "bare page": bare_page}
    seconds = bench.alternate({name: partial(opened, make) for name, make in pages.items()}, 5)
    bare = ("bare page", seconds["bare page"])
    for name in ("start page", "dashboard"):
        note = f"{opened(pages[name])}; bare {opened(bare_page)}"
        yield Row.of(f"server, {name} of one visitor", (name, seconds[name]), bare, goal=GOAL, note=note)


@contextmanager
def chromium() -> Iterator[Any]:
    """Open a browser."""
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = os.environ.get("MKLVIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        raise FileNotFoundError(f"No browser: neither MKLVIZ_CHROMIUM nor any of {', '.join(names)} is there.")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise FileNotFoundError("No browser: playwright is not installed.") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def served(pages: Mapping[str, Callable[[], Any]]) -> Iterator[str]:
    """Serve pages from a thread of this process, and give the address above them."""
    ready, servers = threading.Event(), list[Any]()

    def serve() -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        servers.append(get_server({**pages}, port=0, loop=IOLoop.current()))
        servers[0].start()
        ready.set()
        IOLoop.current().start()

    thread = threading.Thread(target=serve, name=SERVES, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield f"http://localhost:{servers[0].port}"
    finally:
        servers[0].io_loop.add_callback(servers[0].io_loop.stop)
        thread.join()


def open_pages(browser: Any, address: str, rounds: int) -> dict[str, np.ndarray[Any, Any]]:
    """Open both pages in turn, (rounds, 2) each: CPU seconds of the page, and seconds until it can be used."""
    visits_of: dict[str, list[tuple[float, float]]] = {"explorer": [], "bare": []}
    for _ in range(rounds):
        for name, visits in visits_of.items():
            visits.append(_visit(browser, f"{address}/{name}"))
    return {name: np.array(visits) for name, visits in visits_of.items()}


def _visit(browser: Any, address: str) -> tuple[float, float]:
    """Open a page in a context of its own, which has nothing in its cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    probe = context.new_cdp_session(page)
    probe.send("Performance.enable")
    page.goto(address, wait_until="commit")
    if address.endswith("bare"):
        page.get_by_label(f"field {INPUTS - 1}").wait_for()
    else:
        page.get_by_role("button", name="Run").first.click(trial=True)  # waits until it would be heard
    usable = page.evaluate("() => performance.now()") / 1e3
    page.wait_for_timeout(SETTLED)
    spent = {metric["name"]: metric["value"] for metric in probe.send("Performance.getMetrics")["metrics"]}
    context.close()
    return spent["TaskDuration"], usable


def server_seconds() -> float:
    """Return the CPU seconds of the thread that serves (Linux)."""
    (thread,) = (thread for thread in threading.enumerate() if thread.name == SERVES)
    stat = Path(f"/proc/self/task/{thread.native_id}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def _page_at(browser: Any, address: str) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.goto(address)
    page.locator("#loader").wait_for(state="hidden")
    return page


def button(page: Any, text: str) -> Any:
    """Return the button with this text that is seen on a page."""
    return page.locator("button:visible").filter(has_text=re.compile(rf"^\W*{text}$")).element_handle()


def compare(bench: Bench) -> Iterator[Row]:
    """Yield what pages and a class cost a server, the page beside a bare one, and the way from Run to a curve."""
    yield from server_rows(bench)
    WARMUP.start()
    WARMUP.wait(600.0)
    yield from page_rows(bench)
    rounds = bench.repeats or (2 if bench.quick else 4)
    try:
        with chromium() as browser, served({"explorer": _configured, "bare": bare_page}) as address:
            bench.say("pages in the browser")
            visits = open_pages(browser, address, rounds)
            ours, bare = visits["explorer"], visits["bare"]
            yield Row.of("browser, CPU to open", ("dashboard", ours[:, 0]), ("bare page", bare[:, 0]))
            yield Row.of("usable after a cold load", ("dashboard", ours[:, 1]), ("bare page", bare[:, 1]))
            bench.say("races in the browser")
            for name, seconds in _first_points(_page_at(browser, f"{address}/explorer"), rounds).items():
                yield Row.of(name, ("dashboard", seconds), ("bare page, to open", bare[:, 1]))
    except FileNotFoundError as error:
        yield Row.missing("browser", "dashboard", "bare page", str(error))


def _first_points(page: Any, rounds: int) -> dict[str, Any]:
    """Return seconds from Run to the first point, after Reset and with the figures there, and the server's CPU then."""
    names = ("first curve after Run", "first curve of another race", "server CPU of another race")
    seconds_of: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        seconds_of[names[0]].append(page.evaluate(PRESS, button(page, "Run")) / 1e3)
        _until_finished(page)
        begun = server_seconds()
        seconds_of[names[1]].append(page.evaluate(PRESS, button(page, "Run")) / 1e3)
        seconds_of[names[2]].append(server_seconds() - begun)
        _until_finished(page)
        button(page, "Reset").click()
        page.wait_for_timeout(1000)
    return {name: np.array(seconds) for name, seconds in seconds_of.items()}


def _until_finished(page: Any) -> None:
    page.get_by_role("status").filter(has_text=re.compile("ha(s|ve) finished")).wait_for()
    page.wait_for_timeout(1000)


SUITE = Suite(
    "Pages",
    "What pages and a class cost beside what they may; the dashboard beside a bare page of its shell, a figure and"
    " twelve inputs: how many times sooner ours is.",
    compare,
)
