"""Figures that stay on a page while their data change: no change may reach the browser before the figures do."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

from mklviz.views.host.frames import Frames
from mklviz.views.host.page_session import is_on_page

__all__ = ["FigureSync"]


class FigureSync:
    """Knows whether the browser has the figures of a tab; the heartbeat of its frames belongs on the page."""

    def __init__(self) -> None:
        self.frames = Frames()
        self.frames.heartbeat.param.watch(lambda _: self.frames.acknowledge(monotonic()), "ack")
        self._sent: tuple[int, ...] = ()

    def ready(self, plots: Sequence[Any]) -> bool:
        """Return whether the figures may be changed now: new ones only when the browser has them."""
        if not all(is_on_page([plot]) for plot in plots):
            return True
        figures = tuple(map(id, plots))
        if figures != self._sent:
            self._sent = figures
            self.frames.send(monotonic(), figures=True)
        return self.frames.ready(monotonic())
