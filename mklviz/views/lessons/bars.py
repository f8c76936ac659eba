"""Pictures of bars: SVM solves and trials, and how many kernels have weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.record import Trace
from mklviz.views.chart.description import Axis, BarMark, Chart, LineMark, Table, TextMark
from mklviz.views.lessons.curve_names import Named, with_names
from mklviz.views.lessons.picture import NAME_SIZE, LessonRuns, NamedBar, Picture, bar_chart, bar_table

__all__ = ["few_kernels", "machines", "solves_bars", "sparse_or_dense", "svm_solves"]

WIDE = 0.2  # share of a bar that has room for words


def svm_solves(runs: LessonRuns) -> Picture:
    """Show SVM solves, and how many of them a step took."""
    titles = {"solves": "SVM solves", "trials": "SVM solves per step"}
    charts = [bar_chart(name, title, runs.theme) for name, title in titles.items()]
    return Picture([charts], {"solves": bar_table(solves_bars(runs)), "trials": bar_table(_trials(runs))})


def solves_bars(runs: LessonRuns) -> list[NamedBar]:
    """Return a bar of SVM solves for each run."""
    count = {key: trace.final.svm_solves for key, trace in runs.traces.items()}
    styles = runs.styles
    return [NamedBar(styles[key].label, float(n), f"{n:,}", styles[key].colour) for key, n in count.items()]


def _trials(runs: LessonRuns) -> list[NamedBar]:
    mean = {runs.styles[key]: _mean_trials(trace) for key, trace in runs.traces.items()}
    return [NamedBar(style.label, n, f"{n:.1f}", style.colour) for style, n in mean.items()]


def _mean_trials(trace: Trace) -> float:
    """Return the SVM solves of a step, on average."""
    return (trace.final.svm_solves - trace[0].svm_solves) / max(len(trace) - 1, 1)


def few_kernels(runs: LessonRuns) -> Picture:
    """Show how few of all kernels have weight, and the weights of these."""
    best = min((trace.best for trace in runs.traces.values()), key=lambda iterate: iterate.objective)
    counts = [("all kernels", len(best.weights), runs.theme.axis), ("with weight", best.active, runs.theme.accent)]
    bars = [NamedBar(name, float(count), f"{count:,}", colour) for name, count, colour in counts]
    weights = np.sort(best.weights)[::-1][: best.active].tolist()
    line = LineMark("weights", "rank", "weight", runs.theme.accent, width=2.4 * runs.theme.scale)
    falls = Chart("weights", "Their weights, largest first", Axis("rank", whole=True), Axis(start=0.0), [line])
    tables = {"counts": bar_table(bars), "weights": {"rank": list(range(1, len(weights) + 1)), "weight": weights}}
    return Picture([[bar_chart("counts", "Kernels with weight", runs.theme), falls]], tables)


def sparse_or_dense(runs: LessonRuns) -> Picture:
    """Show the weights of the race beside those of the simplex, largest first, and how many there are of each."""
    best = min((trace.best for trace in runs.traces.values()), key=lambda iterate: iterate.objective).weights
    simplex = runs.evidence.get("largest first", {}).get("simplex", [])
    theme = runs.theme
    kinds = [("simplex", np.array(simplex), theme.kernels[1]), ("p = 4/3", np.sort(best)[::-1], theme.kernels[0])]
    ranked = {name: _ranked(weights) for name, weights, _ in kinds}
    bars = [
        NamedBar(name, float(len(ranked[name]["rank"])), f"{len(ranked[name]['rank']):,}", c) for name, _, c in kinds
    ]
    bars.append(NamedBar("all kernels", float(len(best)), f"{len(best):,}", theme.axis))
    lines = [LineMark(name, "rank", "weight", c, width=2.4 * theme.scale, label=name) for name, _, c in kinds]
    x, y = Axis("rank", whole=True), Axis(scale="log")
    falls = Chart("falls", "Weights, largest first", x, y, lines)
    tables = {**ranked, "counts": bar_table(bars)}
    picture = Picture([[bar_chart("counts", "Kernels with weight", theme), falls]], tables)
    return with_names(picture, "falls", [Named(name, "weight", name, c) for name, _, c in kinds], theme)


def _ranked(weights: Array) -> dict[str, list[float]]:
    kept = weights[weights > ACTIVE_WEIGHT].tolist()
    return {"rank": [float(k) for k in range(1, len(kept) + 1)], "weight": kept}


def machines(runs: LessonRuns) -> Picture:
    """Show how each machine shares its weight between the kernels, and below how the one for all classes does."""
    theme, evidence = runs.theme, runs.evidence.get("machines", {})
    names = list(evidence)[::-1]
    shares = np.array([np.divide(evidence[name], sum(evidence[name])) for name in names], ndmin=2)
    ends = np.cumsum(shares, axis=1)
    kernels = range(shares.shape[1])
    columns = {f"to-{k}": ends[:, k].tolist() for k in kernels}
    longest_first = [BarMark("shares", f"to-{k}", "name", theme.kernels[k % 6], height=0.72) for k in kernels][::-1]
    written = TextMark("written", "x", "name", "text", theme.card, NAME_SIZE, bold=True, align="center")
    x = Axis(start=0.0, end=1.02, visible=False)
    chart = Chart(
        "machines",
        "Three machines, one for each class, and one for all: which kernels they use",
        x,
        marks=[*longest_first, written],
    )
    wide = [(i, k) for i in range(len(names)) for k in kernels if shares[i, k] > WIDE]
    words: Table = {
        "name": [names[i] for i, _ in wide],
        "x": [float(ends[i, k] - shares[i, k] / 2.0) for i, k in wide],
        "text": [f"kernel {k + 1}" for _, k in wide],
    }
    table: dict[str, list[Any]] = {"name": names, **columns}
    return Picture([[chart]], {"shares": table, "written": words})
