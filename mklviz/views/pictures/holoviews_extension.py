"""HoloViews pictures are shown by notebooks once its extension is loaded: here for whoever has not loaded it."""

from __future__ import annotations

import holoviews as hv

from mklviz.views.host.kernel import in_notebook, is_loaded

__all__ = ["show_in_notebooks"]


def show_in_notebooks() -> None:
    """Load HoloViews' extension for Bokeh in the kernel of a notebook; elsewhere, or where one is loaded, do nothing.

    BokehJS comes with it, so that pictures need no network, as nothing of mklviz does.
    """
    if in_notebook() and not is_loaded(hv.extension):
        hv.extension("bokeh", logo=False, inline=True)
