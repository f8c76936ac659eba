"""What the picture of a lesson is made of, and what all of them need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mklviz.record import Trace
from mklviz.scenarios import Evidence
from mklviz.views.chart.columns import Thinning
from mklviz.views.chart.description import Axis, BarMark, Chart, Column, LineMark, Table, Tables, TextMark
from mklviz.views.look.palette import RunStyle, Theme

__all__ = [
    *(
        "NAME_SIZE",
        "CurveName",
        "LessonRuns",
        "NamedBar",
        "Picture",
        "PictureMaker",
        "bar_chart",
        "bar_table",
        "drawn_steps",
    ),
    *("name_mark", "name_table", "point_names", "run_line"),
]

ROOM = 1.45  # times as long as the longest bar is its axis, for the number behind it
NAME_SIZE = 13  # pixels of a name in a chart, which drawers scale for a projector


@dataclass(frozen=True)
class LessonRuns:
    """What is drawn: the runs so far, by their keys, and what was computed for the answer, once it is."""

    traces: Mapping[str, Trace]  # those with steps
    styles: Mapping[str, RunStyle]
    evidence: Evidence
    theme: Theme


@dataclass(frozen=True)
class Picture:
    """Rows of charts from top to bottom, and their tables; the first chart shows the answer."""

    rows: Sequence[Sequence[Chart]]
    tables: Tables
    legend: Sequence[RunStyle] = ()  # of runs that the charts do not name themselves

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


def bar_chart(name: str, title: str, theme: Theme, note: str = "") -> Chart:
    """Describe lying bars of the table of the same name, with their numbers."""
    marks = [
        LineMark(name, "room", "name"),
        BarMark(name, "value", "name", Column("colour"), height=0.62),
        TextMark(name, "value", "name", "text", theme.text, NAME_SIZE, right=7.0, up=-8.0 * theme.scale),
    ]
    return Chart(name, title, Axis(start=0.0, visible=False), marks=marks, note=note)


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
    high = up * theme.scale
    return TextMark(f"names-{chart}", "x", "y", "name", Column("colour"), NAME_SIZE, bold=True, align="center", up=high)


def name_table(chart: str, names: Sequence[CurveName]) -> Tables:
    """Return the names of a chart's curves as its table."""
    columns = ("x", "y", "name", "colour", "right", "up")
    return {f"names-{chart}": {column: [getattr(name, column) for name in names] for column in columns}}


def drawn_steps(trace: Trace) -> list[int]:
    """Return the steps of a run that are drawn."""
    return Thinning().whole(len(trace))


def run_line(table: str, x: str, y: str, style: RunStyle, theme: Theme) -> LineMark:
    """Describe a curve of a run as all pictures draw it."""
    width = 2.4 * theme.scale
    return LineMark(table, x, y, style.colour, style.dash, width, label=style.label, marker=style.marker)
