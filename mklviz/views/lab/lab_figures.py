"""Figures of the laboratory tabs: curves with a threshold across and marks on them, and the heaviest weights as bars.

Each is built once for a theme; what it shows changes in its sources.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    CustomJSTickFormatter,
    DataRange1d,
    FactorRange,
    HBar,
    HoverTool,
    HSpan,
    LogTicker,
    MultiLine,
    Scatter,
)
from bokeh.plotting import figure

from mklviz.views.chart.axes import PERCENT, SHORT, bare, style_axes
from mklviz.views.look.palette import Theme

__all__ = ["Bar", "CurveFigure", "LabCurve", "WeightBars"]

TALL = 230  # pixels
FAINT = 0.4  # opacity of what is behind


@dataclass(frozen=True)
class LabCurve:
    """One curve of a figure; `behind` draws it faint, and `mark` is a point on it, if there is one."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    dash: str = "solid"
    behind: bool = False
    mark: tuple[float, float] | None = None
    marker: str = "circle"


class CurveFigure:
    """Curves over steps or SVM solves, on a logarithmic vertical axis.

    Parameters
    ----------
    name : str
    x_label : str
    theme : Theme
    percent : bool
        Whether heights are shares.

    Attributes
    ----------
    plot : figure
    lines, marks, threshold : ColumnDataSource
    """

    def __init__(self, name: str, x_label: str, theme: Theme, percent: bool = True) -> None:
        self.plot = plot = _figure(name, theme, x_label=x_label, log=True)
        self.lines = ColumnDataSource(_columns(()), name=f"{name}-lines")
        self.marks = ColumnDataSource({"x": [], "y": [], "colour": [], "marker": []}, name=f"{name}-marks")
        self.threshold = ColumnDataSource({"y": [math.nan]})
        across = HSpan(y="y", line_color=theme.muted, line_dash="dashed", line_width=1.5)
        plot.add_glyph(self.threshold, across)
        look = {"line_color": "colour", "line_dash": "dash", "line_alpha": "alpha", "line_width": "width"}
        drawn = plot.add_glyph(self.lines, MultiLine(xs="xs", ys="ys", **look))
        points = Scatter(x="x", y="y", size=11, marker="marker", fill_color="colour", line_color=theme.card)
        points.line_width = 1.5
        plot.add_glyph(self.marks, points)
        plot.yaxis.formatter = CustomJSTickFormatter(code=PERCENT if percent else SHORT)
        plot.add_tools(HoverTool(renderers=[drawn], tooltips=[("", "@label"), (x_label, "$x{0,0}")]))

    def show(self, lines: Sequence[LabCurve], threshold: float = math.nan) -> None:
        """Draw these curves, those behind first."""
        ordered = sorted(lines, key=lambda line: not line.behind)
        self.lines.data = _columns(ordered)
        marked = [line for line in ordered if line.mark is not None and line.mark[1] > 0.0]
        self.marks.data = {
            "x": [line.mark[0] for line in marked if line.mark],
            "y": [line.mark[1] for line in marked if line.mark],
            "colour": [line.colour for line in marked],
            "marker": [line.marker for line in marked],
        }
        self.threshold.data = {"y": [threshold]}


def _columns(lines: Sequence[LabCurve]) -> dict[str, list[Any]]:
    return {
        "xs": [list(map(float, line.x)) for line in lines],
        "ys": [[float(y) if y > 0.0 and math.isfinite(y) else math.nan for y in line.y] for line in lines],
        "label": [line.label for line in lines],
        "colour": [line.colour for line in lines],
        "dash": [line.dash for line in lines],
        "alpha": [FAINT if line.behind else 1.0 for line in lines],
        "width": [2.0 if not line.behind else 1.6 for line in lines],
    }


@dataclass(frozen=True)
class Bar:
    """A kernel with its weight, what it had `before` (behind it) and a third one beside, nan where there is none."""

    name: str
    weight: float
    before: float = math.nan
    third: float = math.nan


class WeightBars:
    """The weights of a few kernels.

    Attributes
    ----------
    plot : figure
    bars : ColumnDataSource
    """

    def __init__(self, name: str, theme: Theme) -> None:
        self.kernels = FactorRange(factors=[])
        self.plot = plot = _figure(name, theme, x_label="kernel weight", y_range=self.kernels)
        plot.ygrid.grid_line_color, plot.xgrid.grid_line_color = None, theme.grid
        names = ("name", "weight", "before", "third", "colour")
        self.bars = ColumnDataSource({column: [] for column in names}, name=f"{name}-bars")
        behind = HBar(y="name", right="before", height=0.82, fill_color=theme.axis, fill_alpha=0.55, line_color=None)
        front = HBar(y="name", right="weight", height=0.42, fill_color="colour", line_color=None)
        beside = Scatter(x="third", y="name", size=9, fill_color=None, line_color="colour", line_width=2)
        for glyph in (behind, front, beside):
            plot.add_glyph(self.bars, glyph)
        plot.x_range.start = 0.0

    def show(self, bars: Sequence[Bar], colour: str) -> None:
        """Draw these kernels, the first at the top."""
        upwards = list(reversed(bars))
        names = [bar.name for bar in upwards]  # kernels of a file may share one, and no axis has a place twice
        names = [f"{name} ({names[:k].count(name) + 1})" if name in names[:k] else name for k, name in enumerate(names)]
        self.kernels.factors = names
        self.bars.data = {
            "name": names,
            "weight": [bar.weight for bar in upwards],
            "before": [bar.before for bar in upwards],
            "third": [bar.third for bar in upwards],
            "colour": [colour] * len(upwards),
        }


def _figure(name: str, theme: Theme, x_label: str, log: bool = False, y_range: Any = None) -> figure:
    plot = figure(
        name=name,
        height=TALL,
        sizing_mode="stretch_width",
        x_axis_label=x_label,
        y_axis_type="log" if log else "auto",
        x_range=DataRange1d(range_padding=0.02, only_visible=True),
        y_range=DataRange1d(range_padding=0.08, only_visible=True) if y_range is None else y_range,
        min_border_left=54,
        min_border_right=14,
        tools="save",
        toolbar_location=None,
    )
    style_axes(plot, theme)
    bare(plot)
    plot.xaxis.formatter = CustomJSTickFormatter(code=SHORT)
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
    if log:
        plot.yaxis.ticker = LogTicker(desired_num_ticks=4, num_minor_ticks=0)
    return plot
