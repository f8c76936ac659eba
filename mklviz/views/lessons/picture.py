"""What the picture of a lesson is made of, and what all of them need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from mklviz.contract import Array
from mklviz.language import ENGLISH, Language
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.scenarios import Evidence
from mklviz.views.chart.axes import axis_value
from mklviz.views.chart.columns import KernelSlots, Thinning, drawable
from mklviz.views.chart.description import (
    Axis,
    BarMark,
    Chart,
    Column,
    LineMark,
    Mark,
    PointMark,
    RuleMark,
    Table,
    Tables,
    TextMark,
)
from mklviz.views.chart.svg import ChartFrame, places, reached_span
from mklviz.views.look.palette import RunStyle, Theme

ROOM = 1.45  # times as long as the longest bar is its axis, for the number behind it
NAME_SIZE = 13  # pixels of a name in a chart, which drawers scale for a projector


@dataclass(frozen=True)
class LessonRuns:
    """What is drawn: the runs so far, by their keys, and what was computed for the answer, once it is."""

    traces: Mapping[str, Trace]  # those with steps
    styles: Mapping[str, RunStyle]
    evidence: Evidence
    theme: Theme
    before: KernelSlots | None = None  # which kernels have a colour in the recording of the lesson
    problem: Problem | None = None  # once the race on it has ended
    language: Language = ENGLISH


@dataclass(frozen=True)
class Picture:
    """Rows of charts from top to bottom, and their tables; the first chart shows the answer."""

    rows: Sequence[Sequence[Chart]]
    tables: Tables
    legend: Sequence[RunStyle] = ()  # of runs that the charts do not name themselves
    kernels: Sequence[str] = ()  # in the places of their colours
    paths: Callable[[], Mapping[str, Any] | None] | None = None  # what lets the browser solve them from another start

    @property
    def charts(self) -> list[Chart]:
        """All charts, row by row."""
        return [chart for row in self.rows for chart in row]


PictureMaker = Callable[[LessonRuns], Picture]


@dataclass(frozen=True)
class NamedBar:
    """A bar, its name and the number that is written behind it."""

    name: str
    value: float
    text: str
    colour: str


def run_bars(runs: LessonRuns, values: Mapping[str, float], written: str = ",.0f") -> list[NamedBar]:
    """Return a bar for each run of which there is a value, which is `written` in that format behind it."""
    looks = {key: runs.styles[key] for key in values}
    return [
        NamedBar(looks[key].label, float(n), runs.language.number(format(n, written)), looks[key].colour)
        for key, n in values.items()
    ]


def bar_chart(name: str, title: str, theme: Theme) -> Chart:
    """Describe lying bars of the table of the same name, with their numbers."""
    marks = [
        LineMark(name, "room", "name"),
        BarMark(name, "value", "name", Column("colour"), height=0.62),
        TextMark(name, "value", "name", "text", theme.text, NAME_SIZE, right=7.0, up=-8.0 * theme.scale),
    ]
    return Chart(name, title, Axis(start=0.0, visible=False), marks=marks)


def bar_table(bars: Sequence[NamedBar]) -> Table:
    """Return the table of bars, the first of which is to stand on top."""
    longest = max((bar.value for bar in bars), default=0.0)
    columns = {field: [getattr(bar, field) for bar in bars[::-1]] for field in ("name", "value", "text", "colour")}
    return {**columns, "room": [ROOM * longest] * len(bars)}


@dataclass(frozen=True)
class CurveName:
    """The name of a curve, written so many pixels beside one of its points."""

    x: float
    y: float
    name: str
    colour: str
    right: float = 0.0
    up: float = 0.0


def name_mark(chart: str) -> TextMark:
    """Describe the names of a chart's curves, each as far from its point as its table says."""
    right, up = Column("right"), Column("up")
    return TextMark(f"names-{chart}", "x", "y", "name", Column("colour"), NAME_SIZE, True, "center", right, up)


def point_names(chart: str, theme: Theme, up: float) -> TextMark:
    """Describe the names of a chart's points, centred over them, or below them where `up` is negative."""
    return replace(name_mark(chart), right=0.0, up=up * theme.scale)


def name_table(chart: str, names: Sequence[CurveName]) -> Tables:
    """Return the names of a chart's curves as its table."""
    columns = ("x", "y", "name", "colour", "right", "up")
    return {f"names-{chart}": {column: [getattr(name, column) for name in names] for column in columns}}


def drawn_steps(trace: Trace) -> list[int]:
    """Return the steps of a run that are drawn."""
    return Thinning().whole(len(trace))


def step_table(trace: Trace, first: int = 0, **columns: str | Array | Callable[[int], float]) -> Table:
    """Return as columns what iterates have, arrays hold or functions give at the steps drawn, from the `first` on.

    An array may be older than the newest steps of a race that goes on: these are drawn the next time.
    """
    known = min((len(of) for of in columns.values() if isinstance(of, np.ndarray)), default=len(trace))
    steps = [t for t in drawn_steps(trace)[first:] if t < known]

    def value(of: str | Array | Callable[[int], float], t: int) -> float:
        return float(getattr(trace[t], of) if isinstance(of, str) else of(t) if callable(of) else of[t])

    return {name: drawable(value(of, t) for t in steps) for name, of in columns.items()}


def run_line(table: str, x: str, y: str, style: RunStyle, theme: Theme) -> LineMark:
    """Describe a curve of a run as all pictures draw it."""
    width = 2.4 * theme.scale
    return LineMark(table, x, y, style.colour, style.dash, width, label=style.label, marker=style.marker)


NARROW, WIDE, BESIDE = 250.0, 675.0, 290.0  # pixels across the axes: on a phone, of one chart in a row, and of two
PROJECTED = 600.0
LOW, HIGH = 230.0, 340.0  # pixels up the axes of one row of charts: on a phone, and beside an answer
IN_ROWS, HIGH_PROJECTED = 118.0, 130.0  # of more rows, and in a room
LETTER, LINE = 0.7, 1.2  # width of a letter and height of a line, times the size of type
AWAY = (6.0, 13.0, 26.0, 40.0)  # pixels between a name and the point that it stands beside
FEW, MANY = 20, 60  # points of a curve that a name may stand beside, and that it may not touch
APART, CLEAR = 5.0, 30.0  # pixels between a name and any curve that there should be, and that are enough
OWN = 0.35  # of a pixel nearer to its own curve, that a pixel away from the others is worth
TIGHT, TAKEN = 20.0, 1e3  # pixels nearer to its own curve, that a pixel too near to another is worth, and touching none
PADDING = 0.01, 0.04  # of the axes, as Bokeh's figures have it at either end
_SIDES = np.array([(x, y) for x, y in product((-1.0, 0.0, 1.0), (-1.0, -0.5, 0.0, 0.5, 1.0)) if x or abs(y) == 1.0])


@dataclass(frozen=True)
class Named:
    """A curve, or points, by its table and the column of its heights, and what it is called."""

    table: str
    y: str
    name: str
    colour: str


def with_names(picture: Picture, chart: str, names: Sequence[Named], theme: Theme) -> Picture:
    """Return the picture with these names in the chart of that name."""
    rows, written = [list(row) for row in picture.rows], list[CurveName]()
    for row in rows:
        for place, each in enumerate(row):
            if each.name == chart:
                frames = _frames(len(rows), len(row), theme)
                written = list(_written(each, picture.tables, names, frames, NAME_SIZE * theme.scale))
                row[place] = replace(each, marks=[*each.marks, name_mark(chart)])
    return replace(picture, rows=rows, tables={**picture.tables, **name_table(chart, written)})


def _frames(rows: int, beside: int, theme: Theme) -> list[Array]:
    """Return the width and height of the frames in which a chart is seen, one of `beside` in its row."""
    if theme.projected:
        return [np.array([PROJECTED, HIGH_PROJECTED])]
    low, high = (LOW, HIGH) if rows == 1 else (IN_ROWS, IN_ROWS)
    return [np.array([NARROW, low]), np.array([WIDE if beside == 1 else BESIDE, high])]


def _written(
    chart: Chart, tables: Tables, names: Sequence[Named], frames: Sequence[Array], size: float
) -> Iterator[CurveName]:
    """Yield the names of curves that have points, with their places."""
    spans = [reached_span(chart, tables, which, padding) for which, padding in enumerate(PADDING)]
    axes = ChartFrame(chart, 0.0, 1.0, 1.0, 0.0, spans)  # along which places are shares, from 0 to 1
    painted = [mark for mark in chart.marks if isinstance(mark, (LineMark, PointMark, RuleMark)) and mark.colour]
    tables_of = [f"rule-{mark.table}" if isinstance(mark, RuleMark) else mark.table for mark in painted]
    curves = {(of, mark.y): _curve(mark, tables[mark.table], axes) for of, mark in zip(tables_of, painted, strict=True)}
    drawn = [{key: _along(curve * frame) for key, curve in curves.items()} for frame in frames]
    for named in names:
        key, box = (named.table, named.y), np.array([LETTER * len(named.name), LINE]) * size
        beside = _evenly(curves[key] * frames[0], FEW) / frames[0]
        if len(beside):
            point, offset = _best(beside, key, box, drawn, frames)
            for each, frame in zip(drawn, frames, strict=True):
                each["", named.name] = point * frame + offset + box / 2.0 * np.vstack([_SIDES, np.zeros(2)])
            x, y = (
                axis_value(at, span, axis.log) for at, span, axis in zip(point, spans, (chart.x, chart.y), strict=True)
            )
            yield CurveName(float(x), float(y), named.name, named.colour, *offset.tolist())


def _best(
    beside: Array, key: tuple[str, str], box: Array, drawn: Sequence[Mapping[Any, Array]], frames: Sequence[Array]
) -> tuple[Array, Array]:
    """Return the point that a name of that size stands beside best, in shares of the axes, and how far, in pixels."""
    offsets = np.concatenate([_SIDES * (box / 2.0 + away) for away in AWAY])
    cost = np.zeros((len(beside), len(offsets)))
    for curves, frame in zip(drawn, frames, strict=True):
        middles = beside[:, None] * frame + offsets
        others = np.concatenate([curve for other, curve in curves.items() if other != key] or [np.empty((0, 2))])
        cost += _cost(middles.reshape(-1, 2), curves[key], others, box, frame).reshape(cost.shape)
    at, side = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return beside[at], offsets[side]


def _cost(middles: Array, own: Array, others: Array, box: Array, frame: Array) -> Array:
    """Return how bad each place of a name is: far from its own curve, near to others, over a curve, or cut."""
    to_own, to_others = (_distances(middles, points, box) for points in (own, others))
    nearest = np.minimum(to_own, to_others)
    cut = np.any((middles < box / 2.0) | (middles > frame - box / 2.0), axis=1)
    tight = TIGHT * np.maximum(APART - nearest, 0.0) + TIGHT * np.maximum(to_own + APART - to_others, 0.0)
    return to_own - OWN * np.minimum(to_others, CLEAR) + tight + TAKEN * ((nearest <= 0.0) + 2.0 * cut)


def _distances(middles: Array, points: Array, box: Array) -> Array:
    """Return how far each box is from the nearest of the points."""
    if not len(points):
        return np.full(len(middles), np.inf)
    apart = np.maximum(np.abs(middles[:, None] - points) - box / 2.0, 0.0)
    return np.sqrt((apart**2).sum(axis=2).min(axis=1))


def _curve(mark: Mark, table: Table, axes: ChartFrame) -> Array:
    """Return the places of a mark's points; a line across the chart has two for each height."""
    if isinstance(mark, RuleMark):
        return np.array([(side, axes.y(y)) for y in table[mark.y] for side in (0.0, 1.0)]).reshape(-1, 2)
    return np.array([place for _, *place in places(mark, table, axes)]).reshape(-1, 2)


def _along(points: Array) -> Array:
    """Return places on a line through `points` that a name may not touch: corners where there are few, some between."""
    return np.concatenate([points, _evenly(points, MANY)]) if len(points) <= MANY else _evenly(points, 2 * MANY)


def _evenly(points: Array, count: int) -> Array:
    """Return points on a line through `points` at about equal distances."""
    if len(points) < 2:
        return points
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    wanted = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(wanted, along, points[:, axis]) for axis in (0, 1)], axis=1)
