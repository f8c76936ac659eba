"""Decide when Python looks through all objects for unused ones.

With thirty pages a full collection takes a second, in which no race is drawn and no request answered. Python collects
while pages are built, as that makes many objects. The server collects when no page is drawn, or when it has put a
collection off for long beside what the last one took.
"""

from __future__ import annotations

import gc
from time import monotonic

from mklviz.context.allocator import give_back
from mklviz.views.host.frame_rate import FRAME_RATE

__all__ = ["GarbageCollection"]

LOOK_EVERY = 5.0  # seconds
PUT_OFF_FOR = 120.0  # seconds, at most
TIMES = 40.0  # the seconds that the last collection took, for which the next is put off while pages are drawn
NEVER = 1_000_000  # collections of young objects before Python collects everything by itself
WORTH_IT = 3  # such collections before there may be anything to find


class GarbageCollection:
    """Collects unused objects when there is time, and gives their memory back to the machine.

    Objects that exist at its creation count as used for good.
    """

    def __init__(self) -> None:
        begun = monotonic()
        gc.collect()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, NEVER)
        self._done_at = monotonic()
        self._took = self._done_at - begun
        self._collections = _collections()

    def collect_in_time(self) -> None:
        """Collect if there is time, or if it cannot be put off."""
        now = monotonic()
        waited = now - self._done_at
        # Panel collects after pages end, and hands nothing back
        due = gc.get_count()[2] >= WORTH_IT or _collections() != self._collections
        ready = waited > TIMES * self._took or FRAME_RATE.pages(now) == 0
        if (due and ready) or waited > PUT_OFF_FOR:  # after the last page no new objects arrive
            gc.collect()
            give_back()
            self._done_at, self._collections = monotonic(), _collections()
            self._took = self._done_at - now


def _collections() -> int:
    """Return how often all objects have been looked through, by whomever."""
    return int(gc.get_stats()[2]["collections"])
