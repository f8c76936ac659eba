"""A path in charts: kernel weights, kernels in use and the cost of each value, over the parameter that varies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import Legend, LegendItem

from mklviz.errors import ProblemError
from mklviz.views.chart.axes import style_legend
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.columns import placed
from mklviz.views.chart.description import Axis, Chart, LineMark, Mark, PointMark, Table
from mklviz.views.look.palette import Theme

if TYPE_CHECKING:
    from mklviz.engine import Path

DASHES = ("solid", "dashed", "dotted")  # rounds of the colours
FEW = 30  # points whose markers are large


def path_charts(
    path: Path, cold: Path | None, theme: Theme, named: int, coloured: Sequence[int] = ()
) -> tuple[tuple[Chart, Chart, Chart], dict[str, Table]]:
    """Describe a path's weights, kernels in use and cost; so many are `named`, some `coloured` already."""
    if not len(path.values):
        raise ProblemError("There is nothing to draw: the path has no values yet.")
    if cold is not None and cold.parameter != path.parameter:
        raise ProblemError(f"One path varies {path.parameter}, the other {cold.parameter}: they share no axis.")
    solves, marks = bool(path.svm_solves.any()), _weight_marks(path, theme, named, coloured)
    tables = {"path": _table(path, solves), **_weight_tables(path, named)}
    cost = _count_marks("path", "cost", theme.kernels[0], path, solves)
    if cold is not None:
        tables["cold"] = _table(cold, solves)
        cost += _count_marks("cold", "cost", theme.kernels[5], cold, solves)
    active = _count_marks("path", "active", theme.kernels[0], path, solves)
    spread = bool((path.values > 0.0).all()) and len(path.values) > 1 and float(np.ptp(np.log(path.values))) > 1.0
    x = Axis(path.parameter, "log" if spread else "linear")
    weight, used = Axis("kernel weight", start=0.0), Axis("kernels in use", start=0.0, whole=True)
    spent = Axis("SVM solves" if solves else "steps", start=0.0, whole=True)
    legend = "warm: solid, cold: dashed" if cold is not None else ""
    charts = (
        Chart("path-weights", "Kernel weights", x, weight, marks, f"{path.label} along {path.parameter}"),
        Chart("path-active", "Kernels in use", x, used, active),
        Chart("path-cost", "SVM solves" if solves else "Steps", x, spent, cost, legend),
    )
    return charts, tables


def _heaviest(path: Path) -> list[int]:
    """Return the kernels with weight anywhere on the path, those of the largest first."""
    top = path.weights.max(axis=0)
    return [int(k) for k in np.argsort(-top, kind="stable") if top[k] > 0.0]


def _weight_marks(path: Path, theme: Theme, named: int, coloured: Sequence[int]) -> list[Mark]:
    """Describe the kernels of largest weight in colours, in dashes once there are no more, and all others in grey."""
    tips = (("kernel", "$name"), (path.parameter, "@value{0.0000a}"), ("weight", "@weight{0.0000}"))
    marks: list[Mark] = [LineMark("others", "value", "weight", theme.axis, width=1.0, many=True)]
    heaviest, most = _heaviest(path)[:named], len(theme.kernels)
    coloured = coloured or placed(heaviest[:most], path.kernel_names)
    others = itertools.count(most)
    for k in heaviest:
        round_, slot = divmod(coloured.index(k) if k in coloured else next(others), most)
        name, colour = path.kernel_names[k], theme.kernels[slot]
        marks.append(LineMark(f"kernel-{k}", "value", "weight", colour, DASHES[round_], label=name, tips=tips))
    return marks


def _weight_tables(path: Path, named: int) -> dict[str, Table]:
    values, heaviest = path.values.tolist(), _heaviest(path)
    rest = [path.weights[:, k].tolist() for k in heaviest[named:]]
    lines = {f"kernel-{k}": {"value": values, "weight": path.weights[:, k].tolist()} for k in heaviest[:named]}
    return {"others": {"value": [values] * len(rest), "weight": rest}, **lines}


def _count_marks(table: str, column: str, colour: str, path: Path, solves: bool) -> list[Mark]:
    """Describe a line with markers, which says of costs how many there are in all."""
    cold, size = table == "cold", 4.0 if len(path.values) > FEW else 6.0
    total = int((path.svm_solves if solves else path.iterations).sum())
    label = f"{'warm' if path.warm else 'cold'} starts, {total:,} in all" if column == "cost" else ""
    marker = "square" if cold else "circle"
    return [
        LineMark(table, "value", column, colour, DASHES[cold], label=label),
        PointMark(table, "value", column, colour, fill=colour, marker=marker, size=size, label=label),
    ]


def _table(path: Path, solves: bool) -> Table:
    cost = path.svm_solves if solves else path.iterations
    return {"value": path.values.tolist(), "active": path.active.tolist(), "cost": cost.tolist()}


# -- as Bokeh figures


NAMED = 10  # kernels with a colour and a name; the others are grey
HEIGHTS = (340, 190, 190)  # pixels
LEFT = 64  # pixels beside the axes


class PathPicture:
    """The figures of a path, one below another: weights, kernels in use and cost."""

    def __init__(self, path: Path, cold: Path | None, theme: Theme, coloured: Sequence[int] = ()) -> None:
        charts, tables = path_charts(path, cold, theme, NAMED, coloured)
        x_range: Any = None
        self.figures: list[ChartFigure] = []
        for chart, height in zip(charts, HEIGHTS, strict=True):
            drawn = ChartFigure(chart, theme, height, x_range=x_range)
            drawn.show({mark.table: tables[mark.table] for mark in chart.marks})
            drawn.plot.update(background_fill_alpha=1.0, border_fill_alpha=1.0, min_border_left=LEFT)
            drawn.plot.axis.axis_line_color, x_range = theme.axis, drawn.plot.x_range
            self.figures.append(drawn)
        self.weights, self.active, self.cost = (drawn.plot for drawn in self.figures)
        self.weights.add_layout(_legend(self.figures[0], theme, click_policy="hide"), "right")
        self.cost.add_layout(_legend(self.figures[2], theme, location="top_left"))
        self.layout: Any = column(self.weights, self.active, self.cost, sizing_mode="stretch_width")


def _legend(drawn: ChartFigure, theme: Theme, **options: Any) -> Legend:
    labels = {mark.table: getattr(mark, "label", "") for mark in drawn.chart.marks}
    items = [LegendItem(label=label, renderers=drawn.renderers[table]) for table, label in labels.items() if label]
    legend = Legend(items=items, **options)
    style_legend(legend, theme)
    return legend
