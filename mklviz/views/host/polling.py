"""An answer that a page waits for is asked after every few milliseconds, rather than at the next tick of the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from panel.io import hold
from panel.io.callbacks import PeriodicCallback

__all__ = ["Polling"]

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
