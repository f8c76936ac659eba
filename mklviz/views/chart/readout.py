"""Under the mouse: the value of every curve at that place, as one small list.

A hover tool would show one box per curve, on top of each other where curves meet, and only within two pixels of a
line. This finds the curves of the figure under the mouse when it moves, in the browser, without the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import CustomJS, GlyphRenderer
from bokeh.plotting import figure

from mklviz.views.chart.axes import PERCENT, POWER
from mklviz.views.chart.description import Tips
from mklviz.views.host.beside import beside
from mklviz.views.look.palette import FONT, Theme

__all__ = ["add_point_readout", "add_readout", "tip_html"]

_BOX = POWER + f"const percent = (tick) => {{ {PERCENT} }}\n" + beside(__file__, "readout_box.js")
_LINES = _BOX + beside(__file__, "readout.js")
_POINTS = _BOX + beside(__file__, "point_readout.js")
_HIDE = 'const box = document.getElementById("mk-readout"); if (box !== null) box.style.display = "none"'


def add_readout(plots: Sequence[figure], theme: Theme, shares: bool = False) -> None:
    """Show the values of the lines of each plot beside the mouse, as per cent where a source of many has `shares`.

    A line's name is its renderer's, or the label in a source of many.
    """
    _follow_mouse(plots, CustomJS(args={**_look(theme), "shares": shares}, code=_LINES))


def add_point_readout(plot: figure, tips: Sequence[tuple[GlyphRenderer, Tips]], theme: Theme) -> None:
    """Show beside the mouse the text of the nearest point, however many lie there; numbers are written short."""
    readouts = [
        [renderer, [[words, column.lstrip("@").split("{")[0]] for words, column in tip]] for renderer, tip in tips
    ]
    _follow_mouse([plot], CustomJS(args={**_look(theme), "plot": plot, "readouts": readouts}, code=_POINTS))


def tip_html(tips: Tips, theme: Theme) -> str:
    """Return what Bokeh's own box says of a line or an area, drawn over that box in the colours of `theme`.

    A first line without words is a title, a later one is quiet.
    """
    lines = [
        f"{words} {value}" if words else f'<span style="color: {theme.muted}">{value}</span>' for words, value in tips
    ]
    if not tips[0][0]:
        lines[0] = f"<b>{tips[0][1]}</b>"
    look = _look(theme)
    style = (
        f"margin: -6px; padding: 6px 10px; font: {look['font']}; color: {theme.text}; background: {theme.card};"
        f" border: 1px solid {theme.border}; border-radius: 3px; max-width: 340px"
    ).replace('"', "'")
    return f'<div style="{style}">{"<br>".join(lines)}</div>'


def _look(theme: Theme) -> dict[str, Any]:
    colours = {"text": theme.text, "muted": theme.muted, "card": theme.card, "border": theme.border}
    return {**colours, "font": f"{12.5 * theme.scale:g}px/1.45 {FONT}"}


def _follow_mouse(plots: Sequence[figure], show: CustomJS) -> None:
    hide = CustomJS(code=_HIDE)
    for plot in plots:
        plot.js_on_event("mousemove", show)
        plot.js_on_event("mouseleave", hide)
