"""Scripts and style sheets are files of their own, beside the modules that use them; so is the picture of a window."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def beside(module: str, name: str) -> str:
    """Return the text of the file `name` beside `module`, the ``__file__`` of the module that asks."""
    return Path(module).with_name(name).read_text(encoding="utf-8")


LET_GO = beside(__file__, "let_go.js")
"""Stands before a script with controls: gives the keys back to the race after a click."""
KEEP_HOLD = beside(__file__, "keep_hold.js")
"""Stands before a script with sliders: they go on following the pointer when the page around them is laid out anew."""


ICON_FILE = Path(__file__).with_name("icon.svg")
ICON = f"data:image/svg+xml,{quote(beside(__file__, ICON_FILE.name))}"  # as an address
