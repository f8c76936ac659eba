"""HoloViews pictures are shown by notebooks once its extension is loaded: here for whoever has not loaded it."""

from __future__ import annotations

import sys

import holoviews as hv

__all__ = ["show_in_notebooks"]


def show_in_notebooks() -> None:
    """Load HoloViews' extension for Bokeh in the kernel of a notebook; elsewhere, or where one is loaded, do nothing.

    BokehJS comes with it, so that pictures need no network, as nothing of mklviz does.
    """
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython

    if getattr(get_ipython(), "kernel", None) is not None and not getattr(hv.extension, "_loaded", False):
        hv.extension("bokeh", logo=False, inline=True)
