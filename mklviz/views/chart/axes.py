"""How the axes of every figure look: quiet, in the page's font, a grid across and no box around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bokeh.models import CategoricalAxis, CustomJS, CustomJSTickFormatter, FixedTicker, Legend, NoOverlap
from bokeh.plotting import figure

from mklviz.views.chart.description import Axis, NumberFormat
from mklviz.views.host.beside import beside
from mklviz.views.look.palette import FONT, Theme

__all__ = [
    "NUMBERS",
    "PERCENT",
    "POWER",
    "SHORT",
    "X_AXES",
    "bare",
    "counted",
    "keep_size",
    "style_axes",
    "style_legend",
    "style_ticks",
]

X_AXES = {"iteration": "iteration", "svm_solves": "SVM solves", "seconds": "CPU seconds"}

POWER = beside(__file__, "power.js")
# how a number is written at a tick, as the body of a function of it: short, in powers of ten where it would be long
SHORT = POWER + (
    "const a = Math.abs(tick); return a > 0 && (a < 1e-3 || a >= 1e6) ? power(tick, 1)"
    ' : tick.toLocaleString("en-US", {maximumSignificantDigits: 4})'
)

# a share, as per cent
PERCENT = POWER + (
    "const p = 100 * tick, a = Math.abs(p); return (a > 0 && a < 0.99e-6 ? power(p, 1)"
    ' : p.toLocaleString("en-US", {maximumSignificantDigits: 3})) + " %"'
)

NUMBERS: Mapping[NumberFormat, str] = {
    "short": SHORT,
    "exact": 'return tick.toLocaleString("en-US", {maximumSignificantDigits: 6})',
    "percent": PERCENT,
}


# the shell of the page gives axes and colour bars sizes of its own, which are not those of a room
_LARGE = (
    'for (const name of ["axis_label_text_font_size", "major_label_text_font_size"])'
    " if (name in cb_obj && cb_obj[name] !== size) cb_obj[name] = size"
)


def counted(value: float, x: str) -> str:
    """Return how far along the column `x` that is: "iteration 41", "1 SVM solve" or "60 CPU seconds"."""
    number = f"{value:.3g}" if x == "seconds" else f"{value:,.0f}"
    return f"iteration {number}" if x == "iteration" else f"{number} {X_AXES[x].removesuffix('s' * (number == '1'))}"


def style_ticks(drawn: Any, axis: Axis, about: int) -> None:
    """Give an axis that Bokeh draws about so many ticks, none between whole numbers where it counts, or its names."""
    if axis.names:
        drawn.ticker = FixedTicker(ticks=list(range(len(axis.names))))
        drawn.major_label_overrides = dict(enumerate(axis.names))
        return
    drawn.ticker.desired_num_ticks, drawn.ticker.num_minor_ticks = about, 0
    if not axis.log:
        drawn.ticker.min_interval = 1 if axis.whole else 0
    code = NUMBERS[axis.numbers]
    if getattr(drawn.formatter, "code", "") != code:
        drawn.formatter = CustomJSTickFormatter(code=code)


def keep_size(labelled: Any, size: str, theme: Theme) -> None:
    """Keep the type of an axis or a colour bar as large on a projector as it was made."""
    if theme.projected:
        labelled.js_on_change("major_label_text_font_size", CustomJS(args={"size": size}, code=_LARGE))


def style_axes(plot: figure, theme: Theme) -> None:
    """Give a figure the colours and the font of `theme`."""
    plot.background_fill_color = plot.border_fill_color = theme.card
    plot.outline_line_color = None
    plot.toolbar.logo, plot.toolbar.autohide = None, True
    if plot.toolbar_location is not None:
        plot.toolbar_location, plot.toolbar_inner = "right", False  # beside the data, not over them
    plot.xgrid.grid_line_color, plot.ygrid.grid_line_color = None, theme.grid
    axes = plot.axis
    axes.axis_label_text_color = axes.major_label_text_color = theme.muted
    axes.axis_label_text_font = axes.major_label_text_font = FONT
    size = axes.axis_label_text_font_size = axes.major_label_text_font_size = f"{12 * theme.scale:g}px"
    for axis in axes:
        keep_size(axis, size, theme)
    axes.axis_label_text_font_style = "normal"
    for axis in axes:
        if not isinstance(axis, CategoricalAxis):
            axis.major_label_policy = NoOverlap(min_distance=2)
    axes.axis_line_color = theme.axis
    axes.major_tick_line_color = axes.minor_tick_line_color = None


def bare(plot: figure) -> None:
    """Let the card shine through, as page shells repaint figures in their own colours, and draw no axis lines."""
    plot.background_fill_alpha = plot.border_fill_alpha = 0
    plot.axis.axis_line_color = None


def style_legend(legend: Legend, theme: Theme) -> None:
    """Give a legend the colours and the font of `theme`, and no box."""
    legend.label_text_font, legend.label_text_font_size = FONT, f"{12 * theme.scale:g}px"
    legend.label_text_color, legend.border_line_color = theme.text, None
    legend.background_fill_color, legend.background_fill_alpha = theme.card, 0.8
    legend.spacing, legend.padding = 1, 4
