"""Pictures of curves over steps and SVM solves: gaps, digits, step sizes, largest weights, test accuracy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mklviz.record import Trace
from mklviz.views.chart.columns import drawable
from mklviz.views.chart.description import Axis, Chart, Column, LineMark, PointMark, RuleMark, Table
from mklviz.views.lessons.bars import solves_bars
from mklviz.views.lessons.picture import (
    CurveName,
    LessonRuns,
    NamedBar,
    Picture,
    bar_chart,
    bar_table,
    drawn_steps,
    name_mark,
    name_table,
    run_line,
)
from mklviz.views.look.palette import RunStyle

__all__ = ["PERCENT", "SOLVES", "accuracy", "digits", "gap", "rough", "strips"]

MOST_BARS = 8
ABOVE = 0.4  # of the height of a curve, over its top, for a name
LATE = 0.65  # of a curve, where its name stands
STEP, SOLVES, COUNTED = Axis("step", whole=True), Axis("SVM solves", whole=True), Axis(whole=True)
PERCENT = Axis(scale="log", numbers="percent")


def gap(runs: LessonRuns) -> Picture:
    """Show the gap over SVM solves, and how many there were in the end."""
    chart = _gap_chart(runs, SOLVES)
    bars = bar_chart("solves", "SVM solves", runs.theme)
    tables = {**_gap_tables(runs), "solves": bar_table(solves_bars(runs))}
    return Picture([[chart, bars]], tables, list(runs.styles.values()))


def _gap_chart(runs: LessonRuns, x: Axis) -> Chart:
    lines = [run_line(f"gap-{key}", "solves", "gap", runs.styles[key], runs.theme) for key in runs.traces]
    return Chart("lesson-gap", "Duality gap", x, PERCENT, lines)


def _gap_tables(runs: LessonRuns) -> dict[str, Table]:
    return {f"gap-{key}": _gap_table(trace) for key, trace in runs.traces.items()}


def _gap_table(trace: Trace) -> Table:
    steps = drawn_steps(trace)
    return {
        "solves": [float(trace[t].svm_solves) for t in steps],
        "gap": drawable(trace.gap_at(t) for t in steps),
        "step": drawable(trace[t].step for t in steps),
    }


# -- rough SVMs


def rough(runs: LessonRuns) -> Picture:
    """Show PGD on rough SVMs beside PGD on exact ones: the gap, and the step size, which is zero where none helps."""
    named = _rough_and_exact(runs)
    tables: dict[str, Table] = {**_gap_tables(runs)}
    bottom = _bottom(table["step"] for table in tables.values())
    for key in runs.traces:
        table = tables[f"gap-{key}"]
        tables[f"vain-{key}"] = {"solves": _where_zero(table), "step": [bottom] * len(_where_zero(table))}
    lines = [run_line(f"gap-{key}", "solves", "gap", style, runs.theme) for key, style in named.items()]
    sizes = [replace(line, y="step") for line in lines]
    vain = [
        PointMark(f"vain-{key}", "solves", "step", style.colour, marker="x", size=8.0 * runs.theme.scale, width=2.0)
        for key, style in named.items()
    ]
    gaps = Chart("lesson-gap", "Duality gap", SOLVES, PERCENT, [*lines, name_mark("rough")])
    pgd = [key for key, style in named.items() if style is not runs.styles[key]]
    tables |= name_table("rough", [_gap_name(tables[f"gap-{key}"], named[key]) for key in pgd])
    note = "A cross at the bottom: no step at all was lower."
    return Picture(
        [[gaps], [Chart("step-size", "Step size", SOLVES, Axis(scale="log"), [*sizes, *vain], note=note)]],
        tables,
        list(named.values()),
    )


def _rough_and_exact(runs: LessonRuns) -> dict[str, RunStyle]:
    """Return the styles of the runs, those of PGD named after the SVMs that they solve."""
    pgd = {key: trace for key, trace in runs.traces.items() if trace.solver == "pgd"}
    descents = {key: trace.options.get("svm_tolerance", 0.0) for key, trace in pgd.items()}
    roughest = max(descents, key=lambda key: descents[key], default="")
    theme, styles = runs.theme, {key: runs.styles[key] for key in runs.traces}
    for key in descents:
        name, colour = ("rough SVMs", theme.kernels[1]) if key == roughest else ("exact SVMs", theme.kernels[0])
        styles[key] = RunStyle(name, colour, "solid", "")
    return styles


def _gap_name(table: Table, style: RunStyle) -> CurveName:
    """Return the name of a curve of the gap, behind its middle, so that names of two stand apart on a phone."""
    behind = LATE * max(table["solves"])
    at = min(range(len(table["solves"])), key=lambda t: abs(table["solves"][t] - behind))
    return CurveName(table["solves"][at], table["gap"][at], style.label, style.colour)


def _last_name(table: Table, style: RunStyle) -> CurveName:
    """Return the name of a curve of the gap, beside its last point but one."""
    at = max(len(table["solves"]) - 2, 0)
    return CurveName(table["solves"][at], table["gap"][at], style.label, style.colour)


def _bottom(columns: Iterable[Sequence[float]]) -> float:
    """Return a step size below all others."""
    return min((size for column in columns for size in column if size > 0.0), default=1.0) / 3.0


def _where_zero(table: Table) -> list[float]:
    """Return after how many SVM solves a line search ended in vain."""
    pairs = list(zip(table["solves"], table["step"], strict=True))[1:]
    return [solves for solves, step in pairs if step == 0.0]


# -- digits


def digits(runs: LessonRuns) -> Picture:
    """Show the gap with both axes logarithmic, and how many digits are right after each step of Newton's."""
    chart = _gap_chart(runs, replace(SOLVES, scale="log"))
    trace, style = runs.traces.get("newton"), runs.styles.get("newton")
    right = [] if trace is None else [max(-math.log10(gap), 0.0) for gap in trace.gap.tolist() if gap > 0.0]
    colour = runs.theme.accent if style is None else style.colour
    bars = [NamedBar(f"step {t}", value, f"{value:.1f}", colour) for t, value in enumerate(right)]
    table = {**_gap_tables(runs), "digits": bar_table(bars[-MOST_BARS:])}
    counts = bar_chart("digits", "Newton: digits that are right", runs.theme)
    if trace is not None and style is not None:
        table |= name_table("digits-gap", [_last_name(_gap_table(trace), style)])
        chart = replace(chart, marks=[*chart.marks, name_mark("digits-gap")])
    return Picture([[chart, counts]], table, list(runs.styles.values()))


# -- largest weights


def strips(runs: LessonRuns) -> Picture:
    """Show how often all the weight was moved, and the largest weights of SILP and Level, or of the first two runs."""
    shown = [key for key in ("silp", "level") if key in runs.traces] or list(runs.traces)[:2]
    colours = _leading({key: runs.traces[key] for key in shown}, runs.theme.kernels)
    tables: dict[str, Table] = {f"strip-{key}": _strip(runs.traces[key], colours, runs.theme.muted) for key in shown}
    tables |= {f"moved-{key}": _moved(trace) for key, trace in runs.traces.items()}
    lines = [run_line(f"moved-{key}", "step", "moved", runs.styles[key], runs.theme) for key in runs.traces]
    y = Axis(start=0.0)
    names = [_moved_name(key, runs, tables[f"moved-{key}"]) for key in shown]
    title = "How often all the weight was moved, up to each step"
    moved = Chart("moved", title, COUNTED, y, [*lines, name_mark("moved", up=0.0)])
    tables |= name_table("moved", names)
    strips = [_strip_chart(key, runs) for key in shown]
    return Picture([[moved], strips], tables, list(runs.styles.values()))


def _moved_name(key: str, runs: LessonRuns, table: Table) -> CurveName:
    """Return the name of a curve: over the middle of the longest, behind the end of a shorter one."""
    step, moved, style = table["step"], table["moved"], runs.styles[key]
    longest = max(trace.last_step for trace in runs.traces.values())
    if step[-1] < longest:
        return CurveName(step[-1], moved[-1], style.label, style.colour)
    return CurveName(step[len(step) // 2], moved[3 * len(step) // 4], style.label, style.colour)


def _strip_chart(key: str, runs: LessonRuns) -> Chart:
    size, tips = 7.0 * runs.theme.scale, (("", "@kernel"), ("largest weight", "@weight{0 %}"))
    marks = [
        LineMark(f"strip-{key}", "step", "weight", runs.theme.axis, width=1.0),
        PointMark(f"strip-{key}", "step", "weight", Column("colour"), fill=Column("colour"), size=size, tips=tips),
    ]
    name = runs.styles[key].label
    y = Axis(start=0.0, numbers="percent")
    note = "colour: which kernel"
    return Chart(f"strip-{key}", f"{name}: largest weight", COUNTED, y, marks, note=note)


def _leading(traces: Mapping[str, Trace], colours: Sequence[str]) -> dict[int, str]:
    """Return colours for the kernels that most often have the largest weight."""
    often = Counter(int(trace[t].weights.argmax()) for trace in traces.values() for t in drawn_steps(trace)[1:])
    return dict(zip((k for k, _ in often.most_common()), colours, strict=False))


def _strip(trace: Trace, colours: Mapping[int, str], other: str) -> Table:
    steps = drawn_steps(trace)[1:]
    heaviest = [int(trace[t].weights.argmax()) for t in steps]
    sums = [float(trace[t].weights.sum()) or 1.0 for t in steps]
    return {
        "step": [float(t) for t in steps],
        "weight": [float(trace[t].weights[k]) / whole for t, k, whole in zip(steps, heaviest, sums, strict=True)],
        "colour": [colours.get(k, other) for k in heaviest],
        "kernel": [trace.kernel_names[k] for k in heaviest],
    }


def _moved(trace: Trace) -> Table:
    steps = drawn_steps(trace)
    return {"step": [float(t) for t in steps], "moved": [trace.motion_at(t).moved for t in steps]}


# -- accuracy


def accuracy(runs: LessonRuns) -> Picture:
    """Show the share of test samples that Level has right, a star where it is best, and the objective below."""
    theme, trace = runs.theme, runs.traces.get("level")
    found = runs.evidence.get("accuracy", {})
    steps, shares = list(found.get("step", [])), list(found.get("share", []))
    best = [shares.index(max(shares))] if shares else []
    tables: dict[str, Table] = {
        "fall": {"step": [], "objective": []} if trace is None else _fall(trace),
        "accuracy": {"step": steps, "share": shares},
        "best": {"step": [steps[t] for t in best], "share": [shares[t] for t in best]},
        "room": {"step": steps[:1], "share": [max(shares) + ABOVE * (max(shares) - min(shares)) for _ in steps[:1]]},
        **name_table("accuracy", [CurveName(steps[t], shares[t], f"best: step {steps[t]}", theme.text) for t in best]),
    }
    line = LineMark("fall", "step", "objective", theme.kernels[0], width=2.4 * theme.scale)
    right = [
        LineMark("accuracy", "step", "share", theme.kernels[2], width=2.4 * theme.scale),
        PointMark("best", "step", "share", theme.card, theme.text, "star", 20.0 * theme.scale),
        RuleMark("best", y="share", colour=theme.muted, dash="dashed", width=1.0),
        name_mark("accuracy", up=8.0),
        LineMark("room", "step", "share"),
    ]
    y = Axis(numbers="percent")
    tested = Chart("accuracy", "Test samples that are classified correctly", STEP, y, right)
    return Picture([[tested], [Chart("fall", "Objective", STEP, Axis(scale="log", numbers="exact"), [line])]], tables)


def _fall(trace: Trace) -> Table:
    steps = drawn_steps(trace)
    return {"step": [float(t) for t in steps], "objective": drawable(trace[t].objective for t in steps)}
