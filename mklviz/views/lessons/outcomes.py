"""Pictures of what came out: bars of solves and kernels, and the objective between ends or along C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.record.summary import best_of
from mklviz.scenarios._scenario import trials
from mklviz.views.chart.columns import placed
from mklviz.views.chart.description import Axis, BarMark, Chart, LineMark, PointMark, Table, TextMark
from mklviz.views.lessons.picture import (
    NAME_SIZE,
    CurveName,
    LessonRuns,
    Named,
    NamedBar,
    Picture,
    bar_chart,
    bar_table,
    name_table,
    point_names,
    run_bars,
    with_names,
)

WIDE = 0.2  # share of a bar that has room for words


def svm_solves(runs: LessonRuns) -> Picture:
    """Show SVM solves, and how many of them a step took."""
    titles = {"solves": "SVM solves", "trials": "SVM solves per step"}
    charts = [bar_chart(name, title, runs.theme) for name, title in titles.items()]
    tried = {key: trials(trace) for key, trace in runs.traces.items()}
    return Picture(
        [charts], {"solves": bar_table(solves_bars(runs)), "trials": bar_table(run_bars(runs, tried, ".1f"))}
    )


def solves_bars(runs: LessonRuns) -> list[NamedBar]:
    """Return a bar of SVM solves for each run."""
    return run_bars(runs, {key: trace.final.svm_solves for key, trace in runs.traces.items()})


def few_kernels(runs: LessonRuns) -> Picture:
    """Show how few of all kernels have weight, and the weights of these."""
    best = best_of(runs.traces.values()).best
    counts = [("all kernels", len(best.weights), runs.theme.axis), ("with weight", best.active, runs.theme.accent)]
    bars = [NamedBar(name, float(count), runs.language.number(f"{count:,}"), colour) for name, count, colour in counts]
    weights = np.sort(best.weights)[::-1][: best.active].tolist()
    line = LineMark("weights", "rank", "weight", runs.theme.accent, width=2.4 * runs.theme.scale)
    falls = Chart("weights", "Their weights, largest first", Axis("rank", whole=True), Axis(start=0.0), [line])
    tables = {"counts": bar_table(bars), "weights": {"rank": list(range(1, len(weights) + 1)), "weight": weights}}
    return Picture([[bar_chart("counts", "Kernels with weight", runs.theme), falls]], tables)


def sparse_or_dense(runs: LessonRuns) -> Picture:
    """Show the weights of the race beside those of the simplex, largest first, and how many there are of each."""
    best = best_of(runs.traces.values()).best.weights
    simplex = runs.evidence.get("largest first", {}).get("simplex", [])
    theme = runs.theme
    kinds = [("simplex", np.array(simplex), theme.muted), ("p = 4/3", np.sort(best)[::-1], theme.accent)]
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
    return with_names(picture, "falls", [Named(name, "weight", runs.language(name), c) for name, _, c in kinds], theme)


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
    places = placed(kernels, next(iter(runs.traces.values())).kernel_names)
    colours = [theme.kernels[places.index(k) % len(theme.kernels)] for k in kernels]
    longest_first = [BarMark("shares", f"to-{k}", "name", colours[k], height=0.72) for k in kernels][::-1]
    written = TextMark("written", "x", "name", "text", theme.card, NAME_SIZE, bold=True, align="center")
    x = Axis(start=0.0, end=1.02, visible=False)
    title = "Three machines, one for each class, and one for all: which kernels they use"
    chart = Chart("machines", title, x, marks=[*longest_first, written])
    wide = [(i, k) for i in range(len(names)) for k in kernels if shares[i, k] > WIDE]
    words: Table = {
        "name": [names[i] for i, _ in wide],
        "x": [float(ends[i, k] - shares[i, k] / 2.0) for i, k in wide],
        "text": [runs.language("kernel {k}", k=k + 1) for _, k in wide],
    }
    table: dict[str, list[Any]] = {"name": names, **columns}
    return Picture([[chart]], {"shares": table, "written": words})


ROOM = 0.3  # of the height of a way, below it, for names
_EMPTY: Table = {"place": [], "objective": []}
EQUAL = "equal weights"  # where all runs began
BESIDE = 1.7  # times as far as the ends of C is its axis drawn, for their numbers


def valley(runs: LessonRuns) -> Picture:
    """Show SVM solves, and the objective on the ways from one end to the others, and to where all began."""
    theme, ways = runs.theme, runs.evidence
    colours = {style.label: style.colour for style in runs.styles.values()}
    tables: dict[str, Table] = {"room": _EMPTY}
    tables |= {f"way-{name}": way for name, way in ways.items()}
    thick = 2.4 * theme.scale
    lines = [
        LineMark(f"way-{name}", "place", "objective", colours.get(name, theme.muted), width=thick, label=name)
        for name in ways
    ]
    began = [name for name in ways if name not in colours]
    names = [Named(f"way-{name}", "objective", f"… {runs.language(name)}", theme.muted) for name in began]
    flat = [name for name in ways if name in colours]
    if flat:
        names.append(Named(f"way-{flat[0]}", "objective", f"… {', '.join(flat)}", theme.text))
        tables["room"] = _room_below(ways[EQUAL])
    x, y = Axis(start=0.0, end=1.8, names=("SILP's end", "the other end")), Axis(numbers="exact")
    lines.append(LineMark("room", "place", "objective"))
    chart = Chart("valley", "Objective along the line from SILP's end to …", x, y, lines)
    bars = bar_chart("solves", "SVM solves", theme)
    tables["solves"] = bar_table(solves_bars(runs))
    return with_names(Picture([[bars, chart]], tables), "valley", names, theme)


def hill(runs: LessonRuns) -> Picture:
    """Show where each start ended, and the objective between the ends."""
    theme, way = runs.theme, runs.evidence.get("way", _EMPTY)
    ends = runs.evidence.get("ends", {**_EMPTY, "name": []})
    colour = next((style.colour for style in runs.styles.values()), theme.accent)
    places = zip(ends["place"], ends["objective"], ends["name"], strict=True)
    written = [(x, y, "usual start" if name == "SPG" else name.removeprefix("SPG, ")) for x, y, name in places]
    names = [CurveName(x, y, name, theme.text) for x, y, name in written]
    values = [CurveName(x, y, runs.language.number(f"{y:.3f}"), theme.text) for x, y, _ in written]
    marks = [
        LineMark("way", "place", "objective", theme.accent, width=2.4 * theme.scale),
        PointMark("ends", "place", "objective", theme.card, fill=colour, size=13.0 * theme.scale),
        point_names("hill", theme, up=-19.0),
        point_names("hill-values", theme, up=-36.0),
        LineMark("room", "place", "objective"),
    ]
    tables: dict[str, Table] = {
        "way": {name: way[name] for name in _EMPTY},
        "ends": {name: ends[name] for name in _EMPTY},
        **name_table("hill", names),
        **name_table("hill-values", values),
        "room": _room_below(way),
    }
    x = Axis(start=-0.5, end=max(len(names) - 1, 1) + 0.5, visible=False)  # with room for names on a phone, too
    title = "Objective along the lines between the end points"
    return Picture([[Chart("hill", title, x, Axis(numbers="exact"), marks)]], tables)


def _room_below(way: Any) -> Table:
    """Return a place below a way, to which the axis is to reach, for names."""
    heights = way["objective"]
    return {"place": [0.0], "objective": [min(heights) - ROOM * (max(heights) - min(heights))]} if heights else _EMPTY


def _room_around(costs: Sequence[float], active: Sequence[float]) -> Table:
    """Return places to which the axes are to reach, so that the numbers at the ends have room."""
    if not costs:
        return {"C": [], "active": []}
    top = max(active)
    return {"C": [min(costs) / BESIDE, max(costs) * BESIDE], "active": [top, 1.3 * top]}


def path(runs: LessonRuns) -> Picture:
    """Show the kernels in use and the largest weights along C."""
    theme, evidence = runs.theme, dict(runs.evidence.get("path", {"C": [], "active": []}))
    x = Axis("C", "log")
    costs, active = evidence.pop("C"), evidence.pop("active")
    known = next(iter(runs.traces.values())).kernel_names
    kernels = [known[k] for k in placed([known.index(name) for name in evidence], known)]
    weights = [
        LineMark(f"weight-{name}", "C", "weight", colour, width=2.0 * theme.scale)
        for name, colour in zip(kernels, theme.kernels, strict=False)
    ]
    tables: dict[str, Table] = {f"weight-{name}": {"C": costs, "weight": list(evidence[name])} for name in kernels}
    tables["path"] = {"C": costs, "active": active}
    ends = [0, len(costs) - 1] if costs else []
    tables["room"] = _room_around(costs, active)
    tables |= name_table("in-use", [CurveName(costs[t], active[t], f"{active[t]:,}", theme.text) for t in ends])
    used = [
        LineMark("path", "C", "active", theme.accent, width=2.4 * theme.scale),
        PointMark("path", "C", "active", theme.card, fill=theme.accent, size=9.0 * theme.scale),
        point_names("in-use", theme, up=16.0),
        LineMark("room", "C", "active"),
    ]
    in_use = Chart("in-use", "Kernels in use", x, Axis(start=0.0, whole=True), used)
    falls = Chart("weights", "The six largest kernel weights", x, Axis(start=0.0), weights)
    return Picture([[in_use, falls]], tables, kernels=kernels)
