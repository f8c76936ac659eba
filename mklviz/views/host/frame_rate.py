"""How often one process draws each of its pages: so often that time is left for everything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, thread_time
from typing import Protocol

__all__ = ["FRAME_RATE", "FrameRate"]

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
