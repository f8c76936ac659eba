"""The objective on the straight way from the weights of one run to those of another."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import BasicTicker, FixedTicker
from bokeh.plotting import figure

from mklviz.contract import Array
from mklviz.views.chart.axes import bare, style_axes
from mklviz.views.look.palette import Theme

__all__ = ["way_figure"]

HEIGHT = 230  # pixels


def way_figure(shares: Array, values: Array, names: Sequence[str], theme: Theme) -> figure:
    """Draw the objective `values` at `shares` of the way, 0 to 1, between two ends and their `names`."""
    options = {"height": HEIGHT, "sizing_mode": "stretch_width", "min_border_left": 54}
    plot = figure(name="minima", tools="save", syncable=False, **options)
    plot.line(shares, values, line_color=theme.accent, line_width=2)
    ends = [0, len(values) - 1]
    plot.scatter(shares[ends], values[ends], size=9, color=theme.accent)
    plot.xaxis.ticker = FixedTicker(ticks=[0, 1])
    plot.xaxis.major_label_overrides = {0: names[0], 1: names[1]}
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=4, num_minor_ticks=0)
    plot.x_range.range_padding, plot.yaxis.axis_label = 0.06, "objective"
    style_axes(plot, theme)
    bare(plot)
    return plot
