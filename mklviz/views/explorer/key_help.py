"""The keys, in a small dialog that a question mark or a button opens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from mklviz.views.host.beside import LET_GO, beside

__all__ = ["EVERYWHERE", "RACE", "KeyHelp"]

RACE = {"Space": "run, pause or resume", "S": "one step of every solver", "X": "stop", "R": "reset: clear the curves"}
"""What the keys do on a page that has a race of its own."""
EVERYWHERE = {
    "← →": "in Timeline, Geometry and Model: one step back, one step on; on a tab: the next one, which Enter opens",
    "Home, End": "in Timeline, Geometry and Model: the first step, the last step",
    "Tab": "to the next control; Shift and Tab to the one before",
    "Esc": "close a menu, or this list",
    "?": "open this list",
}
"""What they do on every page."""


class KeyHelp(JSComponent):
    """The button that opens the dialog, and the dialog.

    `rows`: keys, and what they do.
    """

    rows = param.List(default=[])

    _esm = LET_GO + beside(__file__, "key_help.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "key_help.css")]

    def __init__(self, keys: Mapping[str, str], **params: Any) -> None:
        super().__init__(rows=[list(row) for row in keys.items()], **params)
