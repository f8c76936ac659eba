"""What the browser tells the server: that a frame was painted, and that a key was pressed.

The server counts up `seq` with every frame it sends and the browser answers with `ack` after the next paint, so the
server knows how far the screen is behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import param
from panel.custom import JSComponent

from mklviz.views.host.beside import beside

__all__ = ["STEP_KEYS", "Heartbeat"]

STEP_KEYS = ("ArrowLeft", "ArrowRight", "Home", "End")  # as the browser calls them


class Heartbeat(JSComponent):
    """Invisible part of a page."""

    seq = param.Integer(default=0, doc="Last frame sent")
    ack = param.Integer(default=0, doc="Last frame painted")
    key = param.String(default="", doc="Last of the keys pressed outside a text field")
    steps = param.Boolean(default=False, doc="Whether arrows, Home and End are listened to, and do not move the page")
    presses = param.Integer(default=0, doc="How many were pressed; changes even if it is the same key again")

    # these are no work, and the shell of a page walks through all its models whenever "busy" changes
    _busy__ignore: ClassVar[list[str]] = ["ack", "key", "presses"]

    _esm = beside(__file__, "heartbeat.js")

    def on_key(self, react: Callable[[str], None]) -> None:
        """Call `react` with the key whenever space, s, x or r is pressed."""
        self.param.watch(lambda event: react(self.key) if self.key not in STEP_KEYS else None, "presses")

    def on_step_key(self, react: Callable[[str], None]) -> None:
        """Call `react` with the key whenever one of the `STEP_KEYS` is pressed."""
        self.steps = True
        self.param.watch(lambda event: react(self.key) if self.key in STEP_KEYS else None, "presses")
