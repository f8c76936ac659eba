"""Frames: what has been sent, what the browser has painted, and whether it has the figures that stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic, thread_time

from panel.io.document import unlocked

from mklviz.views.live.heartbeat import Heartbeat

__all__ = ["DRAWING", "Drawing", "Frames"]

MOST_UNPAINTED = 2  # frames
LOST_AFTER = 3.0  # seconds after which an acknowledgement counts as lost
SHARE = 0.25  # of a core may go into the frames of all pages
DEAR = 0.03  # CPU seconds that a frame counts at most, also if figures were built for it
FORGOTTEN = 0.1  # of what frames had cost, with each new one


class Drawing:
    """What the frames of all pages of this process cost, and how often each page may have one."""

    def __init__(self) -> None:
        self._cost = 0.0  # CPU seconds of a frame
        self._drawn: dict[int, float] = {}  # when each page had its last one

    def interval(self, now: float) -> float:
        """Return the seconds that a page has to leave between two frames."""
        return self._cost * sum(now - at < LOST_AFTER for at in self._drawn.values()) / SHARE

    @contextmanager
    def watch(self, frames: Frames) -> Iterator[None]:
        """Count what is done within, if it sends a frame."""
        before, begun = frames.sent_at, thread_time()
        yield
        if frames.sent_at > before:
            spent, known = min(thread_time() - begun, DEAR), bool(self._cost)
            self._cost += (FORGOTTEN if known else 1.0) * (spent - self._cost)
            now = monotonic()
            self._drawn = {page: at for page, at in self._drawn.items() if now - at < LOST_AFTER}
            self._drawn[id(frames)] = now


DRAWING = Drawing()


class Frames:
    """Counts frames by a heartbeat.

    Attributes
    ----------
    heartbeat : Heartbeat
    painted_at, sent_at : float
        When the last frame was painted, and when it was sent.
    """

    def __init__(self) -> None:
        self.heartbeat = Heartbeat(width=0, height=0, margin=0)
        self.painted_at = self.sent_at = 0.0
        self._figures_at = 0  # the frame after which the browser has the figures that stand

    def send(self, now: float, figures: bool = False) -> None:
        """Count a frame; with `figures`, those that stand come with it."""
        self.sent_at = now
        self.heartbeat.seq += 1
        if figures:
            self._figures_at = self.heartbeat.seq

    def acknowledge(self, now: float) -> bool:
        """Take note that a frame was painted; return whether it was the first with the figures that stand."""
        self.painted_at = now
        if 0 < self._figures_at <= self.heartbeat.ack:
            self._figures_at = 0
            return True
        return False

    def catch_up(self) -> None:
        """Take all that was sent for painted: it went to a connection that is lost."""
        self.heartbeat.ack = self.heartbeat.seq

    def behind(self, now: float) -> bool:
        """Has the browser more frames to paint than it should, and may it still be painting? Or is it others' turn?"""
        if now - self.sent_at < DRAWING.interval(now):
            return True
        unpainted = self.heartbeat.seq - self.heartbeat.ack
        return unpainted > MOST_UNPAINTED and now - max(self.painted_at, self.sent_at) < LOST_AFTER

    @property
    def stand(self) -> bool:
        """Whether the browser has the figures."""
        return self.heartbeat.ack >= self._figures_at

    def in_order(self) -> AbstractContextManager[None]:
        """Figures may queue behind other messages; until the browser has them, what changes them queues behind them."""
        return nullcontext() if self.stand else unlocked()
