"""A chart in HoloViews: one element for each mark whose table has rows; dimensions are named after its columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import holoviews as hv
import numpy as np
from contourpy import contour_generator

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
from mklviz.views.look.palette import Theme
from mklviz.views.pictures.style import dressed

__all__ = ["draw_holoviews"]


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
