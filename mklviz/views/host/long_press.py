"""Keeps BokehJS from taking a slow drag for a long press.

If the mouse rests for 0.3 s after it is pressed, perhaps because the page is busy, BokehJS counts a long press, which
does nothing here, and drops the drag. Without long presses it goes on waiting for the first move.
"""

from __future__ import annotations

from bokeh.models import CustomJS
from bokeh.plotting import figure

from mklviz.views.host.beside import beside

__all__ = ["ignore_long_press"]

_IGNORE = beside(__file__, "long_press.js")


def ignore_long_press(plot: figure) -> None:
    """Let a pressed mouse rest on `plot` before it drags."""
    plot.js_on_event("mouseenter", CustomJS(code=_IGNORE))
