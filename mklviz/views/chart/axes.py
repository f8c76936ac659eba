"""How the axes of every figure look, where they begin and end, and their ticks: quiet, in the page's font, no box.

The script of the exported page places ticks by the same rules, because it shows and hides runs without a server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from bokeh.models import CategoricalAxis, CustomJS, CustomJSTickFormatter, FixedTicker, Legend, NoOverlap
from bokeh.plotting import figure

from mklviz.numbers import number_text
from mklviz.views.chart.description import Axis, NumberFormat
from mklviz.views.look.palette import FONT, Theme

X_AXES = {"iteration": "iteration", "svm_solves": "SVM solves", "seconds": "CPU seconds"}

POWER = """const power = (value, digits) => {
  const [factor, exponent] = value.toExponential(digits).split("e")
  const raised = [...String(+exponent)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("")
  return (+factor === 1 ? "" : `${+factor}×`.replace("-", "−")) + `10${raised}`
}
"""
# how a number is written at a tick, as the body of a function of it: short, in powers of ten where it would be long
SHORT = POWER + (
    "const a = Math.abs(tick); return a > 0 && (a < 1e-3 || a >= 1e6) ? power(tick, 1)"
    ' : tick.toLocaleString("en-US", {maximumSignificantDigits: 4}).replace("-", "−")'
)

# a share, as per cent
PERCENT = POWER + (
    "const p = 100 * tick, a = Math.abs(p); return (a > 0 && a < 0.99e-6 ? power(p, 1)"
    ' : p.toLocaleString("en-US", {maximumSignificantDigits: 3}).replace("-", "−")) + " %"'
)

NUMBERS: Mapping[NumberFormat, str] = {
    "short": SHORT,
    "exact": 'return tick.toLocaleString("en-US", {maximumSignificantDigits: 6}).replace("-", "−")',
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
    code = NUMBERS[axis.numbers].replace("en-US", axis.locale)
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
    axes.axis_label_text_font_style = "normal"
    for axis in axes:
        keep_size(axis, size, theme)
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


# -- where an axis begins and ends, its ticks, and what is written at them, for drawers that place these themselves


DIGITS: Mapping[NumberFormat, int] = {"short": 4, "exact": 6, "percent": 3}  # significant ones
Span = tuple[float, float]


def axis_span(values: Sequence[float], axis: Axis, padding: float) -> Span:
    """Return where an axis begins and ends that shows `values`, with some room around them."""
    if math.isfinite(axis.start) and math.isfinite(axis.end):
        return axis.start, axis.end
    if not values:
        return (0.1, 1.0) if axis.log else (0.0, 1.0)
    low, high = min(values), max(values)
    if axis.log:
        room = min(max(padding * (math.log(high) - math.log(low)), 0.02 if padding else 0.0), 2.0)
        return low * math.exp(-room), max(high * math.exp(room), low * 1.0001)
    fixed = math.isfinite(axis.start)
    low = axis.start if fixed else low
    room = padding * (high - low) or padding * abs(high) or (0.0 if high > low else 1.0)
    return (low if fixed else low - room), high + room


def axis_share(value: float, span: Span, log: bool) -> float:
    """Return the position of a value on an axis, from 0 to 1."""
    low, high = span
    return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) if log else (value - low) / (high - low)


def axis_value(share: float, span: Span, log: bool) -> float:
    """Return the value at a position on an axis, from 0 to 1."""
    low, high = span
    return low * (high / low) ** share if log else low + share * (high - low)


def axis_ticks(span: Span, axis: Axis, most: int) -> list[float]:
    """Return round numbers within `span`, about as many as there is room for."""
    low, high = span
    if axis.log and math.log(high) - math.log(low) > math.log(8.0):
        powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        steps = (1.0, 2.0, 5.0) if len(powers) < 2 else (1.0,)
        ticks = [step * 10.0**power for power in range(powers.start - 1, powers.stop + 1) for step in steps]
        ticks = [value for value in ticks if low <= value <= high]
        return ticks[:: -(-len(ticks) // most)]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * power >= rough)
    step = max(step, 1.0) if axis.whole else step
    first = math.ceil(low / step - 1e-9)
    return [multiple * step for multiple in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(value: float, numbers: NumberFormat) -> str:
    """Return the text of a number at a tick; `NUMBERS` has the same for scripts."""
    shown = 100.0 * value if numbers == "percent" else value
    small, large = 0.0 < abs(shown) < 1e-3, abs(shown) >= 1e6
    powers = small or large if numbers == "short" else 0.0 < abs(shown) < 0.99e-6 and numbers == "percent"
    text = number_text(shown, ".1e") if powers else f"{Decimal(f'{shown:.{DIGITS[numbers]}g}'):,f}".replace("-", "−")
    return f"{text} %" if numbers == "percent" else text


FAR = 8.0  # times as long: the shorter runs have an eighth of the axis at least


def axis_end(reached: Mapping[str, float], ended: Mapping[str, bool]) -> float:
    """Return where a horizontal axis ends, if some runs are so long that the others would be a sliver at its beginning.

    end = FAR * e_j    where e_1 <= ... <= e_k are the ends of the runs, e_(j+1) > FAR * e_j, and j >= k / 2

    `reached`: how far along the axis each run is; `ended`: whether it has ended. inf where the axis has room for
    every run.
    """
    runs = sorted(reached, key=lambda key: reached[key])
    for count, (run, longer) in enumerate(pairwise(runs), start=1):
        if not ended[run]:
            break
        if 2 * count >= len(runs) and reached[longer] > FAR * reached[run] > 0.0:
            return FAR * reached[run]
    return math.inf


# -- whether curves of objectives lie too flat to be told apart


FLAT = 0.05  # of the height of the axis
FEWEST = 8  # points of which something can be said


def squashed(curves: Sequence[Sequence[float]]) -> bool:
    """Return whether most of the curves lie flat, drawn on one logarithmic axis."""
    drawn = [[math.log(value) for value in curve if math.isfinite(value) and value > 0.0] for curve in curves]
    every = [height for heights in drawn for height in heights]
    if not every or max(map(len, drawn)) < FEWEST:
        return False
    axis = max(every) - min(every)
    flat = sum(_spread(heights[len(heights) // 2 :]) < FLAT * axis for heights in drawn)
    return 2 * flat > len(drawn)


def _spread(heights: Sequence[float]) -> float:
    return max(heights) - min(heights) if heights else math.inf
