"""Notebooks show HoloViews pictures once its extension is loaded; this module loads it."""

from __future__ import annotations

import holoviews as hv

from mklviz.views.host.kernel import is_loaded, notebook_shell

__all__ = ["show_in_notebooks"]


def show_in_notebooks() -> None:
    """Load HoloViews' extension for Bokeh in a notebook kernel that has loaded none; elsewhere do nothing.

    BokehJS comes with it, so that pictures need no network, as nothing of mklviz does.
    """
    if notebook_shell() is not None and not is_loaded(hv.extension):
        hv.extension("bokeh", logo=False, inline=True)
