"""Sends the frames of a page with a race, and knows whether the page is in a browser."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from time import monotonic

from mklviz.views.host.frames import Frames
from mklviz.views.host.page_session import is_on_page, is_served
from mklviz.views.host.workarounds import walk_models_once
from mklviz.views.race.race_page import RacePage

__all__ = ["FrameSender"]


class FrameSender:
    """Counts a frame for all that has changed on a page since the one before."""

    def __init__(self, frames: Frames, page: RacePage) -> None:
        self.frames, self._page = frames, page
        self.on_arrival: Callable[[], None] = lambda: None  # called when the browser has painted the current figures
        frames.heartbeat.param.watch(lambda _event: self._acknowledged(), "ack")

    @property
    def served(self) -> bool:
        """Whether the page is in a document with a browser on the other end."""
        return is_on_page([self._page])

    def send(self, now: float, figures: bool = False) -> None:
        """Send a frame; with `figures`, the current figures come with it."""
        if not is_served():
            self._page.push()
        self.frames.send(now, figures)

    def frozen(self) -> AbstractContextManager[object]:
        """Let Bokeh walk through all models once, at the end of what is built within."""
        return walk_models_once(self._page.document)

    def _acknowledged(self) -> None:
        if self.frames.acknowledge(monotonic()):
            self.on_arrival()
