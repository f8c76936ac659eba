"""A mouse that rests once it is pressed, before it drags.

BokehJS takes one that rests for 0.3 s, be it that the page is busy, for a long press, which does nothing here, and then
drops the drag. With patience it goes on waiting for the first move.
"""

from __future__ import annotations

from bokeh.models import CustomJS
from bokeh.plotting import figure

from mklviz.views.host.beside import beside

__all__ = ["be_patient"]

_PATIENT = beside(__file__, "long_press.js")


def be_patient(plot: figure) -> None:
    """Let a mouse rest on `plot` before it drags."""
    plot.js_on_event("mouseenter", CustomJS(code=_PATIENT))
