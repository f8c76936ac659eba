"""Seeing it: the dashboard and the live view of a race. Names are imported when first used: they load Panel."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mklviz.views.host.environment import need_screen

if TYPE_CHECKING:
    from mklviz.views.explorer.explorer import Explorer
    from mklviz.views.export.lab_page import save_lab
    from mklviz.views.export.page import save_html
    from mklviz.views.notebook.race_cell import path_figure

__all__ = ["Explorer", "path_figure", "save_html", "save_lab"]

_HOMES = {
    "Explorer": "mklviz.views.explorer.explorer",
    "path_figure": "mklviz.views.notebook.race_cell",
    "save_html": "mklviz.views.export.page",
    "save_lab": "mklviz.views.export.lab_page",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        need_screen()
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mklviz.views' has no attribute {name!r}")
