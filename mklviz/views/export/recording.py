"""Recorded runs as numbers and words for a script, with the charts that it draws of them.

Runs are thinned, rounded, and come with what each solver did at each step. The script fills in the horizontal axis that
is chosen there. Colours are variables of the page's style sheet, so that it is light or dark where it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mklviz.contract import Solver
from mklviz.engine import Race
from mklviz.engine.race import narrated
from mklviz.errors import MklvizError
from mklviz.record import FINAL, Trace
from mklviz.record.summary import Reference, label, result_at
from mklviz.views.chart import columns, race_charts
from mklviz.views.chart.axes import X_AXES
from mklviz.views.chart.description import Axis, Chart, LineMark, RuleMark
from mklviz.views.look.palette import DASHES, LIGHT, MARKERS, RunStyle, run_name
from mklviz.views.look.styles import run_styles, solver_of, traces_of
from mklviz.views.race import results
from mklviz.views.session.session import difference, recipe_of

LARGE = ("objective", "gap", "step")
PAGE = replace(
    LIGHT, muted="var(--mk-muted)", kernels=tuple(f"var(--kernel-{slot})" for slot in range(len(LIGHT.kernels)))
)


def page_styles(traces: Mapping[str, Trace]) -> dict[str, RunStyle]:
    """Return how runs are drawn in the colours of the page."""
    styles = run_styles(traces, LIGHT).items()
    return {key: replace(style, colour=f"var(--run-{index})") for index, (key, style) in enumerate(styles)}


def page_charts(styles: Mapping[str, RunStyle], options: race_charts.ChartOptions) -> dict[str, Any]:
    """Return the charts of all runs by their names, those of each run's weights, and the horizontal axes."""
    charts = race_charts.race_charts(styles, replace(options, above=False))
    weights = [race_charts.weights_chart(key, style, options) for key, style in styles.items()]
    return {
        "axes": {column: _axis(race_charts.x_axis(replace(options, x=column))) for column in X_AXES},
        "charts": {name: _chart(charts[name]) for name in LARGE}
        | {"above": _chart(race_charts.objective_chart(styles, replace(options, above=True)))},
        "weights": [_chart(chart) for chart in weights],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    words = {"title": chart.title, "heading": results.chart_heading(replace(chart, term=""), with_note=True)}
    return words | {"y": _axis(chart.y), "marks": [_mark(mark) for mark in chart.marks]}


def _axis(axis: Axis) -> dict[str, Any]:
    start = None if math.isnan(axis.start) else axis.start
    return {"label": axis.label, "log": axis.log, "start": start, "whole": axis.whole, "numbers": axis.numbers}


def _mark(mark: Any) -> dict[str, Any]:
    """Return a line over the horizontal axis chosen, or a rule across; what is empty is left out."""
    drawn = {"table": mark.table, "column": mark.y, "across": isinstance(mark, RuleMark), "dash": DASHES[mark.dash]}
    drawn |= {name: getattr(mark, name) for name in ("colour", "width", "alpha")}
    if isinstance(mark, LineMark) and mark.marker:
        drawn["marker"] = MARKERS.get(mark.marker, MARKERS["circle"])
    return {name: value for name, value in drawn.items() if value}


Numbers = Callable[[Iterable[float], int], Any]  # writes numbers of so many digits for a script

MOST_STEPS = 600  # that are kept of a run
MOST_IN_ALL = 2400  # that are kept of a race: the page stays below a megabyte
FEWEST = 100  # that are kept of a run, however many there are
DIGITS = {"iteration": 15, "svm_solves": 15, "objective": 6} | dict.fromkeys(
    ("seconds", "above", "gap", "own_gap", "step"), 4
)


@dataclass(frozen=True)
class Recorded:
    """Runs on one problem, and the words for it."""

    traces: Mapping[str, Trace]
    solvers: Mapping[str, Solver] = field(default_factory=dict)  # the solvers of the runs, as far as they are known
    noun: str = "kernel"  # what has weights
    gap: float | None = None  # at which the runs stopped
    data: str = ""  # name of the data set, "" if unknown

    @property
    def problem(self) -> str:
        return next(iter(self.traces.values())).problem

    @property
    def ended(self) -> bool:
        return all(trace.status in FINAL for trace in self.traces.values())

    def page_data(self, in_all: int = MOST_IN_ALL) -> dict[str, Any]:
        """Return all that a script draws of the runs, at most `in_all` steps of them together; `null` is a hole."""
        begun = {key: trace for key, trace in self.traces.items() if len(trace)}
        slots = columns.race_slots(self.traces.values())
        reference, by_epoch = Reference.of(begun.values()), race_charts.epochs(self.solvers.values())
        options = race_charts.ChartOptions(PAGE, gap_tolerance=self.gap, by_epoch=by_epoch, noun=self.noun)
        most = max(min(MOST_STEPS, in_all // len(begun)), FEWEST)
        runs = {
            key: run_data(key, trace, self.solvers.get(key), most, slots.slots, reference, rounded)
            for key, trace in begun.items()
        }
        shown = columns.WEIGHT_COLUMNS[: len(slots.slots)]
        tops = {key: max(weight or 0.0 for column in shown for weight in run[column]) for key, run in runs.items()}
        enlarged, styles = race_charts.enlargements(tops), page_styles(begun)
        pills = {key: results.weights_pills(trace.motion, enlarged[key]) for key, trace in begun.items()}
        return {
            "ended": self.ended,
            "left_out": thinned(begun, most),
            "runs": [run | {"top": [tops[key]], "pills": pills[key]} for key, run in runs.items()],
            **words_data(begun, styles, race_charts.recorded_options(options, begun.values()), slots),
        }


def recorded(shown: Race | Trace | Mapping[str, Trace] | Iterable[Trace]) -> Recorded:
    """Return the runs to show, or raise `MklvizError` if there are none or they belong to several problems."""
    traces = traces_of(shown.traces if isinstance(shown, Race) else shown)
    if isinstance(shown, Race):
        traces, solvers = shown.traces, {key: run.solver for key, run in shown.runs.items()}
    else:
        solvers = {key: solver for key, trace in traces.items() if (solver := solver_of(trace)) is not None}
    if wrong := difference(traces.values()):
        raise MklvizError(wrong)
    recipe = recipe_of(next(iter(traces.values())))
    if recipe is None:
        noun = shown.facts.noun if isinstance(shown, Race) else "kernel"
        return Recorded(traces, solvers, noun)
    noun = "parameter" if recipe.kernels.combination == "polynomial" else "kernel"
    return Recorded(traces, solvers, noun, recipe.goal, "" if recipe.data.own else recipe.data.source)


def words_data(
    traces: Mapping[str, Trace],
    styles: Mapping[str, RunStyle],
    options: race_charts.ChartOptions,
    slots: columns.KernelSlots,
) -> dict[str, Any]:
    """Return what a script needs besides the runs: words, names and charts."""
    options = replace(options, coloured=slots.coloured)
    return {
        "boundless": bool(options.no_bound),
        "squashed": options.above,
        "names": {key: run_name(style) for key, style in styles.items()},
        "colours": {key: style.colour for key, style in styles.items()},
        "heads": results.result_heads(options.noun),
        **{state: results.status_html(state) for state in ("past", "later")},
        "way": results.WAY,
        "way_heads": results.WAY_HEADS,
        "kernels": slots.shown,
        "weights_heading": results.weights_heading(slots, PAGE, options.noun),
        race_charts.STOP: {"y": [options.gap_tolerance]},
        **page_charts(styles, options),
    }


def thinned(traces: Mapping[str, Trace], most: int) -> str:
    """Say how many steps are left out of the longest run, where any are."""
    longest = max(traces.values(), key=len)
    steps = len(kept_steps(len(longest), most))
    return f"Of {len(longest):,} steps of {longest.label} this page keeps {steps:,}." if steps < len(longest) else ""


def run_data(
    key: str, trace: Trace, solver: Solver | None, most: int, kernels: list[int], reference: Reference, numbers: Numbers
) -> dict[str, Any]:
    """Return the columns of one run at the steps that are kept, as `numbers` writes them, and the words for it."""
    status, length = trace.status, len(trace)  # in this order: a final status makes the trace final
    steps = kept_steps(length, most)
    lines, weights = columns.line_columns(trace, steps, reference), columns.weight_columns(trace, steps, kernels)
    return {
        **{"key": key, "table": race_charts.run_table(key), "label": label(key, trace)},
        **{"state": status, "status": results.status_html(status, trace.reason), "reason": trace.reason},
        "outside": results.words_outside(trace),
        "way": results.way_cells(trace, reference),
        **{column: numbers(lines[column], digits) for column, digits in DIGITS.items()},
        **{column: numbers(weights[column], 3) for column in columns.WEIGHT_COLUMNS[: len(kernels)]},
        "cells": ["\t".join(results.result_cells(result_at(trace, t), trace.motion_at(t))) for t in steps],
        "narration": [] if solver is None else [narrated(solver, trace, t) for t in steps],
    }


def kept_steps(length: int, most: int) -> list[int]:
    """Return the steps that are kept, the last one always among them."""
    steps = [*range(0, length, -(-length // most))]
    return steps if steps[-1] == length - 1 else [*steps, length - 1]


def rounded(values: Iterable[float], digits: int) -> list[float | None]:
    """Return numbers with so many digits, None for what cannot be drawn; whole ones without a point."""
    return [_short(float(f"{value:.{digits}g}")) if abs(value) <= columns.LARGEST_DRAWN else None for value in values]


def _short(value: float) -> float:
    return int(value) if value.is_integer() else value
