"""A picture as SVG, drawn of the Bokeh figure that HoloViews makes of it: kilobytes, no script and no browser.

Heat maps and surfaces stand in it as images of one pixel a field, lines, points and words as marks of `chart.svg`.
"""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from bokeh import models
from bokeh.core.property.vectorization import Field, Value
from bokeh.plotting import figure
from numpy.typing import NDArray
from PIL import Image

from mklviz.views.chart.axes import PERCENT, Span, axis_share, axis_ticks, tick_text
from mklviz.views.chart.description import AreaMark, Axis, Chart, Column, LineMark, Mark, PointMark, Table, TextMark
from mklviz.views.chart.svg import TICK, ChartFrame, Tick, chart_style, mark_svg, shortened, well_formed
from mklviz.views.look.palette import DARK, FONT, LIGHT
from mklviz.views.pictures.style import HEIGHT, WIDTH, rendered

LETTER, LINE, MARGIN, BAR = 6.6, 18.0, 14.0, 62.0  # pixels: of a letter, a line of words, the border, a colour bar
LONGEST = 24  # letters of a name beside an axis


def still(picture: Any, dressed_alone: bool = False) -> str | None:
    """Return a picture, or several side by side, as SVG; None where it has something that is not drawn here.

    `dressed_alone`: whether those that do not look as `style.dressed` leaves them are not drawn, either.
    """
    state = rendered(picture)
    placed = state.children if isinstance(state, models.GridPlot) else [(state, 0, 0)]
    parts: list[str] = []
    rights, bottoms, size = {-1: 0.0}, {-1: 0.0}, [0.0, 0.0]
    for plot, row, column, *_ in placed:
        if not isinstance(plot, figure) or not _known(plot) or (dressed_alone and plot.title.text_font != FONT):
            return None
        try:
            frame = _StillFrame(plot, rights.get(column - 1, 0.0), bottoms.get(row - 1, 0.0))
            drawn = [*frame.parts()]
        # words on an axis, sizes by a column, other glyphs, axes that are empty or turned round
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
            return None
        rights[column] = max(rights.get(column, 0.0), frame.left_edge + frame.width)
        bottoms[row] = max(bottoms.get(row, 0.0), frame.top_edge + frame.height)
        size = [max(size[0], rights[column]), max(size[1], bottoms[row])]
        parts += drawn
    across, down = (f"{length:.0f}" for length in size)
    theme = DARK if placed[0][0].background_fill_color == DARK.card else LIGHT
    return well_formed(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}"'
        f' role="img" font-family="{FONT}"><style>{chart_style(theme)}</style>'
        f'<rect width="{across}" height="{down}" fill="{theme.card}"/>{"".join(parts)}</svg>'
    )


def _known(plot: figure) -> bool:
    """Return whether all in a figure is drawn here."""
    if not {type(axis) for axis in plot.axis} <= {models.LinearAxis, models.LogAxis, models.CategoricalAxis}:
        return False
    if len(plot.axis) != 2 or not all(
        isinstance(each, (models.FactorRange, models.Range1d)) for each in (plot.x_range, plot.y_range)
    ):
        return False
    for low, high in map(_span, (plot.x_range, plot.y_range)):
        if not low < high:  # turned round, or empty
            return False
    if any(isinstance(part, models.ColorBar) for part in (*plot.left, *plot.above, *plot.below)):
        return False
    for glyph in map(_glyph, plot.renderers):
        mapper = getattr(glyph, "color_mapper", None) or getattr(getattr(glyph, "fill_color", None), "transform", None)
        if mapper is not None and (type(mapper) is not models.LinearColorMapper or len(mapper.palette) > 255):
            return False
    return all(isinstance(part, (models.Grid, models.Legend)) for part in plot.center)


class _StillFrame(ChartFrame):
    """One figure in its place."""

    def __init__(self, plot: figure, left: float, top: float) -> None:
        self.plot, self.left_edge, self.top_edge = plot, left, top
        self.width, self.height = float(plot.width or WIDTH), float(plot.height or HEIGHT)
        scales = [type(scale).__name__ == "LogScale" for scale in (plot.x_scale, plot.y_scale)]
        axes = [
            Axis((axis.visible and axis.axis_label) or "", "log" if log else "linear")
            for axis, log in zip(_axes(plot), scales, strict=True)
        ]
        self.chart = Chart("still", x=axes[0], y=axes[1])
        self.names = _factors(plot.x_range), _factors(plot.y_range)
        self.spans = [_span(each) for each in (plot.x_range, plot.y_range)]
        self.turned = isinstance(_axes(plot)[0].major_label_orientation, (int, float))
        self.legend = list(self._legend_places())
        self.lines = self.legend[-1][1] + 1 if self.legend else 0
        self._place()

    def _place(self) -> None:
        """Leave room for title, legend, ticks, labels and colour bar."""
        self.ticks: list[list[Tick]] = [[], []]
        self.top = self.top_edge + MARGIN + LINE * (self.lines + bool(self.plot.title.text))
        self.ticks[1] = self._ticks(1, 5)
        longest = max((len(text) for _, text in self.ticks[1]), default=0)
        self.left = self.left_edge + MARGIN + LETTER * longest + (LINE if self.chart.y.label else 0.0)
        self.right = self.left_edge + self.width - MARGIN - (BAR if _bars(self.plot) else 0.0)
        self.ticks[0] = self._ticks(0, max(2, min(6, round((self.right - self.left) / TICK))))
        below = max((len(text) for _, text in self.ticks[0]), default=0) * LETTER * 0.8 if self.turned else LINE
        below += LINE if self.chart.x.label else 0.0
        self.bottom = self.top_edge + self.height - 0.5 * MARGIN - (below if self.ticks[0] else 0.0)
        if self.plot.match_aspect or self.plot.aspect_scale != 1:
            self.keep_to_scale()

    @property
    def room(self) -> tuple[float, float]:
        return self.right - self.left, self.bottom - self.top

    def _ticks(self, which: int, most: int) -> list[Tick]:
        axis, factors = _axes(self.plot)[which], self.names[which]
        if not axis.visible:
            return []
        if factors:
            return [(k + 0.5, shortened(name, LONGEST)) for k, name in enumerate(factors)]
        if hasattr(axis.ticker, "ticks"):
            return [(at, shortened(axis.major_label_overrides.get(at, f"{at:g}"), LONGEST)) for at in axis.ticker.ticks]
        numbers: Any = "percent" if getattr(axis.formatter, "code", "") == PERCENT else "short"
        chart = (self.chart.x, self.chart.y)[which]
        return [(at, tick_text(at, numbers)) for at in axis_ticks(self.spans[which], chart, most)]

    def parts(self) -> Iterator[str]:
        plot, wide, high = self.plot, *self.room
        place = f'x="{self.left_edge + MARGIN:.0f}" y="{self.top_edge + 18:.0f}"'
        yield f'<text class="n" {place} font-weight="700">{escape(plot.title.text or "")}</text>'
        yield from self._legend()
        yield from self._axes()
        yield (
            f'<svg x="{self.left:.1f}" y="{self.top:.1f}" width="{wide:.1f}" height="{high:.1f}"'
            f' viewBox="{self.left:.1f} {self.top:.1f} {wide:.1f} {high:.1f}">'
        )
        for renderer in plot.renderers:
            if renderer.visible:
                glyph = _glyph(renderer)
                data = {} if glyph is renderer else renderer.data_source.data
                yield from _GLYPHS[type(glyph).__name__](glyph, data, self)
        yield "</svg>"
        for bar in _bars(plot):
            yield from self._bar(bar.color_mapper)

    def _axes(self) -> Iterator[str]:
        x, y = self.chart.x, self.chart.y
        grids = self.plot.grid[0].visible
        yield from self.rows(self.ticks[1], lines=grids and not self.names[1])
        for value, text in self.ticks[0]:
            at, below = self.x(value), self.bottom + 15
            turn = f' class="e" transform="rotate(-50 {at:.1f} {below:.1f})"' if self.turned else ' class="m"'
            yield f'<text{turn} x="{at:.1f}" y="{below:.1f}">{escape(text)}</text>'
        if self.ticks[0]:
            yield f'<path class="a" d="M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"/>'
        middle, edge = (self.left + self.right) / 2, self.top_edge + self.height - 6
        yield f'<text class="m" x="{middle:.1f}" y="{edge:.1f}">{escape(x.label)}</text>'
        side, height = self.left_edge + MARGIN, (self.top + self.bottom) / 2
        turn = f"rotate(-90 {side:.1f} {height:.1f})"
        yield f'<text class="m" transform="{turn}" x="{side:.1f}" y="{height:.1f}">{escape(y.label)}</text>'

    def _legend_places(self) -> Iterator[tuple[float, int, str, Sequence[Any]]]:
        """Yield how far right and in which line each name of a legend that is shown stands, and what has it."""
        at, line = self.left_edge + MARGIN, 0
        for item in [item for legend in self.plot.legend if legend.visible for item in legend.items]:
            name = str(_of(item.label, {}))
            room = 48 + LETTER * len(name)
            if at + room > self.left_edge + self.width and at > self.left_edge + MARGIN:
                at, line = self.left_edge + MARGIN, line + 1
            yield at, line, name, item.renderers
            at += room

    def _legend(self) -> Iterator[str]:
        for at, line, name, renderers in self.legend:
            y = self.top - LINE * (self.lines - line) + 4
            for renderer in renderers:
                for mark in _marks(renderer.glyph, renderer.data_source.data):
                    xs = [at + 12] if isinstance(mark, PointMark) else [at, at + 24]
                    if not getattr(mark, "many", False):
                        yield mark_svg(mark, {"x": xs, "y": [y] * len(xs)}, _PIXELS)
            yield f'<text class="n" x="{at + 30:.0f}" y="{y + 4:.0f}">{escape(name)}</text>'

    def _bar(self, mapper: Any) -> Iterator[str]:
        shades = np.linspace(mapper.low, mapper.high, len(mapper.palette))[::-1, None]
        left, span = self.right + 8, (float(mapper.low), float(mapper.high))
        yield _image(shades, mapper, left, self.top, 10, self.bottom - self.top)
        for value in axis_ticks(span, Axis(), 5) if span[1] > span[0] else ():
            y = self.bottom - (self.bottom - self.top) * axis_share(value, span, False)
            yield f'<text x="{left + 15:.1f}" y="{y + 4:.1f}">{tick_text(value, "short")}</text>'


_PIXELS = ChartFrame(Chart("legend"), 0.0, 1.0, 1.0, 0.0, [(0.0, 1.0), (0.0, 1.0)])  # whose places are pixels already


def _axes(plot: figure) -> tuple[Any, Any]:
    return plot.xaxis[0], plot.yaxis[0]


def _bars(plot: figure) -> list[Any]:
    return [part for part in plot.right if isinstance(part, models.ColorBar)]


def _factors(shown: Any) -> list[str]:
    return list(shown.factors) if isinstance(shown, models.FactorRange) else []


def _span(shown: Any) -> Span:
    ends = (0, len(shown.factors)) if isinstance(shown, models.FactorRange) else (shown.start, shown.end)
    return float(ends[0]), float(ends[1])


def _glyph(renderer: Any) -> Any:
    """Return what a renderer draws its data by; a line across all has no data, and is that itself."""
    return getattr(renderer, "glyph", renderer)


def _of(value: Any, data: Mapping[str, Any]) -> Any:
    """Return what a property of a glyph says: a column, or one value for all."""
    name = value.field if isinstance(value, Field) else value
    if isinstance(name, str) and name in data:
        mapper = getattr(value, "transform", None)
        return data[name] if mapper is None else _shades(np.asarray(data[name], dtype=np.float64), mapper)
    return value.value if isinstance(value, Value) else value


def _shades(values: NDArray[Any], mapper: Any) -> list[str]:
    """Return the colours of values; transparent for nan."""
    return [([*mapper.palette, "transparent"])[place] for place in _place(values, mapper).tolist()]


def _place(values: NDArray[Any], mapper: Any) -> NDArray[np.uint8]:
    """Return the places of values in a palette, that after the last for nan."""
    low, high, count = float(mapper.low), float(mapper.high), len(mapper.palette)
    share = (np.asarray(values, dtype=np.float64) - low) / ((high - low) or 1.0)
    places = np.clip(np.where(np.isfinite(share), share, 0.0) * count, 0, count - 1)
    return np.where(np.isfinite(share), places, count).astype(np.uint8)


def _column(glyph: Any, name: str, data: Mapping[str, Any]) -> list[Any]:
    values = _of(getattr(glyph, name), data)
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in values]


def _marks(glyph: Any, data: Mapping[str, Any]) -> Iterator[Mark]:
    """Yield how lines and points of a glyph look; their places are columns x and y."""
    colour, width = _of(glyph.line_color, data), _of(glyph.line_width, data)
    colour = Column("colour") if isinstance(colour, list) else colour
    if hasattr(glyph, "marker"):
        fill = None if _of(glyph.fill_alpha, data) == 0.0 else _of(glyph.fill_color, data)
        yield PointMark("", "x", "y", colour, fill, _of(glyph.marker, data), float(_of(glyph.size, data)), float(width))
    else:
        dash, alpha = _of(glyph.line_dash, data), _of(glyph.line_alpha, data)
        many = not hasattr(glyph, "x")
        yield LineMark(
            "", "x", "y", colour, dash if isinstance(dash, str) else " ".join(map(str, dash)), width, alpha, many=many
        )


def _places(glyph: Any, data: Mapping[str, Any], frame: _StillFrame) -> Iterator[str]:
    names = ("xs", "ys") if hasattr(glyph, "xs") else ("x", "y")
    if hasattr(glyph, "x0"):
        ends = [_column(glyph, name, data) for name in ("x0", "x1", "y0", "y1")]
        table: Table = {"x": list(zip(*ends[:2], strict=True)), "y": list(zip(*ends[2:], strict=True))}
    else:
        table = {"x": _column(glyph, names[0], data), "y": _column(glyph, names[1], data)}
    table = {**table, "colour": _of(glyph.line_color, data)}
    yield from (mark_svg(mark, table, frame) for mark in _marks(glyph, data))


def _rule(line: Any, data: Mapping[str, Any], frame: _StillFrame) -> Iterator[str]:
    """Draw a line across all of the figure."""
    at, (along, up) = [float(line.location)] * 2, frame.spans
    table: Table = {"x": [at], "y": [up]} if line.dimension == "height" else {"x": [along], "y": [at]}
    yield from (mark_svg(mark, table, frame) for mark in _marks(line, data))


def _words(glyph: Any, data: Mapping[str, Any], frame: _StillFrame) -> Iterator[str]:
    table = {name: _column(glyph, name, data) for name in ("x", "y", "text")}
    align: Any = "center" if _of(glyph.text_align, data) == "center" else "left"
    written = re.fullmatch(r"([\d.]+)(px|pt|em|rem|)", str(_of(glyph.text_font_size, data)).lower())
    size = round(float(written[1]) * {"pt": 4 / 3, "em": 16.0, "rem": 16.0}.get(written[2], 1.0)) if written else 16
    bold = _of(glyph.text_font_style, data) == "bold"
    yield mark_svg(TextMark("", colour=_of(glyph.text_color, data), size=size, bold=bold, align=align), table, frame)


def _boxes(glyph: Any, data: Mapping[str, Any], frame: _StillFrame) -> Iterator[str]:
    """Draw bars, lying or standing."""
    lying = hasattr(glyph, "right")
    ends = ("left", "right") if lying else ("bottom", "top")
    first, last = (_of(getattr(glyph, name), data) for name in ends)
    middles = _column(glyph, "y" if lying else "x", data)
    half = float(_of(glyph.height if lying else glyph.width, data)) / 2
    begins = [first] * len(middles) if np.isscalar(first) else first
    for middle, begin, end in zip(middles, begins, last, strict=True):
        across = [frame.at(middle, int(lying)) + side for side in (-half, half)]
        xs, ys = ([begin, end], across) if lying else (across, [begin, end])
        (a, b), (top, bottom) = sorted(map(frame.x, xs)), sorted(map(frame.y, ys))
        place = f'x="{a:.1f}" y="{top:.1f}" width="{b - a:.1f}" height="{bottom - top:.1f}"'
        yield f'<rect {place} fill="{_of(glyph.fill_color, data)}" fill-opacity="{_of(glyph.fill_alpha, data):g}"/>'


def _shapes(glyph: Any, data: Mapping[str, Any], frame: _StillFrame) -> Iterator[str]:
    """Draw areas: polygons, and what is between two lines."""
    if hasattr(glyph, "y1"):
        x, low, high = (_column(glyph, name, data) for name in ("x", "y1", "y2"))
        table: Table = {"xs": [x + x[::-1]], "ys": [low + high[::-1]]}
    else:
        one = hasattr(glyph, "x")
        table = {f"{name}s": [_column(glyph, name, data)] if one else _column(glyph, f"{name}s", data) for name in "xy"}
    yield mark_svg(AreaMark("", fill=_of(glyph.fill_color, data), alpha=_of(glyph.fill_alpha, data)), table, frame)


def _surface(glyph: Any, data: Mapping[str, Any], frame: _StillFrame) -> Iterator[str]:
    for image, *place in zip(
        *(_of(getattr(glyph, name), data) for name in ("image", "x", "y", "dw", "dh")), strict=True
    ):
        x, y, wide, high = map(float, place)
        left, right, top, bottom = frame.x(x), frame.x(x + wide), frame.y(y + high), frame.y(y)
        yield _image(np.asarray(image)[::-1], glyph.color_mapper, left, top, right - left, bottom - top)


def _fields(glyph: Any, data: Mapping[str, Any], frame: _StillFrame) -> Iterator[str]:
    """Draw the fields of a heat map as an image, with lines of the page's colour between them."""
    columns, rows = frame.names
    values = np.full((len(rows), len(columns)), np.nan)
    places = [(rows.index(y), columns.index(x)) for x, y in zip(*(_column(glyph, n, data) for n in "xy"), strict=True)]
    values[tuple(np.transpose(places))] = data[glyph.fill_color.field]
    wide, high = frame.room
    yield _image(values[::-1], glyph.fill_color.transform, frame.left, frame.top, wide, high)
    inner = [f"M{frame.x(k):.1f} {frame.top:.1f}v{high:.1f}" for k in range(1, len(columns))]
    inner += [f"M{frame.left:.1f} {frame.y(k):.1f}h{wide:.1f}" for k in range(1, len(rows))]
    yield f'<path d="{"".join(inner)}" stroke="{frame.plot.background_fill_color}"/>'


def _image(values: NDArray[Any], mapper: Any, left: float, top: float, width: float, height: float) -> str:
    """Return values as an image with the mapper's palette, the first row at the top; what is nan lets all through."""
    image, file = Image.fromarray(_place(values, mapper)), io.BytesIO()  # of places in the palette
    image.putpalette(b"".join(bytes.fromhex(colour.lstrip("#")[:6]) for colour in mapper.palette) + b"\0\0\0")
    image.save(file, "PNG", optimize=True, transparency=len(mapper.palette))
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    looks = 'preserveAspectRatio="none" style="image-rendering: pixelated"'
    return f'<image {place} {looks} href="data:image/png;base64,{b64encode(file.getvalue()).decode()}"/>'


_GLYPHS: Mapping[str, Callable[[Any, Mapping[str, Any], _StillFrame], Iterator[str]]] = {
    **dict.fromkeys(("Line", "MultiLine", "Segment", "Scatter"), _places),
    **dict.fromkeys(("HBar", "VBar"), _boxes),
    **dict.fromkeys(("Patch", "Patches", "VArea"), _shapes),
    **{"Text": _words, "Image": _surface, "Rect": _fields, "Span": _rule},
}
