"""The legend as a row of buttons, one per solver: press to hide or show its curves everywhere.

Behind them those of the races that are pinned, in grey: press to take one off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import param

from mklviz.views.host.beside import LET_GO, beside
from mklviz.views.host.component import ScriptedComponent

__all__ = ["Chips"]


class Chips(ScriptedComponent):
    """Toggle buttons with the solver's line and marker.

    Attributes
    ----------
    items : list of dict
        ``key``, ``label`` and ``swatch`` (an SVG) of each.
    hidden : list of str
        Keys that are switched off.
    pinned : list of dict
        ``key``, ``label``, ``told`` and ``apart`` of each race in grey, see `Pins.named`.
    on_take_off : callable or None
        Called with the key of a race in grey whose button is pressed.
    """

    items = param.List(default=[])
    hidden = param.List(default=[])
    pinned = param.List(default=[])
    on_take_off: Callable[[int], None] | None = None

    _esm = LET_GO + beside(__file__, "chips.js")

    _stylesheets: ClassVar[list[str]] = [beside(__file__, "chips.css")]

    def receive(self, message: Any) -> None:
        """Take off the race in grey whose button was pressed, if it is still there."""
        if self.on_take_off is not None and message.get("off") in [item["key"] for item in self.pinned]:
            self.on_take_off(message["off"])
