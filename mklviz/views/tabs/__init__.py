"""The tabs of the dashboard, one file each; the shell finds them here and knows none by name."""

from __future__ import annotations

import sys

from mklviz.plugins import classes
from mklviz.views.tabs._previews import preview_of
from mklviz.views.tabs._tab import Tab

__all__ = ["Tab", "preview_of", "tab_classes"]


def tab_classes() -> list[type[Tab]]:
    """Return the tabs found in this folder and in installed packages, in their order."""
    tabs = classes(sys.modules[__name__], Tab, ("title", "order"))
    return sorted(tabs, key=lambda tab: (tab.order, tab.title))
