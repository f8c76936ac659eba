"""The legend as a row of buttons, one per solver: press to hide or show its curves everywhere.

After them, in grey, one per pinned race: press to unpin it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import param

from mklviz.views.host.beside import LET_GO, beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.look.palette import RunStyle, swatch

__all__ = ["Chips"]


class Chips(ScriptedComponent):
    """Toggle buttons with the line and marker of each run, and those of the races that are pinned."""

    items = param.List(default=[])
    hidden = param.List(default=[])
    pinned = param.List(default=[])
    on_take_off: Callable[[int], None] | None = None  # called with the key of a race in grey whose button is pressed

    _esm = LET_GO + beside(__file__, "chips.js")

    _stylesheets: ClassVar[list[str]] = [beside(__file__, "chips.css")]

    def name_runs(self, styles: Mapping[str, RunStyle]) -> None:
        """Make a button for each run."""
        self.items = [{"key": key, "label": style.label, "swatch": swatch(style)} for key, style in styles.items()]

    def receive(self, message: Any) -> None:
        """Take off the race in grey whose button was pressed, if it is still there."""
        if self.on_take_off is not None and message.get("off") in [item["key"] for item in self.pinned]:
            self.on_take_off(message["off"])
