"""What a chart shows, described once for all drawers: two axes, marks over the columns of tables, and words.

    table     columns of one length, by their names; nan is a hole
    mark      what is drawn of the columns of one table, in the order of the chart, later ones in front
    drawer    a function of a chart and its tables: Bokeh, SVG, HoloViews, the script of the exported page, `none`

A description holds no numbers of runs: the same one is drawn again and again while its tables grow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

Scale = Literal["linear", "log"]
NumberFormat = Literal["short", "exact", "percent"]  # with powers of ten where it would be long; never so; a share
Tips = Sequence[tuple[str, str]]  # words, and the column of what belongs to them, as "@gap" or "@gap{0.000}"
Table = Mapping[str, Sequence[Any]]
Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Axis:
    """One axis of a chart; a `start` or `end` of nan goes with the data.

    Lines are cut at `limit`, where the axis ends at the latest. A `whole` one counts: it has no ticks between whole
    numbers. One that is not `visible` has neither ticks nor a label. With `names` these stand at 0, 1, 2, ..., and no
    numbers.
    """

    label: str = ""
    scale: Scale = "linear"
    start: float = math.nan
    end: float = math.nan
    limit: float = math.inf
    numbers: NumberFormat = "short"
    whole: bool = False
    locale: str = "en-US"  # as which numbers are written
    visible: bool = True
    names: Sequence[str] = ()

    @property
    def log(self) -> bool:
        """Whether equal factors are equal lengths."""
        return self.scale == "log"

    def shows(self, value: float) -> bool:
        """Return whether a value has a place on the axis."""
        return math.isfinite(value) and (value > 0.0 or not self.log) and value <= self.limit


@dataclass(frozen=True)
class Column:
    """A column that says, point by point, what another mark of its kind has once: a colour, a marker or a size."""

    name: str


@dataclass(frozen=True)
class Mark:
    """What is drawn of one table; `label` names it in legends and readouts, `tips` stand beside the mouse."""

    positions: ClassVar[tuple[str, ...]] = ("x", "y")  # fields that name columns

    table: str
    x: str = "x"
    y: str = "y"

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are drawn, by the field that names them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        named = {name: values[name] for name in self.positions if values[name]}
        return named | {name: value.name for name, value in values.items() if isinstance(value, Column)}


@dataclass(frozen=True)
class LineMark(Mark):
    """A line through the points; with `many`, one for each row, whose columns x and y hold lists.

    A line without a colour is not painted, but the axes reach to it. One with a `marker` has some where there is room.
    """

    colour: str | Column | None = None
    dash: str | Column = "solid"
    width: float | Column = 2.0
    alpha: float | Column = 1.0
    label: str = ""
    marker: str = ""
    many: bool = False
    tips: Tips = ()


@dataclass(frozen=True)
class PointMark(Mark):
    """A marker at each point, with a border of `colour`, hollow where there is no `fill`."""

    colour: str | Column | None = None
    fill: str | Column | None = None
    marker: str | Column = "circle"
    size: float | Column = 6.0
    width: float = 1.0
    label: str = ""
    tips: Tips = ()


@dataclass(frozen=True)
class AreaMark(Mark):
    """A polygon for each row, whose columns x and y hold lists."""

    x: str = "xs"
    y: str = "ys"
    colour: str | Column | None = None
    fill: str | Column | None = None
    alpha: float = 1.0  # of the fill
    width: float = 1.0


@dataclass(frozen=True)
class BarMark(Mark):
    """A lying bar for each row, from zero to x, at the name in y."""

    colour: str | Column | None = None
    alpha: float = 1.0
    height: float = 0.8  # of the room of a name
    tips: Tips = ()


@dataclass(frozen=True)
class TextMark(Mark):
    """A text at each point, shifted to the right and upwards by so many pixels."""

    positions: ClassVar[tuple[str, ...]] = ("x", "y", "text")

    text: str = "text"
    colour: str | Column | None = None
    size: int = 12
    bold: bool = False
    align: Literal["left", "center"] = "left"
    right: float | Column = 0.0
    up: float | Column = 0.0


@dataclass(frozen=True)
class RuleMark(Mark):
    """A line through the whole chart: across at the heights in column `y`, or upright at the places in column `x`."""

    x: str = ""
    y: str = ""
    colour: str | Column | None = None
    dash: str = "solid"
    width: float = 1.5
    alpha: float = 1.0


@dataclass(frozen=True)
class ArrowMark(Mark):
    """An arrow for each row, from (x, y) to (x_end, y_end)."""

    positions: ClassVar[tuple[str, ...]] = ("x", "y", "x_end", "y_end")

    x_end: str = "x_end"
    y_end: str = "y_end"
    colour: str | None = None
    width: float = 1.6


@dataclass(frozen=True)
class ContourMark(Mark):
    """Heights z over a mesh (x, y), closer together near the lowest; shaded from `low` to `high`, or as lines."""

    positions: ClassVar[tuple[str, ...]] = ("x", "y", "z")

    z: str = "z"
    levels: int = 14
    colour: str | None = None  # of the lines
    low: str = ""
    high: str = ""
    width: float = 1.0
    alpha: float = 1.0


@dataclass(frozen=True)
class Chart:
    """A chart: its `name` in the page and in tests, what is drawn, and the words around it.

    `beside` stands at the end of the line of the title, `note` below it, `more` where the mouse points at the note;
    `term` is the title's entry in the glossary. With `equal_units` a square of both axes' units is drawn as a square.
    """

    name: str
    title: str = ""
    x: Axis = Axis()
    y: Axis = Axis()
    marks: Sequence[Mark] = ()
    beside: str = ""
    note: str = ""
    more: str = ""
    term: str = ""
    equal_units: bool = False
