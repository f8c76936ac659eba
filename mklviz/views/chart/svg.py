"""Line charts as plain SVG, which any page shows without a script: axes, grid and lines as the dashboard draws them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from mklviz.views.chart.description import Axis, Chart, LineMark, NumberFormat, RuleMark, Tables
from mklviz.views.look.palette import DASHES, FONT, Theme

__all__ = ["Legend", "Row", "drawing"]

LEFT, RIGHT, HEAD, FOOT = 56, 14, 34, 40  # pixels around the axes of a chart
FLAT = 0.2  # pixels; a point this close to the line between its neighbours is left out
Span = tuple[float, float]


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
            for place, chart in enumerate(charts):
                body += _Axes(chart, tables, place * across, y, across, height).parts()
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
        x, y = self._reached("x"), self._reached("y")
        self.x_span = _span([min(value, chart.x.limit) for value in x if value > 0 or not chart.x.log], chart.x, 0.0)
        self.y_span = _span([value for value in y if chart.y.shows(value)], chart.y, 0.06)

    def _reached(self, name: str) -> list[float]:
        """Return all that stands in the columns of an axis."""
        columns = [(mark, mark.columns.get(name)) for mark in self.chart.marks]
        return [value for mark, column in columns if column for value in self.tables[mark.table][column]]

    def x(self, value: float) -> float:
        return self.left + (self.right - self.left) * _share(value, self.x_span, self.chart.x.log)

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * _share(value, self.y_span, self.chart.y.log)

    def parts(self) -> Iterator[str]:
        chart = self.chart
        yield f'<text class="t" x="{self.left - LEFT + 14:.0f}" y="{self.head:.0f}">{escape(chart.title)}</text>'
        yield f'<text class="e" x="{self.right:.0f}" y="{self.head:.0f}">{escape(chart.beside)}</text>'
        for value in _ticks(self.y_span, chart.y, 5):
            y = self.y(value)
            yield f'<path class="g" d="M{self.left:.1f} {y:.1f}H{self.right:.1f}"/>'
            yield f'<text class="e" x="{self.left - 6:.1f}" y="{y + 4:.1f}">{_number(value, chart.y.numbers)}</text>'
        yield f'<path class="a" d="M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"/>'
        for value in _ticks(self.x_span, chart.x, 6):
            x, y = self.x(value), self.bottom + 16
            yield f'<text class="m" x="{x:.1f}" y="{y:.0f}">{_number(value, chart.x.numbers)}</text>'
        middle = (self.left + self.right) / 2
        yield f'<text class="m" x="{middle:.0f}" y="{self.bottom + 33:.0f}">{escape(chart.x.label)}</text>'
        for mark in chart.marks:
            if isinstance(mark, LineMark | RuleMark) and (path := self._path(mark)):
                yield f'<path d="{path}" {_painted(mark)}/>'

    def _path(self, mark: LineMark | RuleMark) -> str:
        """Return where a mark goes, "" where there is nothing to be painted."""
        table = self.tables[mark.table]
        if isinstance(mark, RuleMark):
            heights = [self.y(value) for value in table[mark.y] if self.chart.y.shows(value)]
            return "".join(f"M{self.left:.1f} {y:.1f}H{self.right:.1f}" for y in heights)
        return self._line(table[mark.x], table[mark.y]) if mark.colour else ""

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


def _painted(mark: LineMark | RuleMark) -> str:
    """Return how a line is painted, as attributes."""
    opacity = f' stroke-opacity="{mark.alpha:g}"' if mark.alpha != 1 else ""
    return f'stroke="{mark.colour}" stroke-width="{mark.width:g}"{_dashes(str(mark.dash))}{opacity}'


def _line(points: Sequence[Span]) -> str:
    """Return a path through `points`, without those that a straight line passes by anyway."""
    kept = list(points[:1])
    for (x, y), (next_x, next_y) in pairwise(points[1:]):
        last_x, last_y = kept[-1]
        straight = last_y + (next_y - last_y) * (x - last_x) / max(next_x - last_x, 1e-9)
        if abs(y - straight) > FLAT:
            kept.append((x, y))
    kept += points[1:][-1:]
    return "".join(f"{'L' if place else 'M'}{x:.1f} {y:.1f}" for place, (x, y) in enumerate(kept))


def _span(values: Sequence[float], axis: Axis, padding: float) -> Span:
    """Return where an axis begins and ends that shows `values`, with some room around them."""
    if math.isfinite(axis.start) and math.isfinite(axis.end):
        return axis.start, axis.end
    if not values:
        return (0.1, 1.0) if axis.log else (0.0, 1.0)
    low, high = min(values), max(values)
    if axis.log:
        room = min(max(padding * (math.log(high) - math.log(low)), 0.02 if padding else 0.0), 2.0)
        return low * math.exp(-room), max(high * math.exp(room), low * 1.0001)
    fixed = math.isfinite(axis.start)
    low = axis.start if fixed else low
    room = padding * (high - low) or padding * abs(high) or (0.0 if high > low else 1.0)
    return (low if fixed else low - room), high + room


def _share(value: float, span: Span, log: bool) -> float:
    low, high = span
    return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) if log else (value - low) / (high - low)


def _ticks(span: Span, axis: Axis, most: int) -> list[float]:
    """Return round numbers within `span`, about as many as there is room for."""
    low, high = span
    if axis.log and math.log(high) - math.log(low) > math.log(8.0):
        powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        steps = (1.0, 2.0, 5.0) if len(powers) < 2 else (1.0,)
        found = [step * 10.0**power for power in range(powers.start - 1, powers.stop + 1) for step in steps]
        found = [value for value in found if low <= value <= high]
        return found[:: -(-len(found) // most)]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * power >= rough)
    step = max(step, 1.0) if axis.whole else step
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _number(value: float, numbers: NumberFormat) -> str:
    """Return a number as it stands at a tick, much as `NUMBERS` has it."""
    if numbers == "percent":
        small = 0.0 < abs(value) < 1e-5
        return f"{100 * value:.0e} %".replace("e-0", "e-") if small else f"{100 * value:,.3g} %"
    size = abs(value)
    if numbers == "exact":
        return f"{float(f'{value:.6g}'):,.12f}".rstrip("0").rstrip(".")
    if size and (size < 1e-3 or size >= 1e6):
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return f"{value:,.4f}".rstrip("0").rstrip(".") if size < 1e3 else f"{value:,.0f}"


def _dashes(dash: str) -> str:
    pattern = DASHES.get(dash, "")
    return f' stroke-dasharray="{pattern}"' if pattern else ""
