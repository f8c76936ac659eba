"""How every HoloViews picture looks, which runs it is asked for, and how a chart is drawn: quiet axes, one size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import holoviews as hv
import holoviews.plotting.bokeh  # registers the backend without a word to a notebook
import numpy as np
from bokeh.document import Document
from bokeh.models import BasicTicker, ColorBar, CustomJSTickFormatter, FactorRange, HoverTool, Legend, Title
from contourpy import contour_generator

from mklviz.analysis.landscape import no_heights
from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.chart.axes import SHORT, bare, keep_size, style_axes, style_legend
from mklviz.views.chart.bokeh_figure import tip_html
from mklviz.views.chart.columns import contour_levels
from mklviz.views.chart.description import (
    ArrowMark,
    Axis,
    Chart,
    ContourMark,
    LineMark,
    Mark,
    PointMark,
    Table,
    Tables,
    TextMark,
)
from mklviz.views.look.palette import FONT, RunStyle, Theme

WIDTH, HEIGHT = 460, 340  # pixels
LEGEND = 24  # pixels for each line of a legend above a picture

if set(hv.Store.renderers) == {"bokeh"}:  # another extension that is already loaded stays in use
    hv.Store.set_current_backend("bokeh")


def rendered(picture: Any) -> Any:
    """Return a picture as a Bokeh figure or grid of figures; nothing keeps a reference to it."""
    # in another mode HoloViews takes the document that some session holds just then, and changes its theme
    plot = hv.renderer("bokeh").instance(mode="server").get_plot(picture, doc=Document())
    figure = plot.state
    plot.cleanup()  # else the document of the process would keep every picture ever drawn
    return figure


def in_card(picture: Any) -> Any:
    """Return a picture as a Bokeh figure that takes the width there is, and lets its card shine through."""
    plot = rendered(picture)
    plot.sizing_mode, plot.width, plot.min_width = "stretch_width", None, 200
    plot.title.visible = False  # it stands above the figure, where it has room
    bare(plot)
    return plot


def legend_above(entries: int, columns: int, height: int = HEIGHT) -> dict[str, Any]:
    """Return the options of a picture with a legend above it, which needs its own room."""
    lines = -(-entries // columns)
    return {"legend_position": "top", "legend_cols": columns, "height": height + LEGEND * lines}


def dressed(
    picture: Any, theme: Theme, formats: Mapping[str, str] | None = None, grid: bool = True, **options: Any
) -> Any:
    """Return a picture in the colours of `theme`; `formats` are scripts for the ticks of "x" and "y"."""
    options = {"width": WIDTH, "height": HEIGHT, "active_tools": ["box_zoom"], "toolbar": "right", **options}
    hook = partial(_dress, theme, dict(formats or {}), grid)
    return picture.opts(hooks=[hook], backend="bokeh", **options)


def _dress(theme: Theme, formats: Mapping[str, str], grid: bool, drawn: Any, _: Any) -> None:
    """Dress the Bokeh figure that HoloViews has drawn."""
    plot = drawn.state
    style_axes(plot, theme)
    plot.grid.visible = grid
    plot.toolbar.active_scroll = None  # the wheel is for the page
    plot.min_border_right = plot.min_border_top = 14
    if isinstance(plot.y_range, FactorRange) and grid:  # horizontal bars: the other axis has the values
        plot.xgrid.grid_line_color, plot.ygrid.grid_line_color = theme.grid, None
    for name, script in formats.items():
        axis = getattr(plot, f"{name}axis")
        axis.formatter = CustomJSTickFormatter(code=script)
    for axis in plot.axis:
        if isinstance(axis.ticker, BasicTicker):
            axis.ticker = BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
            if not any(axis in getattr(plot, f"{name}axis") for name in formats):
                axis.formatter = CustomJSTickFormatter(code=SHORT)
    if isinstance(plot.title, Title):
        plot.title.text_font, plot.title.text_font_size, plot.title.text_color = FONT, "13px", theme.text
    for tool in plot.select({"type": HoverTool}):
        tool.update(tooltips=tip_html(tool.tooltips, theme), show_arrow=False, limit=1)
    for legend in plot.select({"type": Legend}):
        style_legend(legend, theme)
        if legend in plot.above:  # HoloViews gives it a place that Bokeh makes no room for
            legend.location, legend.orientation, legend.margin = "top_left", "horizontal", 0
            legend.spacing = 14 if legend.ncols == "auto" else 2
    for bar in plot.select({"type": ColorBar}):
        bar.background_fill_color, bar.border_line_color, bar.bar_line_color = theme.card, None, None
        bar.title, bar.major_label_text_color, bar.major_label_text_font = None, theme.muted, FONT
        bar.major_label_text_font_size = size = f"{12 * theme.scale:g}px"
        keep_size(bar, size, theme)
        bar.major_tick_line_color, bar.width, bar.padding = None, 10, 6
        bar.formatter = CustomJSTickFormatter(code=SHORT)


def marked_line(
    x: Array, y: Array, dims: tuple[Any, Any], style: RunStyle, label: str, most: int, **options: Any
) -> list[hv.Element]:
    """Return a line, and at `most` so many markers that tell it from others without colours."""
    few = np.unique(np.linspace(0, len(x) - 1, min(most, len(x))).round().astype(int))
    line, marks = hv.Curve((x, y), *dims, label=label), hv.Scatter((x[few], y[few]), *dims, label=label)
    line.opts(color=style.colour, line_dash=style.dash, line_width=2, backend="bokeh", **options)
    marks.opts(color=style.colour, marker=style.marker, size=7, tools=["hover"], backend="bokeh")
    return [line, marks]


def check_ground(problem: Problem, traces: Iterable[Trace], kernels: int) -> None:
    """Raise `ProblemError` unless the objective can be drawn over so many kernels, with these runs upon it."""
    if problem.m != kernels or not problem.regularizer.on_simplex:
        raise ProblemError(
            f"The objective is drawn over {kernels} kernels whose weights sum to one; this problem has {problem.m:,}"
            f" and {problem.regularizer}. Pose it with {kernels} kernels and mv.Simplex()."
        )
    if reason := no_heights(problem):
        raise ProblemError(reason)
    for trace in traces:
        if list(trace.kernel_names) != list(problem.bank.names):
            raise ProblemError("This run is another problem's: give the problem that was solved.")


# -- a chart: one element for each mark whose table has rows; dimensions are named after its columns


def draw_holoviews(chart: Chart, tables: Tables, theme: Theme, **options: Any) -> hv.Overlay:
    """Draw the marks of a chart of which there are `tables`."""
    drawn = [
        _ELEMENTS[type(mark)](mark, tables[mark.table])
        for mark in chart.marks
        if mark.table in tables and len(tables[mark.table][mark.columns["x"]])
    ]
    if chart.equal_units:
        options["data_aspect"] = 1
    spans = {**_axis("x", chart.x), **_axis("y", chart.y)}
    return dressed(hv.Overlay(drawn), theme, grid=chart.x.visible, title=chart.title, **spans, **options)


def _axis(name: str, axis: Axis) -> dict[str, Any]:
    words = {f"{name}label": axis.label} if axis.visible else {f"{name}axis": None}
    known = math.isfinite(axis.start) and math.isfinite(axis.end)
    return words | ({f"{name}lim": (axis.start, axis.end)} if known else {})


def _line(mark: LineMark, table: Table) -> hv.Element:
    style = {"color": mark.colour, "line_dash": mark.dash, "line_width": mark.width, "alpha": mark.alpha}
    x, y = table[mark.x], table[mark.y]
    if mark.many:
        paths = [np.column_stack(line) for line in zip(x, y, strict=True)]
        return hv.Path(paths, [mark.x, mark.y]).opts(backend="bokeh", **style)
    return hv.Curve((x, y), mark.x, mark.y, label=mark.label).opts(backend="bokeh", **style)


def _points(mark: PointMark, table: Table) -> hv.Scatter:
    style = {"line_color": mark.colour, "line_width": mark.width, "marker": mark.marker, "size": mark.size}
    drawn = hv.Scatter((table[mark.x], table[mark.y]), mark.x, mark.y, label=mark.label)
    return drawn.opts(color=mark.fill, tools=["hover"] if mark.tips else [], backend="bokeh", **style)


def _text(mark: TextMark, table: Table) -> hv.Labels:
    drawn = hv.Labels((table[mark.x], table[mark.y], table[mark.text]), [mark.x, mark.y], mark.text)
    font = {"text_font_size": f"{mark.size}px", "text_color": mark.colour}
    if mark.bold:
        font["text_font_style"] = "bold"
    beside = {"text_align": "left", "text_baseline": "bottom"} if mark.align == "left" else {}
    return drawn.opts(backend="bokeh", **font, **beside)


def _arrow(mark: ArrowMark, table: Table) -> hv.Curve:
    """Return a line from the first arrow's beginning to its end."""
    ends = [(table[x][0], table[y][0]) for x, y in ((mark.x, mark.y), (mark.x_end, mark.y_end))]
    return hv.Curve(ends, mark.x, mark.y).opts(color=mark.colour, line_width=mark.width, backend="bokeh")


def _contours(mark: ContourMark, table: Table) -> hv.Contours:
    x, y, z = (np.asarray(table[column]) for column in (mark.x, mark.y, mark.z))
    lines = contour_generator(x, y, z)
    paths: list[tuple[Any, float]] = [
        (line, level) for level in contour_levels(z, mark.levels)[1:-1].tolist() for line in lines.lines(level)
    ]
    drawn = [{mark.x: line[:, 0], mark.y: line[:, 1], mark.z: level} for line, level in paths]
    contours = hv.Contours(drawn, [mark.x, mark.y], mark.z)
    style = {"cmap": [mark.colour], "line_width": mark.width, "alpha": mark.alpha}
    return contours.opts(show_legend=False, backend="bokeh", **style)


_ELEMENTS: Mapping[type[Mark], Callable[[Any, Table], hv.Element]] = {
    **{LineMark: _line, PointMark: _points, TextMark: _text},
    **{ArrowMark: _arrow, ContourMark: _contours},
}
