"""A chart in Bokeh: one source for each table, whose columns change while the figure stays on the page.

Under the mouse stands the value of every curve at that place, as one small list. A hover tool would show one box per
curve, on top of each other where curves meet, and only within two pixels of a line; scripts find the curves under the
mouse when it moves, in the browser, without the server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bokeh import models
from bokeh.plotting import figure

from mklviz.views.chart.axes import PERCENT, POWER, X_AXES, bare, style_axes, style_ticks
from mklviz.views.chart.columns import contour_bands
from mklviz.views.chart.description import (
    AreaMark,
    ArrowMark,
    Axis,
    BarMark,
    Chart,
    Column,
    ContourMark,
    LineMark,
    Mark,
    PointMark,
    RuleMark,
    Table,
    Tables,
    TextMark,
    Tips,
)
from mklviz.views.host.beside import beside
from mklviz.views.look.palette import FONT, RunStyle, Theme

_READOUT = f"{POWER}const percent = (tick) => {{ {PERCENT} }}\n" + beside(__file__, "readout.js")
# BokehJS takes a mouse that rests for 0.3 s after it is pressed for a long press, and drops the drag
_NO_LONG_PRESS = """const gestures = Bokeh.index.find_one(cb_obj.origin)?.canvas_view?.ui_event_bus?.ui_gestures
if (gestures?._start_timeout) gestures._start_timeout = () => {}"""
_HIDE = 'const box = document.getElementById("mk-readout"); if (box !== null) box.style.display = "none"'


def add_readout(plots: Sequence[figure], theme: Theme) -> None:
    """Show the values of the lines of each plot, by the names of their renderers or labels, beside the mouse."""
    _follow_mouse(plots, models.CustomJS(args={**_look(theme), "inPercent": PERCENT}, code=f"{_READOUT}readCurves()"))


def add_point_readout(plot: figure, tips: Sequence[tuple[models.GlyphRenderer, Tips]], theme: Theme) -> None:
    """Show beside the mouse the text of the nearest point, however many lie there; numbers are written short."""
    readouts = [
        [renderer, [[words, column.lstrip("@").split("{")[0]] for words, column in tip]] for renderer, tip in tips
    ]
    args = {**_look(theme), "plot": plot, "readouts": readouts}
    _follow_mouse([plot], models.CustomJS(args=args, code=f"{_READOUT}readPoints()"))


def tip_html(tips: Tips, theme: Theme) -> str:
    """Return what Bokeh's own box says of a line or an area; a first line without words is a title."""
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


def _follow_mouse(plots: Sequence[figure], show: models.CustomJS) -> None:
    hide = models.CustomJS(code=_HIDE)
    for plot in plots:
        plot.js_on_event("mousemove", show)
        plot.js_on_event("mouseleave", hide)


TOOLS = "pan,box_zoom,wheel_zoom,reset,save"
LEFT, AROUND, OVER = 54, 14, 7  # pixels beside the axes, and over them for half of the number at their end
TICKS = 5  # about so many on an axis


class ChartFigure:
    """The figure of a chart: `tables` are drawn now, by the `renderers` of the lines and points of each."""

    def __init__(self, chart: Chart, theme: Theme, height: int, tools: str = TOOLS, x_range: Any = None) -> None:
        self.chart = chart
        self._scale = theme.scale
        self.tables = {mark.table: _empty(chart, mark.table) for mark in chart.marks}
        self.plot = chart_plot(chart, theme, height, tools, x_range)
        self.renderers: dict[str, list[models.GlyphRenderer]] = {}
        self._sources = {name: models.ColumnDataSource(name=f"{chart.name}-{name}") for name in self.tables}
        self._fill(self.tables)
        points: list[tuple[models.GlyphRenderer, Tips]] = []
        for mark in chart.marks:
            drawn = self._draw(mark)
            if isinstance(mark, (LineMark, PointMark)):
                self.renderers.setdefault(mark.table, []).extend(drawn)
            if isinstance(mark, PointMark) and mark.tips:
                points += [(each, mark.tips) for each in drawn]
            elif isinstance(mark, (LineMark, BarMark)) and mark.tips:
                tooltip = tip_html(mark.tips, theme)
                self.plot.add_tools(models.HoverTool(renderers=drawn, tooltips=tooltip, show_arrow=False, limit=1))
        if points:
            add_point_readout(self.plot, points, theme)

    def show(self, tables: Tables) -> None:
        """Draw these tables; those that have not changed are not sent again, and all others stay as they are."""
        self._fill({name: table for name, table in tables.items() if table != self.tables[name]})

    def _fill(self, tables: Tables) -> None:
        self.tables.update(tables)
        meshes = {mark.table: mark for mark in self.chart.marks if isinstance(mark, ContourMark)}
        for name, table in tables.items():
            self._sources[name].data = contour_bands(meshes[name], table) if name in meshes else dict(table)
        for mark in self.chart.marks:
            if isinstance(mark, BarMark) and mark.table in tables:
                self.plot.y_range.factors = list(tables[mark.table][mark.y])

    def set_axes(self, x: Axis, y: Axis) -> None:
        """Show another part of the plane."""
        self.chart = replace(self.chart, x=x, y=y)
        for span, axis in ((self.plot.x_range, x), (self.plot.y_range, y)):
            span.update(start=axis.start, end=axis.end)

    def _draw(self, mark: Mark) -> list[models.GlyphRenderer]:
        source = self._sources[mark.table]
        if isinstance(mark, ArrowMark):
            self.plot.add_layout(_arrow(mark, source))
            return []
        if isinstance(mark, TextMark):
            mark = replace(mark, size=round(mark.size * self._scale))
        return [self.plot.add_glyph(source, glyph_of(mark), name=getattr(mark, "label", None))]


def _empty(chart: Chart, table: str) -> Table:
    """Return the columns that the marks of a table draw, with no rows."""
    return {column: [] for mark in chart.marks if mark.table == table for column in mark.columns.values()}


def ignore_long_press(plot: figure) -> None:
    """Let a pressed mouse rest on `plot` before it drags."""
    plot.js_on_event("mouseenter", models.CustomJS(code=_NO_LONG_PRESS))


def chart_plot(chart: Chart, theme: Theme, height: int, tools: str = TOOLS, x_range: Any = None) -> figure:
    """Return the figure of a chart, without its marks."""
    bars = any(isinstance(mark, BarMark) for mark in chart.marks)
    plot = figure(
        name=chart.name,
        height=height,
        sizing_mode="stretch_width",
        x_axis_type=chart.x.scale,
        y_axis_type="auto" if bars else chart.y.scale,
        x_range=x_range or data_range(chart.x, 0.06 if bars else 0.02, chart.equal_units),
        y_range=models.FactorRange(factors=[]) if bars else data_range(chart.y, 0.08, chart.equal_units),
        x_axis_label=chart.x.label,
        y_axis_label=chart.y.label,
        match_aspect=chart.equal_units,
        min_border_left=LEFT,
        min_border_right=0 if tools else AROUND,
        min_border_top=AROUND if tools else OVER,
        tools=tools,
        active_drag="box_zoom" if "box_zoom" in tools else None,
        active_scroll=None,
        toolbar_location="right" if tools else None,
        output_backend="canvas",
        syncable=False,
    )
    style_axes(plot, theme)
    bare(plot)
    plot.xaxis.visible, plot.yaxis.visible = chart.x.visible, chart.y.visible
    style_ticks(plot.xaxis, chart.x, TICKS)
    if not bars:
        style_ticks(plot.yaxis, chart.y, TICKS)
    if bars or chart.y.names:
        plot.ygrid.grid_line_color, plot.xgrid.grid_line_color = None, theme.grid
    mapped = any(isinstance(mark, ContourMark) for mark in chart.marks)
    plot.xgrid.visible, plot.ygrid.visible = chart.x.visible and not mapped, chart.y.visible and not mapped
    if chart.equal_units:
        _show_whole(plot, chart)
    ignore_long_press(plot)
    return plot


def data_range(axis: Axis, padding: float, equal_units: bool = False) -> models.DataRange1d | models.Range1d:
    """Return the range of an axis, which goes with the data where it has no ends of its own."""
    if equal_units:  # it follows the frame
        return models.DataRange1d(syncable=False)
    if math.isfinite(axis.start) and math.isfinite(axis.end):
        return models.Range1d(axis.start, axis.end, syncable=False)
    fixed = {"start": axis.start} if math.isfinite(axis.start) else {}
    return models.DataRange1d(syncable=False, only_visible=True, range_padding=padding, **fixed)


def _show_whole(plot: figure, chart: Chart) -> None:
    """Let the ranges, which Bokeh keeps to scale only where they follow data, follow the ends of the axes."""
    ends = {"x": [chart.x.start, chart.x.end], "y": [chart.y.start, chart.y.end]}
    plot.x_range.renderers = plot.y_range.renderers = [unpainted(plot, ends)]


def unpainted(plot: figure, ends: Table) -> models.GlyphRenderer:
    """Add points x and y that nobody sees, to which the ranges of a figure reach."""
    points = models.Scatter(x="x", y="y", size=0, line_color=None, fill_color=None)
    return plot.add_glyph(models.ColumnDataSource({name: [*values] for name, values in ends.items()}), points)


def glyph_of(mark: Mark) -> models.Glyph:
    """Return what draws a mark, which is no arrow, of whatever source."""
    return _GLYPHS[type(mark)](mark)


def _spec(value: Any) -> Any:
    return {"field": value.name} if isinstance(value, Column) else value


def _line(mark: LineMark) -> models.Line | models.MultiLine:
    style = {"line_color": mark.colour, "line_dash": mark.dash, "line_width": mark.width, "line_alpha": mark.alpha}
    style = {name: _spec(value) for name, value in style.items()}
    return models.MultiLine(xs=mark.x, ys=mark.y, **style) if mark.many else models.Line(x=mark.x, y=mark.y, **style)


def _points(mark: PointMark) -> models.Scatter:
    style = {"line_color": mark.colour, "fill_color": mark.fill, "marker": mark.marker, "size": mark.size}
    style = {name: _spec(value) for name, value in style.items()}
    return models.Scatter(x=mark.x, y=mark.y, line_width=mark.width, **style)


def _area(mark: AreaMark) -> models.Patches:
    colours = {"line_color": _spec(mark.colour), "fill_color": _spec(mark.fill)}
    return models.Patches(xs=mark.x, ys=mark.y, fill_alpha=mark.alpha, line_width=mark.width, **colours)


def _bar(mark: BarMark) -> models.HBar:
    fill = {"fill_color": _spec(mark.colour), "fill_alpha": mark.alpha}
    return models.HBar(y=mark.y, right=mark.x, height=mark.height, line_color=None, **fill)


def _text(mark: TextMark) -> models.Text:
    drawn = models.Text(x=mark.x, y=mark.y, text=mark.text, text_align=mark.align, x_offset=_spec(mark.right))
    down = models.CustomJSTransform(func="return -x", v_func="return xs.map((x) => -x)")
    drawn.y_offset = {**_spec(mark.up), "transform": down} if isinstance(mark.up, Column) else -mark.up
    drawn.update(text_color=_spec(mark.colour), text_font={"value": FONT}, text_font_size=f"{mark.size}px")
    drawn.update(text_font_style="bold" if mark.bold else "normal")
    drawn.text_baseline = "middle" if mark.align == "center" else "bottom"
    return drawn


def _rule(mark: RuleMark) -> models.HSpan:
    return models.HSpan(y=mark.y, line_color=mark.colour, line_dash=mark.dash, line_width=mark.width)


def _contour(mark: ContourMark) -> models.MultiPolygons:
    line = {"line_color": mark.colour, "line_width": mark.width, "line_alpha": mark.alpha}
    return models.MultiPolygons(xs="xs", ys="ys", fill_color={"field": "fill"}, **line)


def _arrow(mark: ArrowMark, source: models.ColumnDataSource) -> models.Arrow:
    head = models.NormalHead(size=9, fill_color=mark.colour, line_color=mark.colour)
    ends = {"x_start": mark.x, "y_start": mark.y, "x_end": mark.x_end, "y_end": mark.y_end}
    return models.Arrow(source=source, end=head, line_color=mark.colour, line_width=mark.width, level="overlay", **ends)


_GLYPHS: Mapping[type[Mark], Callable[[Any], models.Glyph]] = {
    **{LineMark: _line, PointMark: _points, AreaMark: _area, BarMark: _bar},
    **{TextMark: _text, RuleMark: _rule, ContourMark: _contour},
}


class Marks:
    """The cursor: an upright line per run at the step shown, in every figure; `x` is the column that is drawn."""

    def __init__(self, styles: Mapping[str, RunStyle], x: str) -> None:
        self._keys, self._x = list(styles), x
        colours = [style.colour for style in styles.values()]
        nowhere = [math.nan] * len(colours)
        self.source = models.ColumnDataSource({"colour": colours, **dict.fromkeys(X_AXES, nowhere)}, name="marks")
        self.renderers: list[models.GlyphRenderer] = []

    def draw(self, plot: figure, key: str | None = None) -> None:
        """Draw the lines of all runs in `plot`, or that of one run alone."""
        line = models.VSpan(x=self._x, line_color="colour", line_width=1.5, line_alpha=0.9)
        view = models.CDSView() if key is None else models.CDSView(filter=models.IndexFilter([self._keys.index(key)]))
        self.renderers.append(plot.add_glyph(self.source, line, view=view))

    def set_x(self, x: str) -> None:
        self._x = x
        for renderer in self.renderers:
            renderer.glyph.x = x

    def move(self, positions: Mapping[str, Mapping[str, float]]) -> None:
        """Move the lines to the positions of the runs, by column; a run without a position has no line."""
        at = {name: [float(positions.get(key, {}).get(name, math.nan)) for key in self._keys] for name in X_AXES}
        drawn = {name: list(self.source.data[name]) for name in X_AXES}
        if str(at) != str(drawn):  # a nan differs from itself
            self.source.data = {**self.source.data, **at}  # at once: each change paints all figures
