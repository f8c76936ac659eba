"""Pictures of what dual variables prove: single ones beside averages, and last steps beside the average of all."""

from __future__ import annotations

from dataclasses import replace

from mklviz.numbers import share_text
from mklviz.record import Trace
from mklviz.views.chart.columns import drawable
from mklviz.views.chart.description import Axis, Chart, LineMark, Table, Tables
from mklviz.views.lessons.curves import PERCENT, SOLVES
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

__all__ = ["certificate", "passes"]

PASSES = Axis("passes over the kernels", whole=True)
THIN = 0.5  # times the width of the line that counts


def certificate(runs: LessonRuns) -> Picture:
    """Show what is proved after the first step, and the gaps of all steps: by each SVM alone and by averages."""
    theme, found = runs.theme, runs.evidence.get("proved", {"name": [], "gap": []})
    colours = theme.muted, theme.muted, theme.accent
    proved = zip(found["name"], found["gap"], colours, strict=False)  # nothing is proved yet while the race goes on
    bars = [NamedBar(name, gap, share_text(gap), colour) for name, gap, colour in proved]
    tables: dict[str, Table] = {"proved": bar_table(bars)}
    lines: list[LineMark] = []
    names: list[CurveName] = []
    for key, trace in runs.traces.items():
        style, table = runs.styles[key], _own_and_proved(trace)
        tables[f"gap-{key}"] = table
        corner = trace.options.get("first") == "corner"
        if corner:
            alone = run_line(f"gap-{key}", "solves", "own", style, theme)
            lines.append(replace(alone, colour=theme.muted, width=THIN * float(alone.width), dash="solid", marker=""))
            names.append(_highest(table, "each SVM alone", theme.muted))
        lines.append(run_line(f"gap-{key}", "solves", "gap", style, theme))
        names.append(_named(table, "solves", "gap", "their averages" if corner else "from equal weights", style.colour))
    answer = bar_chart("proved", "Gap proved after the first step", theme)
    chart = Chart("lesson-gap", "Duality gap", SOLVES, PERCENT, [*lines, name_mark("certificate")])
    return Picture([[answer, chart]], {**tables, **name_table("certificate", names)}, list(runs.styles.values()))


def _own_and_proved(trace: Trace) -> Table:
    """Return the gap that each step's own SVM proves, and the run's, by averages too."""
    steps = drawn_steps(trace)
    return {
        "solves": [float(trace[t].svm_solves) for t in steps],
        "own": drawable(trace[t].gap for t in steps),
        "gap": drawable(trace.gap_at(t) for t in steps),
    }


def _named(table: Table, x: str, y: str, name: str, colour: str) -> CurveName:
    """Return the name of a curve, beside its middle."""
    at = len(table[x]) // 2
    return CurveName(table[x][at], table[y][at], name, colour)


def _highest(table: Table, name: str, colour: str) -> CurveName:
    """Return the name of the steps' own gaps, beside the highest."""
    at = max(range(len(table["own"])), key=lambda t: table["own"][t])
    return CurveName(table["solves"][at], table["own"][at], name, colour)


def passes(runs: LessonRuns) -> Picture:
    """Show passes over the kernels, the gap over them, and OGAProx's last steps beside the average of all."""
    theme, styles = runs.theme, runs.styles
    played = [key for key, trace in runs.traces.items() if trace.solver == "ogaprox"]
    raced = [key for key in runs.traces if key not in played[1:]]  # with its usual steps
    tables: dict[str, Table] = {f"gap-{key}": _over_passes(runs.traces[key]) for key in raced}
    counts = {key: float(runs.traces[key].kernel_passes[-1]) for key in raced}
    bars = [NamedBar(styles[key].label, count, f"{count:,.0f}", styles[key].colour) for key, count in counts.items()]
    names = [_named(tables[f"gap-{key}"], "passes", "gap", styles[key].label, styles[key].colour) for key in raced]
    lines = [run_line(f"gap-{key}", "passes", "gap", styles[key], theme) for key in raced]
    tables |= {"passes": bar_table(bars), **name_table("passes-gap", names)}
    first = [
        bar_chart("passes", "Passes over the kernels", theme),
        Chart("lesson-gap", "Duality gap", PASSES, PERCENT, [*lines, name_mark("passes-gap")]),
    ]
    for key in played:
        tables |= _step_tables(key, runs)
    return Picture([first, [_steps_chart(key, runs) for key in played]], tables)


def _over_passes(trace: Trace) -> Table:
    steps, passed = drawn_steps(trace), trace.kernel_passes
    return {"passes": [float(passed[t]) for t in steps], "gap": drawable(trace.gap_at(t) for t in steps)}


def _steps_chart(key: str, runs: LessonRuns) -> Chart:
    """Describe the gaps of a run's last steps and of their average."""
    style, theme = runs.styles[key], runs.theme
    average = run_line(f"steps-{key}", "passes", "average", style, theme)
    last = replace(average, y="last", colour=theme.muted, width=THIN * float(average.width), dash="solid", marker="")
    times = runs.traces[key].options["balance"]
    title = "Usual steps" if times == 1.0 else f"Steps in the weights {times:g} times as long"
    return Chart(f"steps-{key}", title, PASSES, PERCENT, [last, average, name_mark(f"steps-{key}")])


def _step_tables(key: str, runs: LessonRuns) -> Tables:
    trace, theme = runs.traces[key], runs.theme
    steps, passed = drawn_steps(trace)[1:], trace.kernel_passes
    average, last = (trace.fact(f"{which}_gap") for which in ("average", "last"))
    table = {
        "passes": [float(passed[t]) for t in steps],
        "average": drawable(average[t] for t in steps),
        "last": drawable(last[t] for t in steps),
    }
    names = []
    if steps:
        names = [
            _named(table, "passes", "average", "average of all", runs.styles[key].colour),
            CurveName(table["passes"][-1], table["last"][-1], "last step", theme.muted),
        ]
    return {f"steps-{key}": table, **name_table(f"steps-{key}", names)}
