"""A path as a picture: kernel weights, kernels in use and the cost of each value, over the parameter that varies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import (
    BasicTicker,
    CustomJSTickFormatter,
    DataRange1d,
    HoverTool,
    Legend,
    LegendItem,
    LogTicker,
)
from bokeh.plotting import figure

from mklviz.errors import ProblemError
from mklviz.views.chart.axes import SHORT, style_axes
from mklviz.views.look.palette import FONT, Theme

if TYPE_CHECKING:
    from mklviz.engine import Path

__all__ = ["NAMED", "PathPicture"]

NAMED = 10  # kernels with a colour and a name; the others are grey
DASHES = ("solid", "dashed", "dotted")  # rounds of the colours
TALL, LOW = 340, 190  # heights in pixels


class PathPicture:
    """The picture of a path.

    Parameters
    ----------
    path : Path
        With one value at least.
    cold : Path, optional
        The same path with ``warm=False``, to compare what the values cost.
    theme : Theme
    coloured : sequence of int
        Kernels that have the colours of the theme already, in their order; the others have them in dashes then.

    Attributes
    ----------
    weights, active, cost : figure
        Bokeh figures that share their x axis.
    layout : Column
        All three.

    Raises
    ------
    ProblemError
        If the path has no values yet, or the two vary different parameters.
    """

    def __init__(self, path: Path, cold: Path | None, theme: Theme, coloured: Sequence[int] = ()) -> None:
        if not len(path.values):
            raise ProblemError("There is nothing to draw: the path has no values yet.")
        if cold is not None and cold.parameter != path.parameter:
            raise ProblemError(f"One path varies {path.parameter}, the other {cold.parameter}: they share no axis.")
        positive = bool((path.values > 0.0).all())
        self._kind = "log" if positive and len(path.values) > 1 and np.ptp(np.log(path.values)) > 1.0 else "linear"
        self._x_range = DataRange1d(range_padding=0.02)
        self._theme, self._parameter, self._coloured = theme, path.parameter, list(coloured)
        self.weights = self._figure("kernel weight", TALL)
        self.active = self._figure("kernels in use", LOW)
        self.active.yaxis.ticker = BasicTicker(desired_num_ticks=4, num_minor_ticks=0, min_interval=1)
        self.cost = self._figure("SVM solves" if path.svm_solves.any() else "steps", LOW)
        self._draw_weights(path)
        self._draw(self.active, path.values, path.active, "warm" if path.warm else "cold", 0)
        for run, slot in ((path, 0), (cold, 5)):
            if run is not None:
                counts = run.svm_solves if path.svm_solves.any() else run.iterations
                self._draw(self.cost, run.values, counts, _told(run, int(counts.sum())), slot)
        self.cost.legend.location = "top_left"
        self._style_legend(self.cost.legend[0])
        self.layout: Any = column(self.weights, self.active, self.cost, sizing_mode="stretch_width")

    def _draw_weights(self, path: Path) -> None:
        """Draw the kernels of largest weight anywhere on the path in colours, all others in grey."""
        weights, names = path.weights, path.kernel_names
        heaviest = np.argsort(-weights.max(axis=0), kind="stable")
        heaviest = heaviest[weights.max(axis=0)[heaviest] > 0.0]
        others = heaviest[NAMED:]
        if len(others):
            self.weights.multi_line(
                [path.values.tolist()] * len(others),
                [weights[:, k].tolist() for k in others],
                line_color=self._theme.axis,
                line_width=1,
            )
        items = []
        colours = self._theme.kernels
        others = itertools.count(len(self._coloured))
        for k in heaviest[:NAMED]:
            slot = self._coloured.index(k) if k in self._coloured else next(others)
            look = {"line_color": colours[slot % len(colours)], "line_dash": DASHES[slot // len(colours)]}
            line = self.weights.line(path.values, weights[:, k], line_width=2, name=names[k], **look)
            items.append(LegendItem(label=names[k], renderers=[line]))
        lines = [item.renderers[0] for item in items]
        tips = [("kernel", "$name"), (self._parameter, "@x{0.0000a}"), ("weight", "@y{0.0000}")]
        self.weights.add_tools(HoverTool(renderers=lines, tooltips=tips))
        legend = Legend(items=items, click_policy="hide")
        self._style_legend(legend)
        self.weights.add_layout(legend, "right")

    def _draw(self, plot: figure, x: Any, y: Any, label: str, slot: int) -> None:
        look = {"color": self._theme.kernels[slot], "legend_label": label}
        plot.line(x, y, line_width=2, line_dash=DASHES[slot > 0], **look)
        plot.scatter(x, y, size=4 if len(x) > 30 else 6, marker="square" if slot else "circle", **look)
        if plot is self.active:
            plot.legend.visible = False

    def _figure(self, label: str, height: int) -> figure:
        theme = self._theme
        plot = figure(
            name=label,
            height=height,
            sizing_mode="stretch_width",
            x_axis_type=self._kind,
            x_range=self._x_range,
            y_range=DataRange1d(start=0.0, range_padding=0.08),
            x_axis_label=self._parameter,
            y_axis_label=label,
            min_border_left=64,
            tools="pan,box_zoom,wheel_zoom,reset,save",
            active_scroll=None,
        )
        style_axes(plot, theme)
        plot.xaxis.formatter = CustomJSTickFormatter(code=SHORT)
        plot.xaxis.ticker = LogTicker(num_minor_ticks=0) if self._kind == "log" else BasicTicker(num_minor_ticks=0)
        return plot

    def _style_legend(self, legend: Legend) -> None:
        theme = self._theme
        legend.label_text_font, legend.label_text_font_size = FONT, "12px"
        legend.label_text_color, legend.border_line_color = theme.text, None
        legend.background_fill_color, legend.background_fill_alpha = theme.card, 0.8
        legend.spacing, legend.padding = 1, 4


def _told(run: Path, total: int) -> str:
    return f"{'warm' if run.warm else 'cold'} starts, {total:,} in all"
