"""Frames: which were sent, which the browser has painted, and what Bokeh knows of the models that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import monotonic
from typing import Any, ClassVar

import param
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent
from bokeh.models import ColumnDataSource
from panel.io.document import unlocked

from mklviz.views.host.beside import beside
from mklviz.views.host.components import Pulse
from mklviz.views.host.page_session import is_on_page

STEP_KEYS = ("ArrowLeft", "ArrowRight", "Home", "End")  # as the browser calls them


class Heartbeat(Pulse):
    """Invisible part of a page."""

    seq = param.Integer(default=0, doc="Last frame sent")
    ack = param.Integer(default=0, doc="Last frame painted")
    key = param.String(default="", doc="Last of the keys pressed outside a text field")
    steps = param.Boolean(default=False, doc="Whether arrows, Home and End are listened to, and do not move the page")
    presses = param.Integer(default=0, doc="How many were pressed; changes even if it is the same key again")

    # these are no work, and the shell of a page walks through all its models whenever "busy" changes
    _busy__ignore: ClassVar[list[str]] = ["ack", "key", "presses"]
    _told, _heard = "seq", "ack"

    _esm = beside(__file__, "heartbeat.js")

    def on_key(self, react: Callable[[str], None]) -> None:
        """Call `react` with the key whenever space, s, x or r is pressed."""
        self.param.watch(lambda event: react(self.key) if self.key not in STEP_KEYS else None, "presses")

    def on_step_key(self, react: Callable[[str], None]) -> None:
        """Call `react` with the key whenever one of the `STEP_KEYS` is pressed."""
        self.steps = True
        self.param.watch(lambda event: react(self.key) if self.key in STEP_KEYS else None, "presses")


MOST_UNPAINTED = 2  # frames
LOST_AFTER = 3.0  # seconds after which an acknowledgement counts as lost
FIGURES_LOST_AFTER = 10.0  # the same of figures: to build them again keeps a class waiting even longer


class Frames:
    """Counts frames by a heartbeat; `painted_at` and `sent_at` say when the last was painted, and when it was sent."""

    def __init__(self) -> None:
        self.heartbeat = Heartbeat(width=0, height=0, margin=0)
        self.painted_at = self.sent_at = 0.0
        self._figures_at = 0  # the frame after which the browser has the current figures
        self._figures_sent_at = 0.0

    def send(self, now: float, figures: bool = False) -> None:
        """Count a frame; with `figures`, the current figures come with it."""
        self.sent_at = now
        self.heartbeat.seq += 1
        if figures:
            self._figures_at, self._figures_sent_at = self.heartbeat.seq, now

    def acknowledge(self, now: float) -> bool:
        """Note that a frame was painted; return whether it was the first with the current figures."""
        self.painted_at = now
        if 0 < self._figures_at <= self.heartbeat.ack:
            self._figures_at = 0
            return True
        return False

    def behind(self, now: float) -> bool:
        """Return whether the browser has too many frames left to paint, and may still be painting."""
        unpainted = self.heartbeat.seq - self.heartbeat.ack
        return unpainted > MOST_UNPAINTED and now - max(self.painted_at, self.sent_at) < LOST_AFTER

    @property
    def stand(self) -> bool:
        """Whether the browser has the figures."""
        return self.heartbeat.ack >= self._figures_at

    def lost(self, now: float) -> bool:
        """Return whether the browser should have acknowledged the figures by now, and has not."""
        return not self.stand and now - self._figures_sent_at > FIGURES_LOST_AFTER

    def ready(self, now: float) -> bool:
        """Return whether the figures may be changed: no change may reach the browser before the figures do."""
        return self.stand or self.lost(now)

    def in_order(self) -> AbstractContextManager[None]:
        """Return a context in which changes of figures are sent at once, unless the figures themselves still queue."""
        return nullcontext() if self.stand else unlocked()


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


# -- the models of a document


def document_of(pane: Any) -> Document | None:
    """Return the document that a pane of Panel is in, or None."""
    return next((model.document for model, _ in pane._models.values()), None)


def walk_models_once(document: Document | None) -> AbstractContextManager[object]:
    """Let Bokeh look for all models of a document once for everything that is changed within, not for each change."""
    return document.models.freeze() if document is not None else nullcontext()


def all_columns_are_held(source: ColumnDataSource) -> bool:
    """Return whether Bokeh holds back all columns of a source, in which rows streamed meanwhile would arrive twice."""
    held = [] if source.document is None else source.document.callbacks._held_events
    return any(isinstance(event, ColumnDataChangedEvent) and event.model is source for event in held)
