"""Charts as plain SVG, which any page shows without a script: axes, grid and marks as the dashboard draws them."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from mklviz.views.chart.description import BarMark, Chart, LineMark, Mark, Tables
from mklviz.views.chart.svg_marks import mark_svg
from mklviz.views.chart.ticks import Span, axis_share, axis_span, axis_ticks, tick_text
from mklviz.views.look.palette import DASHES, FONT, Theme

__all__ = ["Legend", "Row", "drawing", "svg_address"]

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


def drawing(parts: Sequence[Row | Legend], tables: Tables, label: str, theme: Theme, width: int = 960) -> str:
    """Return rows of charts and legends, from top to bottom, as SVG."""
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


def svg_address(drawn: str) -> str:
    """Return SVG as the address of a picture, whose style sheet cannot reach the page around it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"


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
        self.left, self.right = left + (LEFT if chart.y.visible else RIGHT), left + width - RIGHT
        self.top = top + (HEAD if chart.title or chart.beside else RIGHT)
        self.bottom = top + height - (FOOT if chart.x.visible else RIGHT)
        self.title_at = left + 14
        self.head = top + 20
        bars = [mark for mark in chart.marks if isinstance(mark, BarMark)]
        self.names = [str(name) for mark in bars[:1] for name in tables[mark.table][mark.y]]
        self._letters = int(NAMED * width / NAME)
        named = [*self.names, *chart.y.names]
        self.left = max([self.left, *(left + NAME * min(len(name), self._letters) + 12 for name in named)])
        self.band = (self.bottom - self.top) / max(len(self.names), 1)
        x = [min(value, chart.x.limit) for value in self._reached("x")]
        self.x_span = axis_span([value for value in x if chart.x.shows(value)], chart.x, 0.0)
        y = [] if self.names else [value for value in self._reached("y") if chart.y.shows(value)]
        self.y_span = axis_span(y, chart.y, 0.06)
        if chart.equal_units:
            self._keep_to_scale()

    def _keep_to_scale(self) -> None:
        """Make one axis longer, so that a unit of both is as long."""
        wide, high = self.right - self.left, self.bottom - self.top
        unit = min(wide / (self.x_span[1] - self.x_span[0]), high / (self.y_span[1] - self.y_span[0]))
        self.x_span, self.y_span = _stretched(self.x_span, wide / unit), _stretched(self.y_span, high / unit)

    def _reached(self, name: str) -> list[float]:
        """Return all values in the columns of an axis."""
        columns = [(mark, mark.columns.get(name)) for mark in self.chart.marks]
        drawn = [(mark, self.tables[mark.table][column]) for mark, column in columns if column]
        lists = [values if _nested(mark, values) else [values] for mark, values in drawn]
        return [value for each in lists for values in each for value in values]

    def x(self, value: float) -> float:
        return self.left + (self.right - self.left) * axis_share(value, self.x_span, self.chart.x.log)

    def y(self, value: Any) -> float:
        if self.names:
            return self.bottom - self.band * (self.names.index(value) + 0.5)
        return self.bottom - (self.bottom - self.top) * axis_share(value, self.y_span, self.chart.y.log)

    def parts(self) -> Iterator[str]:
        chart = self.chart
        yield f'<text class="t" x="{self.title_at:.0f}" y="{self.head:.0f}">{escape(chart.title)}</text>'
        yield f'<text class="e" x="{self.right:.0f}" y="{self.head:.0f}">{escape(chart.beside)}</text>'
        yield from self._names() if self.names else self._ticks_up()
        yield from self._ticks_along()
        for mark in chart.marks:
            yield mark_svg(mark, self.tables[mark.table], self)

    def _names(self) -> Iterator[str]:
        return (self._name(name, self.y(name)) for name in self.names)

    def _name(self, name: str, y: float) -> str:
        short = name if len(name) <= self._letters else f"{name[: self._letters - 1]}…"
        return f'<text class="e n" x="{self.left - 6:.1f}" y="{y + 4:.1f}">{escape(short)}</text>'

    def _ticks_up(self) -> Iterator[str]:
        if self.chart.y.names:
            yield from (self._name(name, self.y(place)) for place, name in enumerate(self.chart.y.names))
            return
        for value in axis_ticks(self.y_span, self.chart.y, 5) if self.chart.y.visible else ():
            y, text = self.y(value), tick_text(value, self.chart.y.numbers)
            yield f'<path class="g" d="M{self.left:.1f} {y:.1f}H{self.right:.1f}"/>'
            yield f'<text class="e" x="{self.left - 6:.1f}" y="{y + 4:.1f}">{text}</text>'

    def _ticks_along(self) -> Iterator[str]:
        axis, middle = self.chart.x, (self.left + self.right) / 2
        if not axis.visible:
            return
        yield f'<path class="a" d="M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"/>'
        for value in axis_ticks(self.x_span, axis, max(2, min(6, round((self.right - self.left) / TICK)))):
            x, y = self.x(value), self.bottom + 16
            yield f'<text class="m" x="{x:.1f}" y="{y:.0f}">{tick_text(value, axis.numbers)}</text>'
        yield f'<text class="m" x="{middle:.0f}" y="{self.bottom + 33:.0f}">{escape(axis.label)}</text>'


def _nested(mark: Mark, values: Any) -> bool:
    """Return whether a column holds lists."""
    return (isinstance(mark, LineMark) and mark.many) or bool(len(values) and isinstance(values[0], (list, tuple)))


def _stretched(span: Span, length: float) -> Span:
    """Return a span of that length around the same middle."""
    middle = (span[0] + span[1]) / 2
    return middle - length / 2, middle + length / 2


def _dashes(dash: str) -> str:
    pattern = DASHES.get(dash, "")
    return f' stroke-dasharray="{pattern}"' if pattern else ""
