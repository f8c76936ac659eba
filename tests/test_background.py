"""Work beside a page: the event loop it was begun on goes first, and work that nobody wants any more ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from mklviz.engine import background
from mklviz.engine.background import Background


class Counting:
    """Work in small steps, which are counted."""

    def __init__(self) -> None:
        self.steps = 0
        self.enough = threading.Event()

    def __call__(self, report: Callable[[float], None]) -> int:
        while not self.enough.is_set():
            time.sleep(0.002)
            self.steps += 1
            report(0.5)
        return self.steps


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the loop go first at each step, however long it takes."""
    monkeypatch.setattr(background, "SLICE", 0.0)
    monkeypatch.setattr(background, "PATIENCE", 120.0)


async def until(found: Callable[[], bool]) -> None:
    for _ in range(6_000):
        if found():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("Waited in vain.")


@pytest.mark.usefixtures("every_step")
def test_while_the_loop_answers_the_work_waits() -> None:
    async def page() -> tuple[int, int]:
        counting = Counting()
        work = Background(counting, "Counting")
        await until(lambda: counting.steps > 3)
        before = counting.steps
        time.sleep(0.3)  # an answer that takes its time
        meanwhile = counting.steps - before
        await until(lambda: counting.steps > before + 3)
        counting.enough.set()
        await until(lambda: work.ended)
        return meanwhile, work.result or 0

    meanwhile, steps = asyncio.run(page())
    assert meanwhile <= 1  # the step under way
    assert steps > 6


def goes_on(counting: Counting, before: int) -> None:
    deadline = time.monotonic() + 60
    while counting.steps <= before + 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert counting.steps > before + 3


@pytest.mark.usefixtures("every_step")
def test_work_outlives_the_loop_and_needs_none() -> None:
    counting = Counting()

    async def page() -> Background[int]:
        work = Background(counting, "Counting")
        await until(lambda: counting.steps > 0)
        return work

    work, other = asyncio.run(page()), Background(Counting(), "Counting")
    before = counting.steps
    goes_on(counting, before)
    for each in (work, other):
        each.cancel()
        assert each.wait(60)
        assert each.trouble == "Stopped by hand."
        assert each.result is None


@pytest.mark.usefixtures("every_step")
def test_a_loop_that_stands_still_is_not_waited_for() -> None:
    counting = Counting()

    async def page() -> Background[int]:
        return Background(counting, "Counting")

    loop = asyncio.new_event_loop()  # stopped and not closed: what is handed to it stays where it is
    work = loop.run_until_complete(page())
    goes_on(counting, counting.steps)
    work.cancel()
    assert work.wait(60)
    loop.close()
