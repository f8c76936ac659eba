"""Races, traces and paths as pictures that stand still: what a notebook keeps when its kernel is gone.

The lines are those of the dashboard, from the same columns and in the same colours; see `stream` and `drawing`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mklviz.engine import Path, Race, available_solvers, make_solver
from mklviz.engine.styles import style_of
from mklviz.recipe.parsing import show_percent
from mklviz.record import FINAL, Trace
from mklviz.record.reference import Reference
from mklviz.views.chart.axes import X_AXES, counted
from mklviz.views.chart.axis_end import axis_end
from mklviz.views.chart.columns import WEIGHT_COLUMNS, KernelSlots
from mklviz.views.chart.squashed import squashed
from mklviz.views.chart.svg import Chart, Curve, Legend, Row, drawing
from mklviz.views.look.palette import LIGHT, RunStyle, readable
from mklviz.views.look.styles import race_styles
from mklviz.views.race.feed import RunFeed

__all__ = ["path_still", "race_still", "trace_still"]

BIG, SMALL = 264, 200  # heights in pixels
FAINT = 0.45
NAMED = 6  # kernels of a path with a colour and a name


@dataclass(frozen=True)
class _Subject:
    """What is drawn of one or several runs, and the words for it."""

    label: str
    traces: Mapping[str, Trace]
    styles: Mapping[str, RunStyle]
    gap: float | None = None
    x: str = "iteration"
    boundless: bool = False  # whether there is no gap, but a projected gradient
    signed: bool = False  # whether the objective may fall below zero
    noun: str = "kernel"


def race_still(race: Race, gap: float | None = None, x: str = "iteration") -> str:
    """Draw a race as it stands: objective, gap and weights over the column `x`, and at which `gap` runs stop."""
    traces = {key: run.trace for key, run in race.runs.items()}
    problem = race.problem
    signed = not problem.regularizer.conjugated
    styles = race_styles(race, LIGHT)
    return _draw(_Subject(repr(race), traces, styles, gap, x, bool(problem.no_bound), signed, problem.noun))


def trace_still(trace: Trace) -> str:
    """Draw one run."""
    colour, dash = LIGHT.accent, "solid"
    if trace.solver in available_solvers():
        own = style_of(type(make_solver(trace.solver)))
        colour, dash = readable(own.colour, LIGHT.card), own.dash
    style = RunStyle(trace.label, colour, dash, "circle")
    boundless = bool(len(trace)) and math.isnan(trace.gap_at(len(trace) - 1))
    signed = any(value <= 0 for value in trace.objective)
    one = trace.solver
    return _draw(_Subject(repr(trace), {one: trace}, {one: style}, boundless=boundless, signed=signed))


def _draw(subject: _Subject) -> str:
    feeds, styles, x = _feeds(subject.traces), subject.styles, subject.x
    own = _curves(feeds, styles, x, "own_gap")
    faint = [Curve(curve.x, curve.y, curve.colour, "solid", 1.2, FAINT) for curve in own]
    gap, label = subject.gap, X_AXES[x]
    whole = {key: feed for key, feed in feeds.items() if feed.trace.status != "failed"}
    reached = {key: feed.place(feed.trace.last_step)[x] for key, feed in whole.items()}
    end = axis_end(reached, {key: feed.trace.status in FINAL for key, feed in whole.items()})
    top = [
        _objective(feeds, styles, x, subject.signed),
        Chart(
            "Projected gradient, relative to the objective" if subject.boundless else "Duality gap",
            label,
            [*faint, *_curves(feeds, styles, x, "gap")],
            f"stop at {show_percent(gap)}" if gap else "",
            log_y=True,
            percent=True,
            line=gap or math.nan,
        ),
    ]
    weights = [_weights(feed, styles[key], x) for key, feed in feeds.items()]
    heights = (y for chart in weights for curve in chart.curves for y in curve.y if math.isfinite(y))
    span = (0.0, 1.06 * max(heights, default=0.0) or 1.0)
    weights = [replace(chart, y_span=span, x_end=end) for chart in weights]
    across = 3 if len(weights) > 4 else max(len(weights), 1)
    rows: list[Row] = [(weights[i : i + across], SMALL) for i in range(0, len(weights), across)]
    beyond = {key: f", to {counted(far, x)}" for key, far in reached.items() if far > end}
    entries = [(style.label + beyond.get(key, ""), style.colour, style.dash) for key, style in styles.items()]
    parts: list[Legend | Row] = [Legend("", entries), ([replace(chart, x_end=end) for chart in top], BIG)]
    if rows:
        parts += [_kernels(subject, feeds), *rows]
    return drawing(parts, subject.label, LIGHT)


def _objective(feeds: Mapping[str, RunFeed], styles: Mapping[str, RunStyle], x: str, signed: bool) -> Chart:
    """Draw the objective as it is, or above the best bound where it would lie too flat."""
    plain = _curves(feeds, styles, x, "objective")
    known = any(feed.reference for feed in feeds.values())
    if signed or not known or not squashed([curve.y for curve in plain]):
        return Chart("Objective", X_AXES[x], plain, log_y=not signed)
    above = _curves(feeds, styles, x, "above")
    return Chart("Objective above the best bound", X_AXES[x], above, log_y=True, percent=True)


def _kernels(subject: _Subject, feeds: Mapping[str, RunFeed]) -> Legend:
    """Return the names of the kernels, or of whatever has weights, that are shown."""
    names = next(iter(subject.traces.values())).kernel_names
    slots = next(iter(feeds.values())).slots.slots
    shown = [(names[k], colour, "solid") for k, colour in zip(slots, LIGHT.kernels, strict=False) if k < len(names)]
    heading = "Kernel weights" if subject.noun == "kernel" else "Parameters of the kernel"
    return Legend(heading + (", six largest" if len(shown) < len(names) else ""), shown)


def _feeds(traces: Mapping[str, Trace]) -> dict[str, RunFeed]:
    begun = {key: trace for key, trace in traces.items() if len(trace)}
    slots = KernelSlots(max((len(trace.best.weights) for trace in begun.values()), default=0))
    slots.update([trace.best.weights for trace in begun.values()], exact=True)
    feeds = {key: RunFeed(key, trace, slots) for key, trace in begun.items()}
    reference = Reference.of(begun.values())
    for feed in feeds.values():
        feed.reference = reference
        feed.push("running")
    return feeds


def _curves(feeds: Mapping[str, RunFeed], styles: Mapping[str, RunStyle], x: str, column: str) -> list[Curve]:
    data = {key: feed.source.data for key, feed in feeds.items()}
    return [Curve(d[x], d[column], styles[key].colour, styles[key].dash) for key, d in data.items()]


def _weights(feed: RunFeed, style: RunStyle, x: str) -> Chart:
    data = feed.source.data
    pairs = zip(LIGHT.kernels, WEIGHT_COLUMNS, strict=False)
    curves = [Curve(data[x], data[column], colour, width=1.6) for colour, column in pairs]
    return Chart(style.label, X_AXES[x], curves, feed.trace.motion.verdict or "", zero=True)


def path_still(path: Path, cold: Path | None = None) -> str:
    """Draw a path: the largest kernel weights, the kernels in use and what each value cost."""
    weights, names, x = path.weights, path.kernel_names, path.values.tolist()
    log = bool((path.values > 0.0).all()) and len(x) > 1 and float(np.ptp(np.log(path.values))) > 1.0
    heaviest = [k for k in np.argsort(-weights.max(axis=0), kind="stable") if weights[:, k].max() > 0.0]
    named = list(zip(heaviest[:NAMED], LIGHT.kernels, strict=False))
    curves = [Curve(x, weights[:, k].tolist(), LIGHT.axis, width=1.0) for k in heaviest[NAMED:]]
    curves += [Curve(x, weights[:, k].tolist(), colour) for k, colour in named]
    cost, solves = [], path.svm_solves.any()
    for run, colour, dash in ((path, LIGHT.kernels[0], "solid"), (cold, LIGHT.kernels[5], "dashed")):
        if run is not None:
            counts = run.svm_solves if solves else run.iterations
            cost.append(Curve(run.values.tolist(), counts.tolist(), colour, dash))
    along, told = path.parameter, "warm: solid, cold: dashed" if cold is not None else ""
    active = [Curve(x, path.active.tolist(), LIGHT.kernels[0])]
    counted: dict[str, Any] = {"log_x": log, "zero": True, "whole": True}
    low = [
        Chart("Kernels in use", along, active, **counted),
        Chart("SVM solves" if solves else "Steps", along, cost, told, **counted),
    ]
    title = f"{path.label} along {along}"
    tall = [Chart("Kernel weights", along, curves, title, log_x=log, zero=True)]
    names_shown = Legend("", [(names[k], colour, "solid") for k, colour in named])
    return drawing([(tall, 300), names_shown, (low, SMALL)], repr(path), LIGHT)
