"""Scripts and style sheets are files of their own, beside the modules that use them; so is the picture of a window."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def beside(module: str, name: str) -> str:
    """Return the text of the file `name` beside `module`, the ``__file__`` of the module that asks."""
    return Path(module).with_name(name).read_text(encoding="utf-8")


CONTROLS = beside(__file__, "controls.js")
"""Stands before a script with controls: `make` a node, `letGo` of keys, `keepHold` of a slider, say `oneInFlight`."""

WORDS_SCRIPT = beside(__file__, "words.js")
"""Stands before a script that says something in the language of its page."""

ICON_FILE = Path(__file__).with_name("icon.svg")
ICON = f"data:image/svg+xml,{quote(beside(__file__, ICON_FILE.name))}"  # as an address
