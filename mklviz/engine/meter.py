"""CPU time of one run, split into the parts of `mklviz.problem.PARTS`.

Time is that of the thread which computes, read when a part begins and when it ends, and of those that help it: pauses,
drawing and other solvers do not count.
"""

from __future__ import annotations

import time

from mklviz.problem import PARTS

__all__ = ["Meter"]


class Meter:
    """A clock that knows what it is counting for.

    Attributes
    ----------
    seconds : dict of str to float
        CPU seconds by part.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._part, self._since = "other", 0.0

    @property
    def total(self) -> float:
        """CPU seconds in all."""
        return sum(self.seconds.values())

    def start(self) -> None:
        """Begin to count, in the calling thread."""
        self._part, self._since = "other", time.thread_time()

    def stop(self) -> None:
        """Count no longer, until the next start."""
        self.switch("other")

    def add(self, seconds: float) -> None:
        """Count what other threads spent on the part that is being counted."""
        self.seconds[self._part] += seconds

    def switch(self, part: str) -> str:
        """Count what follows as `part`; return what was counted until now."""
        now = time.thread_time()
        before = self._part
        self.seconds[before] += now - self._since
        self._part, self._since = part, now
        return before
