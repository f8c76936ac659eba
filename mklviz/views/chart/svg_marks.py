"""Marks as SVG, on axes that say where values are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any, Protocol

from mklviz.views.chart.contours import contour_bands
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
    TextMark,
)
from mklviz.views.chart.ticks import Span
from mklviz.views.look.palette import DASHES, MARKERS

__all__ = ["MarkAxes", "mark_svg"]

FLAT = 0.2  # pixels; a point this close to the line between its neighbours is left out
MARKER_SIZE = 8.0  # of the shapes of `MARKERS`, whose middle is MIDDLE
MIDDLE = (11.0, 6.0)


class MarkAxes(Protocol):
    """Where on the picture values are."""

    chart: Chart
    left: float
    right: float
    band: float  # height of the room of a name, where heights are names

    def x(self, value: float) -> float:
        """Return how far to the right a value is."""
        ...

    def y(self, value: Any) -> float:
        """Return how far down a value or a name is."""
        ...


def mark_svg(mark: Mark, table: Table, axes: MarkAxes) -> str:
    """Return a mark as SVG; "" for one that no drawer knows here, such as arrows."""
    draw = _DRAWERS.get(type(mark))
    return "".join(draw(mark, table, axes)) if draw is not None else ""


def _each(value: Any, table: Table, rows: int) -> Sequence[Any]:
    """Return what a mark says of each row, which may be a column."""
    return table[value.name] if isinstance(value, Column) else [value] * rows


def _places(mark: Any, table: Table, axes: MarkAxes) -> Iterator[tuple[int, float, float]]:
    """Yield the rows that have a place on both axes, with it."""
    for row, (x, y) in enumerate(zip(table[mark.x], table[mark.y], strict=True)):
        if axes.chart.x.shows(x) and (isinstance(y, str) or axes.chart.y.shows(y)):
            yield row, axes.x(x), axes.y(y)


# -- lines


def _line_mark(mark: LineMark, table: Table, axes: MarkAxes) -> Iterator[str]:
    if not mark.colour:
        return
    xs, ys = (table[mark.x], table[mark.y]) if mark.many else ([table[mark.x]], [table[mark.y]])
    looks = zip(
        *(_each(value, table, len(xs)) for value in (mark.colour, mark.dash, mark.width, mark.alpha)), strict=True
    )
    for along, up, look in zip(xs, ys, looks, strict=True):
        if path := _pieces(along, up, axes):
            yield f'<path d="{path}" {_painted(*look)}/>'


def _rule_mark(mark: RuleMark, table: Table, axes: MarkAxes) -> Iterator[str]:
    heights = [axes.y(value) for value in table[mark.y] if axes.chart.y.shows(value)] if mark.y else []
    if path := "".join(f"M{axes.left:.1f} {y:.1f}H{axes.right:.1f}" for y in heights):
        yield f'<path d="{path}" {_painted(mark.colour, mark.dash, mark.width, mark.alpha)}/>'


def _painted(colour: Any, dash: Any, width: float, alpha: float) -> str:
    """Return how a line is painted, as attributes."""
    opacity = f' stroke-opacity="{alpha:g}"' if alpha != 1 else ""
    pattern = DASHES.get(str(dash), "")
    dashes = f' stroke-dasharray="{pattern}"' if pattern else ""
    return f'stroke="{colour}" stroke-width="{width:g}"{dashes}{opacity}'


def _pieces(along: Sequence[float], up: Sequence[float], axes: MarkAxes) -> str:
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


# -- points, bars, shapes and words


def _point_mark(mark: PointMark, table: Table, axes: MarkAxes) -> Iterator[str]:
    rows = len(table[mark.x])
    looks = list(zip(*(_each(v, table, rows) for v in (mark.colour, mark.fill, mark.marker, mark.size)), strict=True))
    for row, x, y in _places(mark, table, axes):
        colour, fill, marker, size = looks[row]
        if colour or fill:
            scale = size / MARKER_SIZE
            shape = MARKERS.get({"x": "cross"}.get(marker, marker), MARKERS["circle"])
            move = f"translate({x - MIDDLE[0] * scale:.1f} {y - MIDDLE[1] * scale:.1f}) scale({scale:.2f})"
            style = f"fill:{fill or 'none'};stroke:{colour or 'none'};stroke-width:{mark.width / scale:.2g}"
            yield f'<path transform="{move}" d="{shape}" style="{style}"/>'


def _bar_mark(mark: BarMark, table: Table, axes: MarkAxes) -> Iterator[str]:
    colours, high = _each(mark.colour, table, len(table[mark.x])), mark.height * axes.band
    for row, x, y in _places(mark, table, axes):
        place = f'x="{axes.left:.1f}" y="{y - high / 2:.1f}" width="{max(x - axes.left, 0.5):.1f}" height="{high:.1f}"'
        yield f'<rect {place} rx="2" fill="{colours[row]}" fill-opacity="{mark.alpha:g}"/>'


def _text_mark(mark: TextMark, table: Table, axes: MarkAxes) -> Iterator[str]:
    colours, right, high = (_each(each, table, len(table[mark.x])) for each in (mark.colour, mark.right, mark.up))
    middle, weight = mark.align == "center", 700 if mark.bold else 400
    for row, x, y in _places(mark, table, axes):
        look = f"fill:{colours[row]};font-size:{mark.size}px;font-weight:{weight}"
        anchor = ' class="m"' if middle else ""
        line = mark.size * (0.35 if middle else -0.25)  # below the middle, or above the bottom
        words = escape(str(table[mark.text][row]))
        yield f'<text{anchor} x="{x + right[row]:.1f}" y="{y - high[row] + line:.1f}" style="{look}">{words}</text>'


def _area_mark(mark: AreaMark, table: Table, axes: MarkAxes) -> Iterator[str]:
    rows = len(table[mark.x])
    looks = zip(_each(mark.fill, table, rows), _each(mark.colour, table, rows), strict=True)
    for xs, ys, (fill, colour) in zip(table[mark.x], table[mark.y], looks, strict=True):
        style = f"fill:{fill or 'none'};fill-opacity:{mark.alpha:g};stroke:{colour or 'none'}"
        yield f'<path d="{_ring(xs, ys, axes)}" style="{style};stroke-width:{mark.width:g}"/>'


def _contour_mark(mark: ContourMark, table: Table, axes: MarkAxes) -> Iterator[str]:
    bands = contour_bands(mark, table)
    for polygons_x, polygons_y, fill in zip(bands["xs"], bands["ys"], bands["fill"], strict=True):
        rings = [
            _ring(xs, ys, axes)
            for ring_x, ring_y in zip(polygons_x, polygons_y, strict=True)
            for xs, ys in zip(ring_x, ring_y, strict=True)
        ]
        style = f"fill:{fill};fill-rule:evenodd;stroke:{mark.colour or 'none'};stroke-width:{mark.width:g}"
        yield f'<path d="{"".join(rings)}" style="{style};stroke-opacity:{mark.alpha:g}"/>'


def _ring(xs: Sequence[float], ys: Sequence[float], axes: MarkAxes) -> str:
    points = [f"{axes.x(x):.1f} {axes.y(y):.1f}" for x, y in zip(xs, ys, strict=True) if math.isfinite(x + y)]
    return f"M{'L'.join(points)}Z" if points else ""


_DRAWERS: Mapping[type[Mark], Callable[[Any, Table, MarkAxes], Iterator[str]]] = {
    **{LineMark: _line_mark, RuleMark: _rule_mark, PointMark: _point_mark, BarMark: _bar_mark},
    **{TextMark: _text_mark, AreaMark: _area_mark, ContourMark: _contour_mark},
}
