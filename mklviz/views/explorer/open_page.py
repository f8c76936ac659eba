"""Which page an address asks for: a dashboard of one's own, or one that follows somebody else's race."""

from __future__ import annotations

import panel_material_ui as pmui

from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import Follower
from mklviz.views.links.link import FOLLOW, query_value

__all__ = ["open_page"]


def open_page() -> pmui.Page:
    """Return the page to serve; to be called once in each session."""
    name = query_value(FOLLOW)
    return Follower(name).page() if name else Explorer().page()
