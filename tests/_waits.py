"""How tests wait: for a condition, never for a time."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

__all__ = [
    "LEFT_OPEN",
    "PATIENCE",
    "Clock",
    "alive",
    "compile_nothing_ahead",
    "next_round",
    "soon",
    "wait_for",
    "wait_until_still",
]

T = TypeVar("T")
PATIENCE = 180.0  # seconds; a deadline against hanging for ever, on a machine that may be busy, and no measure of speed
PAUSE = 0.005
LEFT_OPEN: list[Any] = []
"""What a test has opened, and nobody closes before it ends."""


def compile_nothing_ahead() -> None:
    """Let pages that are built in this process leave both cores to the tests, which compile what they need."""
    from mklviz.engine.warmup import WARMUP

    WARMUP._started.acquire(blocking=False)
    WARMUP._done.set()


def wait_for(
    found: Callable[[], T],
    what: str = "what was to come",
    meanwhile: Callable[[], object] = lambda: None,
    patience: float = PATIENCE,
) -> T:
    """Call `found`, and `meanwhile` in between, until `found` returns something true; return that."""
    deadline = time.monotonic() + patience
    while not (value := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"Waited {patience:g} s in vain for {what}.")
        meanwhile()
        time.sleep(PAUSE)
    return value


def wait_until_still(
    reading: Callable[[], T], what: str, meanwhile: Callable[[], object] = lambda: None, quiet: float = 1.0
) -> T:
    """Wait until `reading` has returned the same for `quiet` seconds, and ten times: a busy machine reads slowly."""
    seen, since, equal = reading(), time.monotonic(), 0

    def still() -> bool:
        nonlocal seen, since, equal
        equal += 1
        if (now := reading()) != seen:
            seen, since, equal = now, time.monotonic(), 0
        return equal >= 10 and time.monotonic() - since >= quiet

    wait_for(still, what, meanwhile)
    return seen


async def next_round() -> None:
    """Let the event loop go round once."""
    await asyncio.sleep(0)


async def soon(
    found: Callable[[], T],
    what: str = "what was to come",
    meanwhile: Callable[[], Awaitable[object]] = next_round,
    patience: float = PATIENCE,
) -> T:
    """Do as `wait_for` does, and let the event loop go on."""
    deadline = time.monotonic() + patience
    while not (value := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"Waited {patience:g} s in vain for {what}.")
        await meanwhile()
        await asyncio.sleep(PAUSE)
    return value


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    state = Path(f"/proc/{process}/stat")
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


class Clock:
    """Shows `now`, and moves by `tick` at every look."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now
