"""Charts as plain SVG, which any page shows without a script: axes, grid and marks as the dashboard draws them."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from mklviz.views.chart.axes import Span, axis_share, axis_span, axis_ticks, tick_text
from mklviz.views.chart.columns import contour_bands
from mklviz.views.chart.description import (
    AreaMark,
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
)
from mklviz.views.look.palette import DASHES, FONT, MARKERS, Theme

FLAT = 0.2  # pixels; a point this close to the line between its neighbours is left out
MARKER_SIZE = 8.0  # of the shapes of `MARKERS`, whose middle is MIDDLE
MIDDLE = (11.0, 6.0)
Tick = tuple[float, str]
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass
class ChartFrame:
    """The rectangle of a chart on a picture, and what its axes span; a name has a room of one unit on its axis."""

    chart: Chart
    left: float
    right: float
    top: float
    bottom: float
    spans: list[Span]
    names: tuple[Sequence[str], Sequence[str]] = ((), ())

    def x(self, value: Any) -> float:
        """Return how far to the right a value or a name is."""
        return self.left + (self.right - self.left) * self._share(value, 0)

    def y(self, value: Any) -> float:
        """Return how far down a value or a name is."""
        return self.bottom - (self.bottom - self.top) * self._share(value, 1)

    def at(self, value: Any, which: int) -> float:
        """Return the number at which a name stands on an axis; a value stands at itself."""
        return self.names[which].index(value) + 0.5 if isinstance(value, str) else float(value)

    def _share(self, value: Any, which: int) -> float:
        return axis_share(self.at(value, which), self.spans[which], (self.chart.x, self.chart.y)[which].log)

    def shows(self, value: Any, which: int) -> bool:
        """Return whether a value or a name has a place on an axis."""
        return isinstance(value, str) or (self.chart.x, self.chart.y)[which].shows(value)

    def keep_to_scale(self) -> None:
        """Make one axis longer, so that a unit of both is as long."""
        room = self.right - self.left, self.bottom - self.top
        unit = max((high - low) / length for (low, high), length in zip(self.spans, room, strict=True))
        middles = [(low + high) / 2 for low, high in self.spans]
        halves = [unit * length / 2 for length in room]
        self.spans = [(middle - half, middle + half) for middle, half in zip(middles, halves, strict=True)]

    def rows(self, ticks: Iterable[Tick], look: str = "e", lines: bool = True) -> Iterator[str]:
        """Yield the words at ticks of the upright axis, and lines across from them."""
        for value, text in ticks:
            y = self.y(value)
            if lines:
                yield f'<path class="g" d="M{self.left:.1f} {y:.1f}H{self.right:.1f}"/>'
            yield f'<text class="{look}" x="{self.left - 6:.1f}" y="{y + 4:.1f}">{escape(text)}</text>'


def mark_svg(mark: Mark, table: Table, axes: ChartFrame) -> str:
    """Return a mark as SVG; "" for one that no drawer knows here, such as arrows."""
    draw = _DRAWERS.get(type(mark))
    return "".join(draw(mark, table, axes)) if draw is not None else ""


def _each(value: Any, table: Table, rows: int) -> Sequence[Any]:
    """Return what a mark says of each row, which may be a column."""
    return table[value.name] if isinstance(value, Column) else [value] * rows


def places(mark: Any, table: Table, axes: ChartFrame) -> Iterator[tuple[int, float, float]]:
    """Yield the rows that have a place on both axes, with it."""
    for row, (x, y) in enumerate(zip(table[mark.x], table[mark.y], strict=True)):
        if axes.shows(x, 0) and axes.shows(y, 1):
            yield row, axes.x(x), axes.y(y)


def _line_mark(mark: LineMark, table: Table, axes: ChartFrame) -> Iterator[str]:
    if not mark.colour:
        return
    xs, ys = (table[mark.x], table[mark.y]) if mark.many else ([table[mark.x]], [table[mark.y]])
    looks = zip(
        *(_each(value, table, len(xs)) for value in (mark.colour, mark.dash, mark.width, mark.alpha)), strict=True
    )
    for along, up, look in zip(xs, ys, looks, strict=True):
        if path := _pieces(along, up, axes):
            yield f'<path d="{path}" {_painted(*look)}/>'


def _rule_mark(mark: RuleMark, table: Table, axes: ChartFrame) -> Iterator[str]:
    heights = [axes.y(value) for value in table[mark.y] if axes.chart.y.shows(value)] if mark.y else []
    if path := "".join(f"M{axes.left:.1f} {y:.1f}H{axes.right:.1f}" for y in heights):
        yield f'<path d="{path}" {_painted(mark.colour, mark.dash, mark.width, mark.alpha)}/>'


def shortened(name: str, letters: int) -> str:
    """Return a name with at most so many letters."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _painted(colour: Any, dash: Any, width: float, alpha: float) -> str:
    """Return how a line is painted, as attributes."""
    opacity = f' stroke-opacity="{alpha:g}"' if alpha != 1 else ""
    pattern = DASHES.get(str(dash), str(dash))
    dashes = f' stroke-dasharray="{pattern}"' if pattern else ""
    return f'stroke="{colour}" stroke-width="{width:g}"{dashes}{opacity}'


def _pieces(along: Sequence[float], up: Sequence[float], axes: ChartFrame) -> str:
    """Return a path through points, with a hole where there is none, to the limit of the axis."""
    commands: list[str] = []
    piece: list[Span] = []
    for x, y in zip(along, up, strict=True):
        if x > axes.chart.x.limit:
            break
        if axes.chart.x.shows(x) and axes.chart.y.shows(y):
            piece.append((axes.x(x), axes.y(y)))
        else:
            commands.append(_line(piece))
            piece = []
    return "".join([*commands, _line(piece)])


def _line(points: Sequence[Span]) -> str:
    """Return a path through `points`, without those that a straight line passes by anyway."""
    kept = list(points[:1])
    for (x, y), (next_x, next_y) in pairwise(points[1:]):
        last_x, last_y = kept[-1]
        straight = last_y + (next_y - last_y) * (x - last_x) / max(next_x - last_x, 1e-9)
        if next_x <= last_x or abs(y - straight) > FLAT:
            kept.append((x, y))
    kept += points[1:][-1:]
    return "".join(f"{'L' if place else 'M'}{x:.1f} {y:.1f}" for place, (x, y) in enumerate(kept))


def _point_mark(mark: PointMark, table: Table, axes: ChartFrame) -> Iterator[str]:
    rows = len(table[mark.x])
    looks = list(zip(*(_each(v, table, rows) for v in (mark.colour, mark.fill, mark.marker, mark.size)), strict=True))
    for row, x, y in places(mark, table, axes):
        colour, fill, marker, size = looks[row]
        if colour or fill:
            scale = size / MARKER_SIZE
            shape = MARKERS.get({"x": "cross"}.get(marker, marker), MARKERS["circle"])
            move = f"translate({x - MIDDLE[0] * scale:.1f} {y - MIDDLE[1] * scale:.1f}) scale({scale:.2f})"
            style = f"fill:{fill or 'none'};stroke:{colour or 'none'};stroke-width:{mark.width / scale:.2g}"
            yield f'<path transform="{move}" d="{shape}" style="{style}"/>'


def _bar_mark(mark: BarMark, table: Table, axes: ChartFrame) -> Iterator[str]:
    colours, high = _each(mark.colour, table, len(table[mark.x])), mark.height * abs(axes.y(1.0) - axes.y(0.0))
    for row, x, y in places(mark, table, axes):
        place = f'x="{axes.left:.1f}" y="{y - high / 2:.1f}" width="{max(x - axes.left, 0.5):.1f}" height="{high:.1f}"'
        yield f'<rect {place} rx="2" fill="{colours[row]}" fill-opacity="{mark.alpha:g}"/>'


def _text_mark(mark: TextMark, table: Table, axes: ChartFrame) -> Iterator[str]:
    colours, right, high = (_each(each, table, len(table[mark.x])) for each in (mark.colour, mark.right, mark.up))
    middle, weight = mark.align == "center", 700 if mark.bold else 400
    for row, x, y in places(mark, table, axes):
        look = f"fill:{colours[row]};font-size:{mark.size}px;font-weight:{weight}"
        anchor = ' class="m"' if middle else ""
        line = mark.size * (0.35 if middle else -0.25)  # below the middle, or above the bottom
        words = escape(str(table[mark.text][row]))
        yield f'<text{anchor} x="{x + right[row]:.1f}" y="{y - high[row] + line:.1f}" style="{look}">{words}</text>'


def _area_mark(mark: AreaMark, table: Table, axes: ChartFrame) -> Iterator[str]:
    rows = len(table[mark.x])
    looks = zip(_each(mark.fill, table, rows), _each(mark.colour, table, rows), strict=True)
    for xs, ys, (fill, colour) in zip(table[mark.x], table[mark.y], looks, strict=True):
        style = f"fill:{fill or 'none'};fill-opacity:{mark.alpha:g};stroke:{colour or 'none'}"
        yield f'<path d="{_ring(xs, ys, axes)}" style="{style};stroke-width:{mark.width:g}"/>'


def _contour_mark(mark: ContourMark, table: Table, axes: ChartFrame) -> Iterator[str]:
    bands = contour_bands(mark, table)
    for polygons_x, polygons_y, fill in zip(bands["xs"], bands["ys"], bands["fill"], strict=True):
        rings = [
            _ring(xs, ys, axes)
            for ring_x, ring_y in zip(polygons_x, polygons_y, strict=True)
            for xs, ys in zip(ring_x, ring_y, strict=True)
        ]
        style = f"fill:{fill};fill-rule:evenodd;stroke:{mark.colour or 'none'};stroke-width:{mark.width:g}"
        yield f'<path d="{"".join(rings)}" style="{style};stroke-opacity:{mark.alpha:g}"/>'


def _ring(xs: Sequence[float], ys: Sequence[float], axes: ChartFrame) -> str:
    points = [f"{axes.x(x):.1f} {axes.y(y):.1f}" for x, y in zip(xs, ys, strict=True) if math.isfinite(x + y)]
    return f"M{'L'.join(points)}Z" if points else ""


_DRAWERS: Mapping[type[Mark], Callable[[Any, Table, ChartFrame], Iterator[str]]] = {
    **{LineMark: _line_mark, RuleMark: _rule_mark, PointMark: _point_mark, BarMark: _bar_mark},
    **{TextMark: _text_mark, AreaMark: _area_mark, ContourMark: _contour_mark},
}


LEFT, RIGHT, HEAD, FOOT = 56, 14, 34, 40  # pixels around the axes of a chart
TICK = 34  # pixels that the number of a tick takes at least
NAME = 8.6  # pixels of a letter of a name beside a bar
NAMED = 0.6  # of the width, at most, for such names


@dataclass(frozen=True)
class Legend:
    """Names with their lines, in a row of their own below a heading."""

    title: str
    entries: Sequence[tuple[str, str, str]]  # name, colour, dash


Row = tuple[Sequence[Chart], int]  # charts side by side, and their height


def drawing(
    parts: Sequence[Row | Legend],
    tables: Tables,
    label: str,
    theme: Theme,
    width: int = 960,
    shown: Tables | None = None,
) -> str:
    """Return rows of charts and legends, from top to bottom, as SVG; axes are of `tables`, what is drawn of `shown`."""
    body: list[str] = []
    y = 6.0
    for part in parts:
        if isinstance(part, Legend):
            drawn, y = _legend(part, y, width)
            body += drawn
        else:
            charts, height = part
            across = width / max(len(charts), 1)
            for index, chart in enumerate(charts):
                body += _PlacedChart(chart, tables, index * across, y, across, height).parts(shown or tables)
            y += height
    size = f'viewBox="0 0 {width} {y:.0f}" width="{width}" height="{y:.0f}"'
    return well_formed(
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}" font-family="{FONT}">'
        f"<style>{chart_style(theme)}</style>"
        f'<rect width="{width}" height="{y:.0f}" rx="10" fill="{theme.card}"/>{"".join(body)}</svg>'
    )


def well_formed(drawn: str) -> str:
    """Return XML without the control characters and halves of letters that names of columns and files may bring."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", drawn)


def svg_address(drawn: str) -> str:
    """Return SVG as the address of a picture, whose style sheet cannot reach the page around it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"


def still_html(drawn: str, name: str) -> str:
    """Return a picture as HTML that needs no trust: a page may show it where it lets no scripts and no SVG in."""
    return f'<img alt="{escape(name)}" style="max-width: 100%" src="{svg_address(drawn)}">'


def still_bundle(drawn: str, name: str) -> dict[str, str]:
    """Return a picture in every form in which a notebook may show it."""
    return {"text/html": still_html(drawn, name), "image/svg+xml": drawn, "text/plain": name}


def chart_style(theme: Theme) -> str:
    """Return the style sheet of a drawing."""
    return (
        f"text {{ fill: {theme.muted}; font-size: 12px }}"
        f" .t {{ fill: {theme.text}; font-size: 15px; font-weight: 700 }}"
        f" .n {{ fill: {theme.text} }} .e {{ text-anchor: end }} .m {{ text-anchor: middle }}"
        f" .g {{ stroke: {theme.grid} }} .a {{ stroke: {theme.axis} }} path {{ fill: none; stroke-linejoin: round }}"
    )


def _legend(legend: Legend, top: float, width: float) -> tuple[list[str], float]:
    y = top + 22
    parts = [f'<text class="t" x="14" y="{y:.0f}">{escape(legend.title)}</text>']
    x = 14 + 8.6 * len(legend.title) + (18 if legend.title else 0)
    for name, colour, dash in legend.entries:
        room = 48 + 6.6 * len(name)
        if x + room > width:
            x, y = 14.0, y + 20
        parts.append(f'<path d="M{x:.0f} {y - 4:.0f}h24" {_painted(colour, dash, 2.4, 1.0)}/>')
        parts.append(f'<text class="n" x="{x + 30:.0f}" y="{y:.0f}">{escape(name)}</text>')
        x += room
    return parts, y + 8


class _PlacedChart(ChartFrame):
    """A chart in its place."""

    def __init__(self, chart: Chart, tables: Tables, left: float, top: float, width: float, height: float) -> None:
        self.chart = chart
        self.left, self.right = left + (LEFT if chart.y.visible else RIGHT), left + width - RIGHT
        self.top = top + (HEAD if chart.title or chart.beside else RIGHT)
        self.bottom = top + height - (FOOT if chart.x.visible else RIGHT)
        self.title_at, self.head = left + 14, top + 20
        bars = [mark for mark in chart.marks if isinstance(mark, BarMark)]
        names = [str(name) for mark in bars[:1] for name in tables[mark.table][mark.y]]
        letters = int(NAMED * width / NAME)
        words, middle = names or chart.y.names, 0.5 if names else 0.0  # of the room of a bar
        self.left = max([self.left, *(left + NAME * min(len(name), letters) + 12 for name in words)])
        self.named = [(at + middle, shortened(name, letters)) for at, name in enumerate(words)]
        self.names = (), names
        up = (0.0, float(len(names))) if names else reached_span(chart, tables, 1, 0.06)
        self.spans = [reached_span(chart, tables, 0, 0.0), up]
        if chart.equal_units:
            self.keep_to_scale()

    def parts(self, shown: Tables) -> Iterator[str]:
        chart = self.chart
        yield f'<text class="t" x="{self.title_at:.0f}" y="{self.head:.0f}">{escape(chart.title)}</text>'
        yield f'<text class="e" x="{self.right:.0f}" y="{self.head:.0f}">{escape(chart.beside)}</text>'
        yield from self._ticks_up()
        yield from self._ticks_along()
        for mark in chart.marks:
            yield mark_svg(mark, shown[mark.table], self)

    def _ticks_up(self) -> Iterator[str]:
        axis = self.chart.y
        if self.named:
            yield from self.rows(self.named, "e n", lines=False)
        elif axis.visible:
            ticks = axis_ticks(self.spans[1], axis, 5)
            yield from self.rows((value, tick_text(value, axis.numbers)) for value in ticks)
            if axis.label:
                place = f"translate({self.left - LEFT + 10:.0f} {(self.top + self.bottom) / 2:.0f}) rotate(-90)"
                yield f'<text class="m" transform="{place}">{escape(axis.label)}</text>'

    def _ticks_along(self) -> Iterator[str]:
        axis, middle = self.chart.x, (self.left + self.right) / 2
        if not axis.visible:
            return
        yield f'<path class="a" d="M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"/>'
        for value in axis_ticks(self.spans[0], axis, max(2, min(6, round((self.right - self.left) / TICK)))):
            x, y = self.x(value), self.bottom + 16
            yield f'<text class="m" x="{x:.1f}" y="{y:.0f}">{tick_text(value, axis.numbers)}</text>'
        yield f'<text class="m" x="{middle:.0f}" y="{self.bottom + 33:.0f}">{escape(axis.label)}</text>'


def reached_span(chart: Chart, tables: Tables, which: int, padding: float) -> Span:
    """Return where an axis of a chart begins and ends that shows all values in its columns."""
    axis = (chart.x, chart.y)[which]
    columns = [(mark, mark.columns.get("xy"[which])) for mark in chart.marks]
    drawn = [(mark, tables[mark.table][column]) for mark, column in columns if column]
    lists = [values if _nested(mark, values) else [values] for mark, values in drawn]
    reached = [min(value, axis.limit) for each in lists for values in each for value in values]
    return axis_span([value for value in reached if axis.shows(value)], axis, padding)


def _nested(mark: Mark, values: Any) -> bool:
    return (isinstance(mark, LineMark) and mark.many) or bool(len(values) and isinstance(values[0], (list, tuple)))
