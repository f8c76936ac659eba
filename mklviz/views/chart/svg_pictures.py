"""Races, traces and paths as still pictures: a notebook keeps them when its kernel is gone.

The charts are those of the dashboard, with the same columns, words and colours; see `race_charts` and `svg`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mklviz.engine import Path, Race
from mklviz.record import FINAL, Trace
from mklviz.record.summary import Reference
from mklviz.views.chart.axes import axis_end, counted
from mklviz.views.chart.columns import WEIGHT_COLUMNS, KernelSlots, Thinning, line_columns, race_slots, weight_columns
from mklviz.views.chart.description import Chart, LineMark, Table
from mklviz.views.chart.race_charts import (
    STOP,
    ChartOptions,
    enlargements,
    epochs,
    path_charts,
    race_charts,
    recorded_options,
    run_table,
    stop_table,
    weights_chart,
    weights_title,
)
from mklviz.views.chart.svg import Legend, Row, drawing
from mklviz.views.look.palette import LIGHT, RunStyle, Theme
from mklviz.views.look.styles import race_styles, run_styles

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
    return _draw(_of_race(race, gap, x, theme))


def _of_race(race: Race, gap: float | None, x: str, theme: Theme) -> _ShownRuns:
    known, by_epoch = race.facts, epochs(run.solver for run in race.runs.values())
    options = ChartOptions(theme, x, False, True, False, gap, known.signed, by_epoch, known.no_bound, known.noun)
    traces = {key: run.trace for key, run in race.runs.items()}
    return _ShownRuns(repr(race), traces, race_styles(race, theme), options)


def race_frames(race: Race, gap: float | None = None, most: int = 60) -> Iterator[str]:
    """Draw a race as it went, in at most so many pictures with the same axes, the last one of its end."""
    subject = _of_race(race, gap, "iteration", LIGHT)
    drawn = _drawn(subject)
    last = max(len(trace) for trace in subject.begun.values()) - 1
    for step in sorted({round(last * k / max(min(most - 1, last), 1)) for k in range(min(most - 1, last) + 1)}):
        yield _draw(subject, drawn, {name: _until(table, step) for name, table in drawn.tables.items()})


def _until(table: Table, step: int) -> Table:
    """Return the rows of a run's table up to a step; what is no run's stays whole."""
    if "iteration" not in table:
        return table
    rows = sum(at <= step for at in table["iteration"])
    return {name: column[:rows] for name, column in table.items()}


def trace_still(trace: Trace, theme: Theme = LIGHT) -> str:
    runs, options = {trace.solver: trace}, ChartOptions(theme, gap_tolerance=None)
    return _draw(_ShownRuns(repr(trace), runs, run_styles(runs, theme), options))


def runs_stills(
    traces: Mapping[str, Trace], styles: Mapping[str, RunStyle], theme: Theme, width: int
) -> tuple[list[str], list[str], KernelSlots]:
    """Draw recorded runs chart by chart: objective and gap, the weights of each; and return their kernels."""
    drawn = _drawn(_ShownRuns("", traces, styles, ChartOptions(theme, gap_tolerance=None)))
    large, small = (
        [drawing([([chart], high)], drawn.tables, chart.title, theme, width) for chart in charts]
        for charts, high in ((drawn.large, BIG), (drawn.weights, SMALL))
    )
    return large, small, race_slots(traces.values())


@dataclass(frozen=True)
class _Drawn:
    """The charts of some runs, their tables, the kernels whose weights are shown, and how far the axes reach."""

    large: Sequence[Chart]
    weights: Sequence[Chart]
    tables: Mapping[str, Table]
    kernels: Sequence[tuple[str, str, str]]  # name, colour, dash
    beyond: Mapping[str, str]  # how far runs go that the axes cut off, in words


def _draw(subject: _ShownRuns, drawn: _Drawn | None = None, shown: Mapping[str, Table] | None = None) -> str:
    """Return the picture of runs; `shown`: the rows of the tables that are drawn, where these are not all."""
    theme, drawn = subject.options.theme, drawn or _drawn(subject)
    across = 3 if len(drawn.weights) > 4 else max(len(drawn.weights), 1)
    entries = [
        (style.label + drawn.beyond.get(key, ""), style.colour, style.dash) for key, style in subject.styles.items()
    ]
    parts: list[Legend | Row] = [Legend("", entries), (drawn.large, BIG)]
    if drawn.weights:
        count = len(next(iter(subject.traces.values())).kernel_names)
        parts.append(Legend(weights_title(subject.options.noun, len(drawn.kernels), count), drawn.kernels))
        parts += [(drawn.weights[i : i + across], SMALL) for i in range(0, len(drawn.weights), across)]
    return drawing(parts, drawn.tables, subject.label, theme, shown=shown)


def _drawn(subject: _ShownRuns) -> _Drawn:
    slots = race_slots(subject.traces.values())
    tables = _tables(subject, slots.slots)
    options = replace(recorded_options(subject.options, subject.begun.values()), coloured=slots.coloured)
    reached = {key: max(tables[run_table(key)][options.x]) for key, t in subject.begun.items() if t.status != "failed"}
    end = axis_end(reached, {key: subject.traces[key].status in FINAL for key in reached})
    styles = {key: subject.styles[key] for key in subject.begun}
    charts = race_charts(styles, options)
    enlarged = enlargements({key: max(tables[run_table(key)]["top"]) for key in styles})
    words = {key: " · ".join(filter(None, (enlarged[key], subject.traces[key].motion.verdict))) for key in styles}
    weights = [weights_chart(key, style, options, words[key]) for key, style in styles.items()]
    large, small = (
        [replace(chart, x=replace(chart.x, limit=end)) for chart in row]
        for row in ([charts["objective"], charts["gap"]], weights)
    )
    beyond = {key: f", to {counted(far, options.x)}" for key, far in reached.items() if far > end}
    names = zip(slots.shown, options.kernels, strict=False)
    return _Drawn(large, small, tables, [(name, colour, "solid") for name, colour in names], beyond)


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


def path_still(path: Path, cold: Path | None = None, theme: Theme = LIGHT) -> str:
    """Draw a path: the largest kernel weights, the kernels in use and what each value cost."""
    (weights, *low), tables = path_charts(path, cold, theme, NAMED)
    lines = [mark for mark in weights.marks if isinstance(mark, LineMark) and mark.label]
    names = [(line.label, str(line.colour), str(line.dash)) for line in lines]
    return drawing([([weights], 300), Legend("", names), (low, SMALL)], tables, repr(path), theme)
