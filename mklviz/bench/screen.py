"""What the dashboard costs to open and while six solvers stream, measured with a real Chromium.

    mklviz bench screen
    python -m mklviz.bench.screen [--seconds 20] [--pace 10]

The first compares opening the page, and the first curves of its races, with a bare page of the same shell; the second
watches a race:

- *first point*: from the press of Run, with compiled kernels and a built bank, to the first point of a curve;
  once after Reset, when all figures are built anew, and once for another race of the same solvers
- *server CPU*: share of one core that the server uses beside its solver threads, and their share
- *page stall*: longest time between two animation frames of the page; *painted*: frames of the race painted per second
- *server stall*: longest delay of a 20 ms clock on the server's event loop

Chromium draws in software where there is no GPU, so its numbers hold for this machine only.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.bench._opening import bare_page, chromium, open_pages, page_rows
from mklviz.bench._served import Served
from mklviz.bench._suite import Bench, Found, Row, Suite
from mklviz.engine import solver_classes
from mklviz.engine.scheduler import THREAD_PREFIX
from mklviz.engine.warmup import WARMUP
from mklviz.problem import Hinge, Simplex
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.sidebar.formulations import example

__all__ = ["SUITE", "Screen", "main", "measure"]

CLOCK = 0.02  # seconds
PAINTED = """() => [...Bokeh.documents[0].all_models]
  .map((m) => m.data?.ack ?? m.ack).filter((ack) => ack !== undefined)[0]"""
LENGTHS = """() => new Map([...Bokeh.documents[0].all_models]
  .filter((m) => (m.name ?? "").startsWith("run-")).map((source) => [source.id, source.get_length()]))"""
WATCH = """() => { window.stall = 0; let last = performance.now(); const look = (now) => {
  window.stall = Math.max(window.stall, now - last); last = now; requestAnimationFrame(look) }
  requestAnimationFrame(look) }"""
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


@dataclass(frozen=True)
class Screen:
    """What was measured: seconds, shares of a core, and frames per second."""

    first_point: float
    again: float
    server_cpu: float
    solver_cpu: float
    page_stall: float
    server_stall: float
    painted: float

    def __str__(self) -> str:
        rows = (
            ("first point, figures to be built", f"{1e3 * self.first_point:.0f} ms"),
            ("first point, figures there", f"{1e3 * self.again:.0f} ms"),
            ("server CPU beside the solvers", f"{100 * self.server_cpu:.0f} % of a core"),
            ("solver threads", f"{100 * self.solver_cpu:.0f} % of a core"),
            ("longest stall of the page", f"{1e3 * self.page_stall:.0f} ms"),
            ("longest stall of the server", f"{1e3 * self.server_stall:.0f} ms"),
            ("frames painted", f"{self.painted:.1f} per second"),
        )
        return "\n".join(f"{name:<36}{value:>16}" for name, value in rows)


class LoopWatch:
    """Measures how late a clock on an event loop is."""

    def __init__(self, loop: Any) -> None:
        self.worst = 0.0
        loop.add_callback(self._tick)

    async def _tick(self) -> None:
        while True:
            due = time.perf_counter() + CLOCK
            await asyncio.sleep(CLOCK)
            self.worst = max(self.worst, time.perf_counter() - due)


def thread_seconds(solvers: bool) -> float:
    """Return the CPU seconds of the living solver threads of this process, or of the thread that serves (Linux)."""
    chosen = [t for t in threading.enumerate() if t.name.startswith(THREAD_PREFIX if solvers else "served")]
    ticks = 0
    for thread in chosen:
        stat = Path(f"/proc/self/task/{thread.native_id}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def page_of(served: Served) -> Iterator[Any]:
    """Open the dashboard in Chromium."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(f"http://localhost:{served.port}/explorer")
        page.locator("#loader").wait_for(state="hidden")
        yield page


def measure(seconds: float = 20.0, pace: float = 10.0) -> Screen:
    """Race six solvers at `pace` steps per second each, and measure for `seconds`."""
    posed = example(Hinge(), Simplex())
    names = [name for name, found in solver_classes().items() if not found().refusal(posed)][:6]
    race = Recipe(
        data=DataChoice("heart"), solvers=tuple(map(SolverChoice, names)), stop=StopChoice(gap=1e-12, max_iter=100_000)
    )

    def build() -> Explorer:
        explorer = Explorer()
        explorer.sidebar.load(race)
        explorer.run_panel.pace.value = pace
        return explorer

    WARMUP.start()
    WARMUP.wait(600.0)
    served = Served(build)
    try:
        with page_of(served) as page:
            page.evaluate(PRESS, _button(page, "Run"))  # builds the bank
            page.wait_for_timeout(5000)
            _button(page, "Reset").click()
            page.wait_for_timeout(3000)
            first_point = page.evaluate(PRESS, _button(page, "Run")) / 1e3
            page.wait_for_timeout(5000)
            _button(page, "Stop").click()
            page.wait_for_timeout(2000)
            again = page.evaluate(PRESS, _button(page, "Run")) / 1e3
            page.wait_for_timeout(3000)
            return _watch(page, served, seconds, first_point, again)
    finally:
        served.close()


def _button(page: Any, text: str) -> Any:
    return page.locator("button:visible").filter(has_text=re.compile(rf"^\W*{text}$")).element_handle()


def _watch(page: Any, served: Served, seconds: float, *points: float) -> Screen:
    loop = LoopWatch(served.loop)
    page.evaluate(WATCH)
    painted, begun = page.evaluate(PAINTED), time.perf_counter()
    server, solvers = thread_seconds(solvers=False), thread_seconds(solvers=True)
    page.wait_for_timeout(1e3 * seconds)
    server, solvers = thread_seconds(solvers=False) - server, thread_seconds(solvers=True) - solvers
    lasted = time.perf_counter() - begun
    frames, stall = page.evaluate(PAINTED) - painted, page.evaluate("() => window.stall") / 1e3
    return Screen(*points, server / lasted, solvers / lasted, stall, loop.worst, frames / lasted)


def compare(bench: Bench) -> Iterator[Found]:
    """Yield the page beside the bare one: on the server, in the browser, and from Run to the first curve."""
    WARMUP.start()
    WARMUP.wait(600.0)
    yield from page_rows(bench)
    rounds = bench.repeats or (2 if bench.quick else 4)
    served = Served(others={"bare": bare_page})
    try:
        with chromium() as browser:
            bench.say("pages in the browser")
            found = open_pages(browser, served, rounds)
        ours, bare = found["explorer"], found["bare"]
        yield Row.of("browser, CPU to open", ("dashboard", ours[:, 0]), ("bare page", bare[:, 0]))
        yield Row.of("usable after a cold load", ("dashboard", ours[:, 1]), ("bare page", bare[:, 1]))
        bench.say("races in the browser")
        with page_of(served) as page:
            for name, seconds in _first_points(page, served, rounds).items():
                yield Row.of(name, ("dashboard", seconds), ("bare page, to open", bare[:, 1]))
    except FileNotFoundError as error:
        yield Row.missing("browser", "dashboard", "bare page", str(error))
    finally:
        served.close()


def _first_points(page: Any, served: Served, rounds: int) -> dict[str, Any]:
    """Return seconds from Run to the first point, after Reset and with the figures there, and the server's CPU then."""
    names = ("first curve after Run", "first curve of another race", "server CPU of another race")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        found[names[0]].append(page.evaluate(PRESS, _button(page, "Run")) / 1e3)
        _until_finished(page)
        begun = thread_seconds(solvers=False)
        found[names[1]].append(page.evaluate(PRESS, _button(page, "Run")) / 1e3)
        found[names[2]].append(thread_seconds(solvers=False) - begun)
        _until_finished(page)
        _button(page, "Reset").click()
        page.wait_for_timeout(1000)
    return {name: np.array(seconds) for name, seconds in found.items()}


def _until_finished(page: Any) -> None:
    page.get_by_role("status").filter(has_text=re.compile("ha(s|ve) finished")).wait_for()
    page.wait_for_timeout(1000)


SUITE = Suite(
    "Opening the page",
    "The dashboard beside a bare page of its shell, a figure and twelve inputs: how many times sooner ours is.",
    compare,
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pace", type=float, default=10.0, help="steps per second of each solver: 1, 2, 10 or 50")
    arguments = parser.parse_args()
    try:
        print(measure(arguments.seconds, arguments.pace))
    except FileNotFoundError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
