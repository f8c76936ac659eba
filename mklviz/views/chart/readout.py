"""Under the mouse: the value of every curve at that place, as one small list.

A hover tool would show one box per curve, on top of each other where curves meet, and only within two pixels of a
line. This finds the curves of the figure under the mouse when it moves, in the browser, without the server.
"""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import CustomJS
from bokeh.plotting import figure

from mklviz.views.host.beside import beside
from mklviz.views.look.palette import FONT, Theme

__all__ = ["add_readout"]

_SHOW = beside(__file__, "readout.js")
_HIDE = 'const box = document.getElementById("mk-readout"); if (box !== null) box.style.display = "none"'


def add_readout(plots: Sequence[figure], theme: Theme) -> None:
    """Show the values of the lines of each plot beside the mouse; a line's name is its renderer's."""
    colours = {"text": theme.text, "muted": theme.muted, "card": theme.card, "border": theme.border}
    font = f"{12 * theme.scale:g}px/1.45 {FONT}"
    show, hide = CustomJS(args={**colours, "font": font}, code=_SHOW), CustomJS(code=_HIDE)
    for plot in plots:
        plot.js_on_event("mousemove", show)
        plot.js_on_event("mouseleave", hide)
