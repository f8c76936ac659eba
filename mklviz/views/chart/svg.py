"""Line charts as plain SVG, which any page shows without a script: axes, grid and lines as the dashboard draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from mklviz.views.chart.description import Chart, LineMark, Mark, RuleMark, Tables
from mklviz.views.chart.ticks import Span, axis_share, axis_span, axis_ticks, tick_text
from mklviz.views.look.palette import DASHES, FONT, Theme

__all__ = ["Legend", "Row", "drawing"]

LEFT, RIGHT, HEAD, FOOT = 56, 14, 34, 40  # pixels around the axes of a chart
FLAT = 0.2  # pixels; a point this close to the line between its neighbours is left out


@dataclass(frozen=True)
class Legend:
    """Names with their lines, in a row of their own below a heading."""

    title: str
    entries: Sequence[tuple[str, str, str]]  # name, colour, dash


Row = tuple[Sequence[Chart], int]  # charts side by side, and their height


def drawing(parts: Sequence[Row | Legend], tables: Tables, label: str, theme: Theme, width: int = 960) -> str:
    """Return rows of charts and legends, from top to bottom, as SVG; of marks there are lines and rules across."""
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
                body += _Axes(chart, tables, index * across, y, across, height).parts()
            y += height
    size = f'viewBox="0 0 {width} {y:.0f}" width="{width}" height="{y:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}" font-family="{FONT}">'
        f"<style>{_style(theme)}</style>"
        f'<rect width="{width}" height="{y:.0f}" rx="10" fill="{theme.card}"/>{"".join(body)}</svg>'
    )


def _style(theme: Theme) -> str:
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
        line = f'stroke="{colour}" stroke-width="2.4"{_dashes(dash)}'
        parts.append(f'<path d="M{x:.0f} {y - 4:.0f}h24" {line}/>')
        parts.append(f'<text class="n" x="{x + 30:.0f}" y="{y:.0f}">{escape(name)}</text>')
        x += room
    return parts, y + 8


class _Axes:
    """A chart in its place."""

    def __init__(self, chart: Chart, tables: Tables, left: float, top: float, width: float, height: float) -> None:
        self.chart, self.tables = chart, tables
        self.left, self.right = left + LEFT, left + width - RIGHT
        self.top, self.bottom = top + HEAD, top + height - FOOT
        self.head = top + 20
        x = [min(value, chart.x.limit) for value in self._reached("x")]
        self.x_span = axis_span([value for value in x if chart.x.shows(value)], chart.x, 0.0)
        self.y_span = axis_span([value for value in self._reached("y") if chart.y.shows(value)], chart.y, 0.06)

    def _reached(self, name: str) -> list[float]:
        """Return all values in the columns of an axis."""
        columns = [(mark, mark.columns.get(name)) for mark in self.chart.marks]
        drawn = [(mark, self.tables[mark.table][column]) for mark, column in columns if column]
        lists = [values if _many(mark) else [values] for mark, values in drawn]
        return [value for each in lists for values in each for value in values]

    def x(self, value: float) -> float:
        return self.left + (self.right - self.left) * axis_share(value, self.x_span, self.chart.x.log)

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * axis_share(value, self.y_span, self.chart.y.log)

    def parts(self) -> Iterator[str]:
        chart = self.chart
        yield f'<text class="t" x="{self.left - LEFT + 14:.0f}" y="{self.head:.0f}">{escape(chart.title)}</text>'
        yield f'<text class="e" x="{self.right:.0f}" y="{self.head:.0f}">{escape(chart.beside)}</text>'
        for value in axis_ticks(self.y_span, chart.y, 5):
            y = self.y(value)
            yield f'<path class="g" d="M{self.left:.1f} {y:.1f}H{self.right:.1f}"/>'
            yield f'<text class="e" x="{self.left - 6:.1f}" y="{y + 4:.1f}">{tick_text(value, chart.y.numbers)}</text>'
        yield f'<path class="a" d="M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"/>'
        for value in axis_ticks(self.x_span, chart.x, 6):
            x, y = self.x(value), self.bottom + 16
            yield f'<text class="m" x="{x:.1f}" y="{y:.0f}">{tick_text(value, chart.x.numbers)}</text>'
        middle = (self.left + self.right) / 2
        yield f'<text class="m" x="{middle:.0f}" y="{self.bottom + 33:.0f}">{escape(chart.x.label)}</text>'
        for mark in chart.marks:
            if isinstance(mark, LineMark | RuleMark) and (path := self._path(mark)):
                yield f'<path d="{path}" {_painted(mark)}/>'

    def _path(self, mark: LineMark | RuleMark) -> str:
        """Return the path of a mark, "" where there is nothing to paint."""
        table = self.tables[mark.table]
        if isinstance(mark, RuleMark):
            heights = [self.y(value) for value in table[mark.y] if self.chart.y.shows(value)]
            return "".join(f"M{self.left:.1f} {y:.1f}H{self.right:.1f}" for y in heights)
        if not mark.colour:
            return ""
        lines = zip(table[mark.x], table[mark.y], strict=True) if mark.many else [(table[mark.x], table[mark.y])]
        return "".join(self._line(along, up) for along, up in lines)

    def _line(self, along: Sequence[float], up: Sequence[float]) -> str:
        commands: list[str] = []
        piece: list[Span] = []
        for x, y in zip(along, up, strict=True):
            if x > self.chart.x.limit:
                break
            if self.chart.x.shows(x) and self.chart.y.shows(y):
                piece.append((self.x(x), self.y(y)))
            else:
                commands.append(_line(piece))
                piece = []
        return "".join([*commands, _line(piece)])


def _many(mark: Mark) -> bool:
    return isinstance(mark, LineMark) and mark.many


def _painted(mark: LineMark | RuleMark) -> str:
    """Return how a line is painted, as attributes."""
    opacity = f' stroke-opacity="{mark.alpha:g}"' if mark.alpha != 1 else ""
    return f'stroke="{mark.colour}" stroke-width="{mark.width:g}"{_dashes(str(mark.dash))}{opacity}'


def _line(points: Sequence[Span]) -> str:
    """Return a path through `points`, without those that a straight line passes by anyway."""
    corners = list(points[:1])
    for (x, y), (next_x, next_y) in pairwise(points[1:]):
        last_x, last_y = corners[-1]
        straight = last_y + (next_y - last_y) * (x - last_x) / max(next_x - last_x, 1e-9)
        if abs(y - straight) > FLAT:
            corners.append((x, y))
    corners += points[1:][-1:]
    return "".join(f"{'L' if index else 'M'}{x:.1f} {y:.1f}" for index, (x, y) in enumerate(corners))


def _dashes(dash: str) -> str:
    pattern = DASHES.get(dash, "")
    return f' stroke-dasharray="{pattern}"' if pattern else ""
