"""The picture by which a window of mklviz is known in a row of windows."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from mklviz.views.host.beside import beside

__all__ = ["ICON", "ICON_FILE"]

ICON_FILE = Path(__file__).with_name("icon.svg")
ICON = f"data:image/svg+xml,{quote(beside(__file__, ICON_FILE.name))}"  # as an address
