"""What the dashboard costs while six solvers stream, measured with a real Chromium.

    python .ci/measure streaming [--seconds 20] [--pace 10]

- `first_ms`: from the press of Run, with compiled kernels and a built bank, to the first point of a curve, after Reset,
  when all figures are built anew; `again_ms`: the same for another race of the same solvers
- `server_CPU`, `solvers_CPU`: per cent of one core that the server uses beside its solver threads, and their share
- `page_stall_ms`: longest time between two animation frames of the page; `painted`: frames painted per second
- `server_stall_ms`: longest delay of a 20 ms clock on the server's event loop

Chromium draws in software where there is no GPU, so its numbers hold for this machine only.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from measure.report import Row, parser, print_rows
from mklviz.bench._served import Served
from mklviz.bench.screen import PRESS, button, page_of, thread_seconds
from mklviz.engine import solver_classes
from mklviz.engine.warmup import WARMUP
from mklviz.problem import Hinge, Simplex
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.sidebar.problem_panel import example

CLOCK = 0.02  # seconds
PAINTED = """() => [...Bokeh.documents[0].all_models]
  .map((m) => m.data?.ack ?? m.ack).filter((ack) => ack !== undefined)[0]"""
WATCH = """() => { window.stall = 0; let last = performance.now(); const look = (now) => {
  window.stall = Math.max(window.stall, now - last); last = now; requestAnimationFrame(look) }
  requestAnimationFrame(look) }"""


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


def measure(seconds: float = 20.0, pace: float = 10.0) -> Row:
    """Race six solvers at `pace` steps per second each, and measure for `seconds`."""
    posed = example(Hinge(), Simplex())
    names = [name for name, solver in solver_classes().items() if not solver().refusal(posed)][:6]
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
            page.evaluate(PRESS, button(page, "Run"))  # builds the bank
            page.wait_for_timeout(5000)
            button(page, "Reset").click()
            page.wait_for_timeout(3000)
            first_point = page.evaluate(PRESS, button(page, "Run")) / 1e3
            page.wait_for_timeout(5000)
            button(page, "Stop").click()
            page.wait_for_timeout(2000)
            again = page.evaluate(PRESS, button(page, "Run")) / 1e3
            page.wait_for_timeout(3000)
            return _watch(page, served, seconds, first_point, again)
    finally:
        served.close()


def _watch(page: Any, served: Served, seconds: float, first_point: float, again: float) -> Row:
    loop = LoopWatch(served.loop)
    page.evaluate(WATCH)
    painted, begun = page.evaluate(PAINTED), time.perf_counter()
    server, solvers = thread_seconds(solvers=False), thread_seconds(solvers=True)
    page.wait_for_timeout(1e3 * seconds)
    server, solvers = thread_seconds(solvers=False) - server, thread_seconds(solvers=True) - solvers
    lasted = time.perf_counter() - begun
    frames, stall = page.evaluate(PAINTED) - painted, page.evaluate("() => window.stall") / 1e3
    return Row(
        first_ms=1e3 * first_point,
        again_ms=1e3 * again,
        server_CPU=100.0 * server / lasted,
        solvers_CPU=100.0 * solvers / lasted,
        page_stall_ms=1e3 * stall,
        server_stall_ms=1e3 * loop.worst,
        painted=frames / lasted,
    )


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    known = parser("streaming", __doc__)
    known.add_argument("--seconds", type=float, default=20.0)
    known.add_argument("--pace", type=float, default=10.0, help="steps per second of each solver: 1, 2, 10 or 50")
    asked = known.parse_args(arguments)
    try:
        print_rows([measure(asked.seconds, asked.pace)])
    except FileNotFoundError as error:
        sys.exit(str(error))
