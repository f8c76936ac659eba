"""Which page an address asks for: the start, a part of the page by its name, a race, or another page's to follow."""

from __future__ import annotations

import pandas  # noqa: F401  # HoloViews would, in the thread of a task, while the ticks of a page meet half of it
import panel as pn
import panel_material_ui as pmui

from mklviz.views.explorer.follower import Follower
from mklviz.views.explorer.navigation import EXPLORE, SECTIONS, START
from mklviz.views.links import FOLLOW
from mklviz.views.links.link import PAGE, names_a_race, query_value
from mklviz.views.start.front import front_html
from mklviz.views.start.front_page import FrontPage
from mklviz.views.tabs import tab_classes

__all__ = ["get_ready", "open_page"]

BEFORE = "mklviz-page"  # the cookie that says what was open last in this browser


def open_page() -> pmui.Page:
    """Return the page to serve; to be called once in each session."""
    tab_classes()  # of a component that is defined later Panel sends the definition twice, and the page stays empty
    name = query_value(FOLLOW)
    return Follower(name).page() if name else FrontPage(wanted_section()).page()


def get_ready() -> None:
    """Draw what stands in the HTML of the first page, and load the tabs, before the first visitor."""
    tab_classes()
    front_html(START)


def wanted_section() -> str:
    """Return what the address of the page asks for, else what this browser had open last, else the start."""
    before = str((pn.state.cookies or {}).get(BEFORE, ""))
    wanted = query_value(PAGE) or (EXPLORE if names_a_race() else before)
    return wanted if wanted in SECTIONS else START
