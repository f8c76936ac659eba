"""The charts of a race, described once for the dashboard, the picture that stands still and the exported page.

    objective, gap, step size, kernels in use, SVM tolerance     of all runs
    weights                                                       of each run

The table of a run is called `run_table(key)`; its columns are those of `COLUMNS`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import Legend, LegendItem

from mklviz.contract import Solver
from mklviz.errors import ProblemError
from mklviz.record import Trace
from mklviz.record.summary import Reference
from mklviz.views.chart.axes import X_AXES, squashed, style_legend, tick_text
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.columns import WEIGHT_COLUMNS, Thinning, drawable, placed
from mklviz.views.chart.description import Axis, Chart, LineMark, Mark, PointMark, RuleMark, Scale, Table
from mklviz.views.look.palette import RunStyle, Theme

if TYPE_CHECKING:
    from mklviz.engine import Path


FAINT = 0.45  # opacity of the gap of each iterate, behind the gap of the run
ENLARGED = 1.5  # times, from which on a scale of its own has to be said
THIN = 1.6  # width of the lines of weights
STOP = "stop"  # table of the gap at which runs stop
NO_BOUND = "There is no bound, and so no gap."  # where no reason is given
_OBJECTIVE = (
    "Objective at each step (lower is better).",
    "Each value is a certified upper bound on the optimum; a run's solution is its lowest point.",
)
_ABOVE = (
    "How far above the best proven lower bound.",
    "The objective minus the highest lower bound that any solver has proved, as a share of the lowest objective. It"
    " tells solvers apart when their objectives look alike.",
)
_GAP = (
    "Thick: best gap so far; faint: gap of each step.",
    "The best gap so far is that of the best bounds found, so it never rises. The gap of a step is that of"
    " its own bounds.",
)


@dataclass(frozen=True)
class ChartOptions:
    """What decides how the charts of a race are drawn."""

    theme: Theme
    x: str = "iteration"
    log_x: bool = False
    log_y: bool = True
    above: bool = False  # whether objectives are drawn above the best bound
    gap_tolerance: float | None = 1e-2
    signed: bool = False  # whether the objective may fall below zero, where a log axis ends
    by_epoch: tuple[str, ...] = ()  # labels of the runs whose iterations are epochs
    no_bound: str = ""  # why there is no gap, but a projected gradient
    noun: str = "kernel"  # what has weights
    coloured: bool = True  # whether kernels have their colours; they are grey until it is known which are largest

    @property
    def objective(self) -> str:
        """The column of objectives that is drawn."""
        return "above" if self.above else "objective"

    @property
    def kernels(self) -> Sequence[str]:
        return self.theme.kernels if self.coloured else [self.theme.muted] * len(self.theme.kernels)

    @property
    def y_scale(self) -> Scale:
        """The scale of whatever stays above zero."""
        return "log" if self.log_y else "linear"


def recorded_options(options: ChartOptions, traces: Iterable[Trace]) -> ChartOptions:
    """Return the options with what these runs decide: bounds and signs, and objectives above the bound where flat."""
    begun = [trace for trace in traces if len(trace)]
    bounded = bool(Reference.of(begun))
    signed = options.signed or any(bool((trace.objective <= 0.0).any()) for trace in begun)
    curves = [drawable(trace.objective[Thinning().whole(len(trace))]) for trace in begun]
    no_bound = options.no_bound or ("" if bounded or not begun else NO_BOUND)
    return replace(options, signed=signed, no_bound=no_bound, above=bounded and not signed and squashed(curves))


def epochs(solvers: Iterable[Solver]) -> tuple[str, ...]:
    """Return the labels of the solvers whose iterations are epochs."""
    return tuple(str(solver.name) for solver in solvers if solver.stochastic)


def run_table(key: str) -> str:
    """Return what the table of the run `key` is called."""
    return f"run-{key}"


def stop_table(gap: float | None) -> Table:
    """Return the table of the gap at which runs stop."""
    return {"y": [gap or math.nan]}


def x_axis(options: ChartOptions) -> Axis:
    """Return the axis that all charts share; steps and solves are counted."""
    epochs = f" (epoch for {' and '.join(options.by_epoch)})" if options.x == "iteration" and options.by_epoch else ""
    return Axis(X_AXES[options.x] + epochs, "log" if options.log_x else "linear", whole=options.x != "seconds")


def race_charts(styles: Mapping[str, RunStyle], options: ChartOptions) -> dict[str, Chart]:
    """Return the charts that show all runs, by their names."""
    x, used = x_axis(options), f"{options.noun.capitalize()}s in use"

    def of_column(column: str, title: str, y: Axis, term: str, note: str = "") -> Chart:
        return Chart(column, title, x, y, _lines(styles, options, column), note=note, term=term)

    counted, term = Axis(start=0.0, numbers="exact", whole=True), "kernel in use" if options.noun == "kernel" else ""
    charts = (
        objective_chart(styles, options),
        _gap_chart(styles, options),
        of_column("step", "Step size", Axis(scale=options.y_scale), "step size", "As each method defines it."),
        of_column("active", used, counted, term),
        of_column("tolerance", "SVM tolerance", Axis(scale="log"), "SVM tolerance"),
    )
    return {chart.name: chart for chart in charts}


def objective_chart(styles: Mapping[str, RunStyle], options: ChartOptions) -> Chart:
    """Describe the objective as it is, or above the best bound."""
    note, more = _ABOVE if options.above else (_OBJECTIVE[0], "") if options.no_bound else _OBJECTIVE
    title = "Objective above the best bound" if options.above else "Objective"
    y = Axis(scale="linear" if options.signed else options.y_scale, numbers="percent" if options.above else "exact")
    marks = _lines(styles, options, options.objective)
    return Chart("objective", title, x_axis(options), y, marks, note=note, more=more, term="objective")


def _gap_chart(styles: Mapping[str, RunStyle], options: ChartOptions) -> Chart:
    """Describe the gap of each run, that of each iterate behind it, and where runs stop."""
    own = [
        LineMark(run_table(key), options.x, "own_gap", style.colour, width=1.2, alpha=FAINT, label=style.label)
        for key, style in styles.items()
    ]
    stop = RuleMark(STOP, y="y", colour=options.theme.muted, dash="dashed")
    note, more = (options.no_bound, "") if options.no_bound else _GAP
    return Chart(
        "gap",
        "Projected gradient, relative to the objective" if options.no_bound else "Duality gap",
        x_axis(options),
        Axis(scale=options.y_scale, numbers="percent"),
        [*own, *_lines(styles, options, "gap"), stop],
        beside=f"stop at {tick_text(options.gap_tolerance, 'percent')}" if options.gap_tolerance else "",
        note=note,
        more=more,
        term="projected gradient" if options.no_bound else "duality gap",
    )


DASHED = ("solid", "dashed", "dotdash", "dashdot", "dotted")  # from no gaps to most


def _lines(styles: Mapping[str, RunStyle], options: ChartOptions, column: str) -> list[LineMark]:
    """Describe a line of each run; of two that coincide both are seen, by the gaps or the width of the one in front."""
    lines: list[LineMark] = []
    for key, style in sorted(styles.items(), key=lambda entry: -DASHED.index(entry[1].dash)):
        width = 2.0 + 1.8 * sum(line.dash == style.dash for line in lines)
        place = run_table(key), options.x, column
        lines.append(LineMark(*place, style.colour, style.dash, width, label=style.label, marker=style.marker))
    return lines[::-1]


def weights_chart(key: str, style: RunStyle, options: ChartOptions, verdict: str = "") -> Chart:
    """Describe the weights of one run, up to the largest there ever was."""
    colours = zip(options.kernels, WEIGHT_COLUMNS, strict=False)
    lines = [LineMark(run_table(key), options.x, column, colour, width=THIN) for colour, column in colours]
    top = LineMark(run_table(key), options.x, "top")
    name, axis = f"weights-{key}", Axis(start=0.0)
    return Chart(name, style.label, x_axis(options), axis, [*lines, top], verdict)


def enlargements(largest: Mapping[str, float]) -> dict[str, str]:
    """Say how many times taller each run's weights are drawn than beside the `largest` of all, where that is much."""
    top = max(largest.values(), default=0.0)
    times = {key: top / value if value > 0.0 else 1.0 for key, value in largest.items()}
    return {key: f"zoom {times[key]:.0f}×" if times[key] >= ENLARGED else "" for key in largest}


def weights_title(noun: str, shown: int, kernels: int) -> str:
    """Return the heading above the weights of all runs: of the kernels, or whatever has weights, so many are shown."""
    heading = "Kernel weights" if noun == "kernel" else "Parameters of the kernel"
    return heading + (", six largest" if shown < kernels else "")


# -- A path in charts: kernel weights, kernels in use and the cost of each value, over the parameter that varies.

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
    solves, (marks, tables) = bool(path.svm_solves.any()), _weights(path, theme, named, coloured)
    tables["path"] = _table(path, solves)
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


def _weights(path: Path, theme: Theme, named: int, coloured: Sequence[int]) -> tuple[list[Mark], dict[str, Table]]:
    """Describe the kernels of largest weight in colours, in dashes once there are no more, and all others in grey."""
    tips = (("kernel", "$name"), (path.parameter, "@value{0.0000a}"), ("weight", "@weight{0.0000}"))
    top, values, most = path.weights.max(axis=0), path.values.tolist(), len(theme.kernels)
    ordered = [int(k) for k in np.argsort(-top, kind="stable") if top[k] > 0.0]
    heaviest, rest = ordered[:named], [path.weights[:, k].tolist() for k in ordered[named:]]
    marks: list[Mark] = [LineMark("others", "value", "weight", theme.axis, width=1.0, many=True)]
    tables: dict[str, Table] = {"others": {"value": [values] * len(rest), "weight": rest}}
    coloured = coloured or placed(heaviest[:most], path.kernel_names)
    others = itertools.count(most)
    for k in heaviest:
        round_, slot = divmod(coloured.index(k) if k in coloured else next(others), most)
        name, colour, table = path.kernel_names[k], theme.kernels[slot], f"kernel-{k}"
        marks.append(LineMark(table, "value", "weight", colour, DASHES[round_], label=name, tips=tips))
        tables[table] = {"value": values, "weight": path.weights[:, k].tolist()}
    return marks, tables


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
