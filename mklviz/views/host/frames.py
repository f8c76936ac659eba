"""Frames: which were sent, which the browser has painted, and whether it has the current figures."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from panel.io.document import unlocked

from mklviz.views.host.heartbeat import Heartbeat

__all__ = ["Frames"]

MOST_UNPAINTED = 2  # frames
LOST_AFTER = 3.0  # seconds after which an acknowledgement counts as lost


class Frames:
    """Counts frames by a heartbeat; `painted_at` and `sent_at` say when the last was painted, and when it was sent."""

    def __init__(self) -> None:
        self.heartbeat = Heartbeat(width=0, height=0, margin=0)
        self.painted_at = self.sent_at = 0.0
        self._figures_at = 0  # the frame after which the browser has the current figures

    def send(self, now: float, figures: bool = False) -> None:
        """Count a frame; with `figures`, the current figures come with it."""
        self.sent_at = now
        self.heartbeat.seq += 1
        if figures:
            self._figures_at = self.heartbeat.seq

    def acknowledge(self, now: float) -> bool:
        """Note that a frame was painted; return whether it was the first with the current figures."""
        self.painted_at = now
        if 0 < self._figures_at <= self.heartbeat.ack:
            self._figures_at = 0
            return True
        return False

    @property
    def followed(self) -> bool:
        """Whether the browser has painted all frames but the last few."""
        return self.heartbeat.seq - self.heartbeat.ack <= MOST_UNPAINTED

    def behind(self, now: float) -> bool:
        """Return whether the browser has too many frames left to paint, and may still be painting."""
        return not self.followed and now - max(self.painted_at, self.sent_at) < LOST_AFTER

    @property
    def stand(self) -> bool:
        """Whether the browser has the figures."""
        return self.heartbeat.ack >= self._figures_at

    def lost(self, now: float) -> bool:
        """Return whether the browser should have acknowledged the figures by now, and has not."""
        return not self.stand and now - self.sent_at > LOST_AFTER

    def ready(self, now: float) -> bool:
        """Return whether the figures may be changed: no change may reach the browser before the figures do."""
        return self.stand or self.lost(now)

    def in_order(self) -> AbstractContextManager[None]:
        """Return a context in which changes of figures are sent at once, unless the figures are still in the queue.

        Figures may queue behind other messages; until the browser has them, their changes must queue behind them.
        """
        return nullcontext() if self.stand else unlocked()
