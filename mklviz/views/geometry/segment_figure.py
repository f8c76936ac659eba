"""Two kernels: the objective over the share of one of them, and what one solver made of it at one step.

cuts, their upper envelope and its lowest point          where SILP goes
the level, where no cut exceeds it, and an arrow there   where Level goes
the threshold, trials accepted and refused               how far methods with a line search go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    Arrow,
    BasicTicker,
    ColumnDataSource,
    CustomJSTickFormatter,
    HoverTool,
    NormalHead,
    Range1d,
)
from bokeh.plotting import figure

from mklviz.typing import Array
from mklviz.views.chart.axes import SHORT, bare, style_axes
from mklviz.views.geometry.segment_step import Place, SegmentStep
from mklviz.views.look.palette import FONT, RunStyle, Theme

__all__ = ["HEIGHT", "SegmentFigure"]

HEIGHT = 330  # pixels
BELOW = 0.6  # of the objective's range that is shown below it, where cuts are
NUMBERED = 6  # last steps that carry their number


class SegmentFigure:
    """The figure of one run.

    Parameters
    ----------
    key : str
        Of the run.
    style : RunStyle
    theme : Theme
    label : str
        Below the horizontal axis.

    Attributes
    ----------
    plot : figure
    sources : dict of str to ColumnDataSource
    """

    def __init__(self, key: str, style: RunStyle, theme: Theme, label: str) -> None:
        self.plot = _axes(key, theme, label)
        pair = ("objective", "model", "points", "refused", "passed", "numbers")
        self.sources = {name: _source("x", "y", "text", name=f"segment-{key}-{name}") for name in pair}
        for name in ("cuts", "line", "set"):
            self.sources[name] = _source("xs", "ys", name=f"segment-{key}-{name}")
        self.sources["arrow"] = _source("x0", "y0", "x1", "y1", name=f"segment-{key}-arrow")
        self._draw(style, theme)

    def _draw(self, style: RunStyle, theme: Theme) -> None:
        plot, of, colour = self.plot, self.sources, style.colour
        plot.multi_line("xs", "ys", source=of["cuts"], line_color=colour, line_width=1, line_alpha=0.45)
        plot.line("x", "y", source=of["objective"], line_color=theme.text, line_width=2.4)
        plot.line("x", "y", source=of["model"], line_color=colour, line_width=2.4)
        plot.multi_line("xs", "ys", source=of["line"], line_color=colour, line_width=1.4, line_dash="dashed")
        plot.multi_line("xs", "ys", source=of["set"], line_color=colour, line_width=8, line_alpha=0.4)
        head = NormalHead(size=9, fill_color=theme.text, line_color=theme.text)
        move = {"line_color": theme.text, "line_width": 1.6, "end": head}
        plot.add_layout(
            Arrow(source=of["arrow"], x_start="x0", y_start="y0", x_end="x1", y_end="y1", level="overlay", **move)
        )
        refused = {"marker": "x", "size": 11, "line_color": colour, "line_width": 2}
        tried = plot.scatter("x", "y", source=of["refused"], **refused)
        passed = plot.scatter(
            "x", "y", source=of["passed"], size=13, fill_color=None, line_color=colour, line_width=1.2
        )
        look = {"fill_color": theme.card, "line_color": colour, "line_width": 1.8}
        been = plot.scatter("x", "y", source=of["points"], marker=style.marker, size=8, **look)
        font = {"text_font": {"value": FONT}, "text_font_size": "12px", "text_font_style": "bold"}
        plot.text("x", "y", "text", source=of["numbers"], x_offset=7, y_offset=-5, text_color=colour, **font)
        tips = [("", "@text"), ("share", "@x{0.0000}"), ("objective", "@y{0,0.00}")]
        plot.add_tools(HoverTool(renderers=[been, tried, passed], tooltips=tips))

    def set_objective(self, shares: Array, heights: Array) -> None:
        """Draw the objective, and show it with some room for cuts below."""
        self.sources["objective"].data = {"x": shares.tolist(), "y": heights.tolist(), "text": [""] * len(shares)}
        if len(heights):
            self.show_between(float(heights.min()), float(heights.max()))

    def show_between(self, low: float, high: float) -> None:
        """Show heights between two, with some room for cuts below."""
        room = max(high - low, 1e-3 * abs(high), 1e-12)
        self.plot.y_range.update(start=low - BELOW * room, end=high + 0.08 * room)

    def set_step(self, shown: SegmentStep) -> None:
        """Draw what the run made of a step."""
        of, last = self.sources, len(shown.points) - 1
        of["points"].data = _points(shown.points, [f"step {t}" for t in range(last + 1)])
        numbers = list(range(max(last - NUMBERED + 1, 0), last + 1))
        of["numbers"].data = _points([shown.points[t] for t in numbers], [str(t) for t in numbers])
        of["refused"].data = _points(shown.refused, ["trial, not low enough"] * len(shown.refused))
        taken = ["trial, low enough"] * (len(shown.passed) - 1) + ["trial, taken"] * bool(shown.passed)
        of["passed"].data = _points(shown.passed, taken)
        of["model"].data = _points(shown.model, [""] * len(shown.model))
        of["cuts"].data = {"xs": [[0.0, 1.0] for _ in shown.cuts], "ys": [[c[1], c[0]] for c in shown.cuts]}
        lines = [] if shown.line is None else [shown.line]
        of["line"].data = {"xs": [[0.0, 1.0] for _ in lines], "ys": [[y, y] for y in lines]}
        sets = [shown.level_set] if shown.level_set is not None and lines else []
        of["set"].data = {"xs": [list(ends) for ends in sets], "ys": [[y, y] for y in lines[: len(sets)]]}
        moves = [] if shown.arrow is None else [(*shown.arrow[0], *shown.arrow[1])]
        of["arrow"].data = {name: [move[i] for move in moves] for i, name in enumerate(("x0", "y0", "x1", "y1"))}


def _axes(key: str, theme: Theme, label: str) -> figure:
    plot = figure(
        name=f"segment-{key}",
        height=HEIGHT,
        sizing_mode="stretch_width",
        x_range=Range1d(-0.02, 1.05, syncable=False),
        y_range=Range1d(0.0, 1.0, syncable=False),
        x_axis_label=label,
        min_border_left=54,
        tools="pan,box_zoom,wheel_zoom,reset,save",
        active_drag="box_zoom",
        active_scroll=None,
        output_backend="canvas",
        syncable=False,
    )
    style_axes(plot, theme)
    bare(plot)
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
    plot.yaxis.formatter = CustomJSTickFormatter(code=SHORT)
    plot.toolbar_location, plot.toolbar_inner = "above", True
    plot.min_border_right = plot.min_border_top = 12
    return plot


def _source(*columns: str, name: str) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _points(places: Sequence[Place], texts: Sequence[str]) -> dict[str, list[Any]]:
    seen = [np.isfinite(x) and np.isfinite(y) for x, y in places]
    kept = [(x, y, text) for (x, y), text, ok in zip(places, texts, seen, strict=True) if ok]
    return {"x": [x for x, _, _ in kept], "y": [y for _, y, _ in kept], "text": [text for *_, text in kept]}
