"""How far a long step is: what its computations report while they last, for people who wait."""

from __future__ import annotations

import time

__all__ = ["Progress"]

PATIENCE = 0.5  # seconds into a step before there is anything to say


class Progress:
    """What one run is doing in the middle of a step; written by the threads that compute, read by any other."""

    def __init__(self) -> None:
        self._begun = float("inf")
        self._doing, self._fraction = "", 1.0

    def start(self) -> None:
        """A step begins."""
        self._doing, self._begun = "", time.monotonic()

    def stop(self) -> None:
        """The step has ended."""
        self._begun = float("inf")

    def report(self, doing: str, fraction: float) -> None:
        """Take note of what is being done and which fraction of it is."""
        self._doing, self._fraction = doing, fraction

    @property
    def text(self) -> str:
        """Such as "computing the slopes of 1,000,000 kernels, 40 %", or "" where nothing takes long."""
        doing, fraction = self._doing, self._fraction
        waited = time.monotonic() - self._begun >= PATIENCE
        return f"{doing}, {100.0 * fraction:.0f} %" if waited and doing and fraction < 1.0 else ""
