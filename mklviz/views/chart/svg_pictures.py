"""Races, traces and paths as still pictures: a notebook keeps them when its kernel is gone.

The charts are those of the dashboard, with the same columns, words and colours; see `race_charts` and `svg`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mklviz.engine import Path, Race, available_solvers, make_solver
from mklviz.engine.registry import style_of
from mklviz.record import FINAL, Trace
from mklviz.record.reference import Reference
from mklviz.views.chart.axes import counted
from mklviz.views.chart.columns import WEIGHT_COLUMNS, KernelSlots, Thinning, line_columns, weight_columns
from mklviz.views.chart.description import Chart, LineMark, Table
from mklviz.views.chart.path_charts import path_charts
from mklviz.views.chart.race_charts import (
    NO_BOUND,
    STOP,
    ChartOptions,
    enlargements,
    race_charts,
    run_table,
    stop_table,
    weights_chart,
    weights_title,
)
from mklviz.views.chart.squashed import squashed
from mklviz.views.chart.svg import Legend, Row, drawing
from mklviz.views.chart.ticks import axis_end
from mklviz.views.look.palette import LIGHT, RunStyle, Theme, readable
from mklviz.views.look.styles import race_styles

__all__ = ["path_still", "race_still", "runs_stills", "trace_still"]

BIG, SMALL = 264, 200  # heights in pixels
NAMED = 6  # kernels of a path with a colour and a name


@dataclass(frozen=True)
class _ShownRuns:
    """What is drawn of one or several runs, and the words for it."""

    label: str
    traces: Mapping[str, Trace]
    styles: Mapping[str, RunStyle]
    options: ChartOptions

    @property
    def begun(self) -> dict[str, Trace]:
        """The runs that have something to draw."""
        return {key: trace for key, trace in self.traces.items() if len(trace)}


def race_still(race: Race, gap: float | None = None, x: str = "iteration", theme: Theme = LIGHT) -> str:
    """Draw a race as it is now: objective, gap and weights over the column `x`, and the `gap` at which runs stop."""
    problem = race.problem
    options = ChartOptions(
        theme,
        x,
        gap_tolerance=gap,
        signed=not problem.regularizer.conjugated,
        no_bound=problem.no_bound,
        noun=problem.noun,
    )
    traces = {key: run.trace for key, run in race.runs.items()}
    return _draw(_ShownRuns(repr(race), traces, race_styles(race, theme), options))


def trace_still(trace: Trace, theme: Theme = LIGHT) -> str:
    """Draw one run."""
    colour, dash = theme.accent, "solid"
    if trace.solver in available_solvers():
        own = style_of(type(make_solver(trace.solver)))
        colour, dash = readable(own.colour, theme.card), own.dash
    style = RunStyle(trace.label, colour, dash, "circle")
    boundless = bool(len(trace)) and math.isnan(trace.gap_at(len(trace) - 1))
    signed = any(value <= 0 for value in trace.objective)
    options = ChartOptions(theme, gap_tolerance=None, signed=signed, no_bound=NO_BOUND if boundless else "")
    return _draw(_ShownRuns(repr(trace), {trace.solver: trace}, {trace.solver: style}, options))


def runs_stills(
    traces: Mapping[str, Trace], styles: Mapping[str, RunStyle], theme: Theme, width: int
) -> tuple[list[str], list[str], list[str]]:
    """Draw recorded runs chart by chart: objective and gap, the weights of each, and the names of their kernels."""
    boundless = any(math.isnan(trace.gap_at(len(trace) - 1)) for trace in traces.values() if len(trace))
    signed = any(value <= 0 for trace in traces.values() for value in trace.objective)
    options = ChartOptions(theme, gap_tolerance=None, signed=signed, no_bound=NO_BOUND if boundless else "")
    drawn = _drawn(_ShownRuns("", traces, styles, options))
    large, small = (
        [drawing([([chart], high)], drawn.tables, chart.title, theme, width) for chart in charts]
        for charts, high in ((drawn.large, BIG), (drawn.weights, SMALL))
    )
    return large, small, [name for name, _, _ in drawn.kernels]


@dataclass(frozen=True)
class _Drawn:
    """The charts of some runs, their tables, the kernels whose weights are shown, and how far the axes reach."""

    large: Sequence[Chart]
    weights: Sequence[Chart]
    tables: Mapping[str, Table]
    kernels: Sequence[tuple[str, str, str]]  # name, colour, dash
    beyond: Mapping[str, str]  # how far runs go that the axes cut off, in words


def _draw(subject: _ShownRuns) -> str:
    theme, drawn = subject.options.theme, _drawn(subject)
    across = 3 if len(drawn.weights) > 4 else max(len(drawn.weights), 1)
    entries = [
        (style.label + drawn.beyond.get(key, ""), style.colour, style.dash) for key, style in subject.styles.items()
    ]
    parts: list[Legend | Row] = [Legend("", entries), (drawn.large, BIG)]
    if drawn.weights:
        count = len(next(iter(subject.traces.values())).kernel_names)
        parts.append(Legend(weights_title(subject.options.noun, len(drawn.kernels), count), drawn.kernels))
        parts += [(drawn.weights[i : i + across], SMALL) for i in range(0, len(drawn.weights), across)]
    return drawing(parts, drawn.tables, subject.label, theme)


def _drawn(subject: _ShownRuns) -> _Drawn:
    slots = KernelSlots(max((len(trace.best.weights) for trace in subject.begun.values()), default=0))
    slots.update([trace.best.weights for trace in subject.begun.values()], exact=True)
    tables = _tables(subject, slots.slots)
    options = _raised(subject, tables)
    reached = {key: max(tables[run_table(key)][options.x]) for key, t in subject.begun.items() if t.status != "failed"}
    end = axis_end(reached, {key: subject.traces[key].status in FINAL for key in reached})
    styles = {key: subject.styles[key] for key in subject.begun}
    charts = race_charts(styles, options)
    enlarged = enlargements({key: max(tables[run_table(key)]["top"]) for key in styles})
    words = {key: " · ".join(filter(None, (enlarged[key], _verdict(subject.traces[key])))) for key in styles}
    weights = [weights_chart(key, style, options, words[key]) for key, style in styles.items()]
    large, small = (
        [replace(chart, x=replace(chart.x, limit=end)) for chart in row]
        for row in ([charts["objective"], charts["gap"]], weights)
    )
    beyond = {key: f", to {counted(far, options.x)}" for key, far in reached.items() if far > end}
    return _Drawn(large, small, tables, _kernels(subject, slots.slots), beyond)


def _tables(subject: _ShownRuns, kernels: Sequence[int]) -> dict[str, Table]:
    """Return what is drawn of each run, and up to where its own weights reach."""
    reference = Reference.of(subject.begun.values())
    tables: dict[str, dict[str, list[float]]] = {}
    for key, trace in subject.begun.items():
        steps = Thinning().whole(len(trace))
        tables[run_table(key)] = line_columns(trace, steps, reference) | weight_columns(trace, steps, kernels)
    for table in tables.values():
        shown = [value for column in WEIGHT_COLUMNS for value in table[column] if math.isfinite(value)]
        table["top"] = [max(shown, default=0.0)] * len(table["top"])
    return {**tables, STOP: stop_table(subject.options.gap_tolerance)}


def _raised(subject: _ShownRuns, tables: Mapping[str, Table]) -> ChartOptions:
    """Return the options with the objective above the best bound where it would lie too flat."""
    options, drawn = subject.options, [tables[run_table(key)]["objective"] for key in subject.begun]
    known = bool(Reference.of(subject.begun.values()))
    return replace(options, above=not options.signed and known and squashed(drawn))


def _verdict(trace: Trace) -> str:
    return trace.motion.verdict or ""


def _kernels(subject: _ShownRuns, slots: Sequence[int]) -> list[tuple[str, str, str]]:
    """Return the kernels, or whatever has weights, that are shown, with their lines."""
    names = next(iter(subject.traces.values())).kernel_names
    colours = subject.options.theme.kernels
    return [(names[k], colour, "solid") for k, colour in zip(slots, colours, strict=False) if k < len(names)]


def path_still(path: Path, cold: Path | None = None, theme: Theme = LIGHT) -> str:
    """Draw a path: the largest kernel weights, the kernels in use and what each value cost."""
    (weights, *low), tables = path_charts(path, cold, theme, NAMED)
    lines = [mark for mark in weights.marks if isinstance(mark, LineMark) and mark.label]
    names = [(line.label, str(line.colour), str(line.dash)) for line in lines]
    return drawing([([weights], 300), Legend("", names), (low, SMALL)], tables, repr(path), theme)
