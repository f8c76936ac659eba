"""Work that takes its time, in a thread of its own: how far it is, what came of it, and a way to stop it.

Where it is begun on an event loop, which may have pages to answer, the loop goes first: every few reports the work
waits until the loop has come round. Two threads that both want the interpreter hand it over every 5 ms, and on a busy
machine each of them then queues for a core once more, so that an answer of a tenth of a second took two.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from mklviz.errors import Interrupted, MklvizError

__all__ = ["Background"]

_log = logging.getLogger(__name__)

SLICE = 0.02  # seconds of work between two rounds of the loop
PATIENCE = 1.0  # seconds to wait for a round at most: the loop may wait for what this thread holds
LOOK = 0.05  # seconds between two looks at whether the loop still runs

T = TypeVar("T")


class _Loop:
    """The event loop that work was begun on, if any."""

    def __init__(self) -> None:
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        self._since = time.monotonic()

    def go_first(self) -> None:
        """Wait until the loop has answered whatever it has to, if the last time was a slice ago."""
        if self._loop is None or time.monotonic() - self._since < SLICE:
            return
        round_ = threading.Event()
        try:
            self._loop.call_soon_threadsafe(round_.set)
        except RuntimeError:  # closed: nobody is left to go first
            self._loop = None
            return
        until = time.monotonic() + PATIENCE
        while not round_.wait(LOOK) and self._loop.is_running() and time.monotonic() < until:
            pass  # a loop that ends meanwhile comes round no more
        self._since = time.monotonic()


class Background(Generic[T]):
    """One computation in a thread; nothing here touches the page.

    `compute`: given a function that takes the fraction done, and that raises `Interrupted` once the work is cancelled;
    `what`: what is computed, as the beginning of a sentence that ends with "could not be computed"; `fraction`: how
    much is done; `result`: what was computed, once `ended` is set; `trouble`: why there is no result, as a sentence.
    """

    def __init__(self, compute: Callable[[Callable[[float], None]], T], what: str) -> None:
        self.fraction, self.trouble = 0.0, ""
        self.result: T | None = None
        self._compute, self._what = compute, what
        self._cancelled, self._ended = threading.Event(), threading.Event()
        self._loop = _Loop()
        threading.Thread(target=self._run, name="mklviz-background", daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self._ended.is_set()

    def cancel(self) -> None:
        """Stop at the next report."""
        self._cancelled.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; return whether it came."""
        return self._ended.wait(seconds)

    def _run(self) -> None:
        try:
            self.result = self._compute(self._report)
        except Interrupted:
            self.trouble = "Stopped by hand."
        except MklvizError as error:
            self.trouble = str(error)
        except BaseException:  # a plug-in's, too: nobody but who waits would hear of it
            _log.exception("%s could not be computed", self._what)
            self.trouble = f"{self._what} could not be computed; the server's log says more."
        finally:
            self._ended.set()

    def _report(self, fraction: float) -> None:
        self.fraction = fraction
        self._loop.go_first()
        if self._cancelled.is_set():
            raise Interrupted("The work was stopped.")
