"""Repeated calls on a page, and how many of them the event loop of one process bears."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import monotonic, thread_time
from typing import Protocol
from weakref import WeakKeyDictionary

from panel.io import hold
from panel.io.callbacks import PeriodicCallback

__all__ = ["FRAME_RATE", "FrameRate", "Polling", "Ticks", "loop_lock"]

ROUNDS = 4  # of the event loop: a small request is accepted, read and answered in so many

_LOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


@asynccontextmanager
async def loop_lock() -> AsyncIterator[None]:
    """Wait until no other task of this event loop is within, and let the loop do everything else before the next."""
    async with _LOCKS.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        yield
        for _ in range(ROUNDS):
            await asyncio.sleep(0)


SHARE = 0.25  # of a core may go into the frames of all pages
MOST_COST = 0.03  # CPU seconds that a frame counts at most, even if figures were built for it
FORGOTTEN = 0.1  # share of the former mean cost that each new frame replaces
FORGET_AFTER = 3.0  # seconds without a frame after which a page does not count
LONGEST = 1.0  # seconds between two frames of a page, however many pages there are


class Sending(Protocol):
    """Sends the frames of a page, and knows when it sent the last."""

    sent_at: float


class FrameRate:
    """The cost of the frames of all pages of this process, and how often each page may have one."""

    def __init__(self) -> None:
        self._cost = 0.0  # CPU seconds of a frame
        self._drawn: dict[int, float] = {}  # when each page had its last frame

    def interval(self, now: float) -> float:
        """Return the seconds that must pass between two frames of a page."""
        return min(self._cost * self.pages(now) / SHARE, LONGEST)

    def pages(self, now: float) -> int:
        """Return how many pages are being drawn."""
        return sum(now - at < FORGET_AFTER for at in self._drawn.values())

    @contextmanager
    def watch(self, frames: Sending) -> Iterator[None]:
        """Count the cost of everything within, if it sends a frame."""
        before, begun = frames.sent_at, thread_time()
        yield
        if frames.sent_at > before:
            spent = min(thread_time() - begun, MOST_COST)
            self._cost += (FORGOTTEN if self._cost else 1.0) * (spent - self._cost)
            now = monotonic()
            self._drawn = {page: at for page, at in self._drawn.items() if now - at < FORGET_AFTER}
            self._drawn[id(frames)] = now


FRAME_RATE = FrameRate()


class Ticks:
    """Calls a coroutine every so many seconds, or less often while the process draws many pages; it is not logged."""

    def __init__(self, seconds: float, callback: Callable[[], Awaitable[None]]) -> None:
        self._seconds, self._callback = seconds, callback
        self._called_at = -math.inf
        self._periodic: PeriodicCallback | None = None

    @property
    def begun(self) -> bool:
        """Whether they have been started, even if they have been stopped since."""
        return self._periodic is not None

    def start(self) -> None:
        """Begin, once."""
        if self._periodic is None:
            period = int(1000 * self._seconds)
            self._periodic = PeriodicCallback(callback=self._call, period=period, log=False, background=True)
            self._periodic.start()

    def stop(self) -> None:
        """End for good."""
        if self._periodic is not None:
            self._periodic.stop()

    async def _call(self) -> None:
        now = monotonic()
        if now - self._called_at >= FRAME_RATE.interval(now):
            self._called_at = now
            async with loop_lock():
                await self._callback()


PERIOD = 8  # milliseconds


class Polling:
    """Calls `look` every few milliseconds, from `begin` on, until it returns true; with the lock of the document."""

    def __init__(self, look: Callable[[], bool]) -> None:
        self._look = look
        self._periodic: PeriodicCallback | None = None

    def begin(self) -> None:
        """Begin, or go on; where there is no event loop yet, whoever ticks looks."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        if self._periodic is None:
            self._periodic = PeriodicCallback(callback=self._call, period=PERIOD, log=False, background=True)
            self._periodic.start()

    @property
    def going(self) -> bool:
        """Whether an answer is awaited."""
        return self._periodic is not None

    def end(self) -> None:
        """Ask no more."""
        if self._periodic is not None:
            self._periodic.stop()
            self._periodic = None

    def _call(self) -> None:
        with hold(policy="collect"):  # one message for all that is drawn
            if self._look():
                self.end()
