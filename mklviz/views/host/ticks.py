"""Repeated calls on a page while its session lasts."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from time import monotonic

from panel.io.callbacks import PeriodicCallback

from mklviz.views.host.frame_rate import FRAME_RATE
from mklviz.views.host.loop_lock import loop_lock

__all__ = ["Ticks"]


class Ticks:
    """Calls a coroutine every so many seconds, or less often while the process draws many pages.

    Panel neither logs the calls nor marks the page busy for them.
    """

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
