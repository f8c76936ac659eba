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

__all__ = ["Heartbeat"]


class Heartbeat(JSComponent):
    """Invisible part of a page."""

    seq = param.Integer(default=0, doc="Last frame sent")
    ack = param.Integer(default=0, doc="Last frame painted")
    key = param.String(default="", doc="Last of the keys space, s, x and r pressed outside a text field")
    presses = param.Integer(default=0, doc="How many were pressed; changes even if it is the same key again")

    # these are no work, and the shell of a page walks through all its models whenever "busy" changes
    _busy__ignore: ClassVar[list[str]] = ["ack", "key", "presses"]

    _esm = beside(__file__, "heartbeat.js")

    def on_key(self, react: Callable[[str], None]) -> None:
        """Call `react` with the key whenever one is pressed."""
        self.param.watch(lambda event: react(self.key), "presses")
