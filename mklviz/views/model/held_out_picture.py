"""How right a solution is on held-out samples: ROC, confusion matrix, or values predicted against true."""

from __future__ import annotations

from collections.abc import Sequence

import holoviews as hv
import numpy as np

from mklviz.typing import Array
from mklviz.views.chart.axes import PERCENT
from mklviz.views.look.palette import Theme, mixed, sequential
from mklviz.views.model.held_out import Roc
from mklviz.views.pictures.style import HEIGHT, dressed

__all__ = ["draw_confusion", "draw_predicted", "draw_roc"]

STRONGEST = 0.75  # of the shades behind numbers, which must be read


def draw_roc(curve: Roc, colour: str, theme: Theme, positive: str, negative: str) -> hv.Overlay:
    """Draw the curve over the diagonal of random guesses."""
    line = hv.Curve((curve.mistaken, curve.hits), "mistaken", "found")
    guess = hv.Curve([(0.0, 0.0), (1.0, 1.0)], "mistaken", "found")
    return dressed(
        guess.opts(color=theme.muted, line_dash="dashed", line_width=1, backend="bokeh")
        * line.opts(color=colour, line_width=2, backend="bokeh"),
        theme,
        {"x": PERCENT, "y": PERCENT},
        title=f"ROC, area below it {curve.area:.3f}",
        width=HEIGHT,
        xlabel=f"{negative} taken for {positive}",
        ylabel=f"{positive} found",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
    )


def draw_confusion(confused: Array, classes: Sequence[str], theme: Theme) -> hv.Overlay:
    """Draw how many samples of each class were taken for each, shaded by their share of the class."""
    totals = np.maximum(confused.sum(axis=1, keepdims=True), 1)
    shares = confused / totals
    fields = [
        (classes[column], classes[row], float(shares[row, column]), int(confused[row, column]))
        for row in reversed(range(len(classes)))
        for column in range(len(classes))
    ]
    heat = hv.HeatMap(fields, ["predicted", "true"], ["share", "samples"])
    shades = sequential(theme)[: int(STRONGEST * len(sequential(theme)))] if theme.dark else _light(theme)
    heat.opts(
        cmap=shades,
        clim=(0.0, 1.0),
        line_color=theme.card,
        tools=["hover"],
        hover_tooltips=[(name, f"@{name}") for name in ("true", "predicted", "samples")] + [("share", "@share{0 %}")],
        backend="bokeh",
    )
    numbers = hv.Labels(
        [(column, row, f"{count:,}") for column, row, _, count in fields], ["predicted", "true"], "text"
    )
    numbers.opts(text_color=theme.text, text_font_size=f"{12 * theme.scale:g}px", backend="bokeh")
    return dressed(
        heat * numbers,
        theme,
        grid=False,
        title="Confusion, number of samples",
        width=HEIGHT,
        xlabel="predicted class",
        ylabel="true class",
        xrotation=40 if len(classes) > 3 else 0,
    )


def _light(theme: Theme) -> list[str]:
    """Return shades on which dark numbers can be read."""
    return [mixed(theme.card, theme.parts[2][0], k / 63) for k in range(64)]


def draw_predicted(true: Array, predicted: Array, colour: str, theme: Theme) -> hv.Overlay:
    """Draw predicted values over true ones, and the line on which they would be equal."""
    low, high = float(min(true.min(), predicted.min())), float(max(true.max(), predicted.max()))
    room = 0.04 * (high - low or 1.0)
    span = low - room, high + room
    cloud = hv.Scatter((true, predicted), "true", "predicted")
    equal = hv.Curve([(span[0], span[0]), (span[1], span[1])], "true", "predicted")
    return dressed(
        equal.opts(color=theme.muted, line_dash="dashed", line_width=1, backend="bokeh")
        * cloud.opts(color=colour, size=5, alpha=0.6, backend="bokeh"),
        theme,
        title="Predicted against true",
        width=HEIGHT,
        xlabel="true target",
        ylabel="predicted target",
        xlim=span,
        ylim=span,
    )
