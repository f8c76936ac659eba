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
from mklviz.views.look.palette import Theme

__all__ = ["certificate", "passes"]

PASSES = Axis("passes over the kernels", whole=True)
BELOW, BESIDE = -42.0, -8.0  # pixels over a curve
ROOM = 2.0  # times the largest gap, for names above it
THIN = 0.5  # times the width of the line that counts


def certificate(runs: LessonRuns) -> Picture:
    """Show what is proved after the first step, and the gaps of all steps: by each SVM alone and by averages."""
    theme, found = runs.theme, runs.evidence.get("proved", {"name": [], "gap": []})
    colours = theme.muted, theme.muted, theme.accent
    proved = zip(found["name"], found["gap"], colours, strict=False)  # nothing is proved yet while the race goes on
    bars = [NamedBar(name, gap, share_text(gap), colour) for name, gap, colour in proved]
    tables: dict[str, Table] = {"proved": bar_table(bars)}
    tables |= {f"gap-{key}": _own_and_proved(trace) for key, trace in runs.traces.items()}
    lines = [run_line(f"gap-{key}", "solves", "gap", runs.styles[key], theme) for key in runs.traces]
    above: list[CurveName] = []
    below: list[CurveName] = []
    for key, trace in runs.traces.items():
        table, colour = tables[f"gap-{key}"], runs.styles[key].colour
        if trace.options.get("first") == "corner":
            lines.insert(0, _thin(run_line(f"gap-{key}", "solves", "own", runs.styles[key], theme), theme))
            above.append(_least_proved(table, "each SVM alone", theme.muted))
            below.append(_named(table, "solves", "averages", colour, place=0.2))
        else:
            above.append(_named(table, "solves", "equal start", colour))
    tables |= {**name_table("above", above), **name_table("below", below), "room": _room("solves", "own", tables)}
    marks = [*lines, name_mark("above"), name_mark("below", up=BELOW), LineMark("room", "solves", "own")]
    answer = bar_chart("proved", "Gap proved after the first step", theme)
    chart = Chart("lesson-gap", "Duality gap", SOLVES, PERCENT, marks)
    return Picture([[answer, chart]], tables, list(runs.styles.values()))


def _thin(line: LineMark, theme: Theme) -> LineMark:
    """Return a line that stands back behind another of the same run."""
    return replace(line, colour=theme.muted, width=THIN * float(line.width), dash="solid", marker="")  # type: ignore[arg-type]


def _own_and_proved(trace: Trace) -> Table:
    """Return the gap that each step's own SVM proves, and the run's, by averages too."""
    steps = drawn_steps(trace)
    return {
        "solves": [float(trace[t].svm_solves) for t in steps],
        "own": drawable(trace[t].gap for t in steps),
        "gap": drawable(trace.gap_at(t) for t in steps),
    }


def _named(table: Table, x: str, name: str, colour: str, y: str = "gap", place: float = 0.5) -> CurveName:
    """Return the name of a curve, beside its middle or at another `place`."""
    at = int(place * (len(table[x]) - 1))
    return CurveName(table[x][at], table[y][at], name, colour)


def _least_proved(table: Table, name: str, colour: str) -> CurveName:
    """Return the name of the steps' own gaps, beside the one that stands out most among the later ones."""
    later = range(len(table["own"]) // 3, len(table["own"]) - len(table["own"]) // 4)
    at = max(later, key=lambda t: table["own"][t] / table["gap"][t], default=0)
    return CurveName(table["solves"][at], table["own"][at], name, colour)


def _room(x: str, y: str, tables: Tables) -> Table:
    """Return a place above all gaps of these tables, to which the axis is to reach."""
    gaps = [gap for table in tables.values() for gap in table.get(y, [])]
    return {x: [0.0] if gaps else [], y: [ROOM * max(gaps)] if gaps else []}


def passes(runs: LessonRuns) -> Picture:
    """Show passes over the kernels, the gap over them, and OGAProx's last steps beside the average of all."""
    theme, styles = runs.theme, runs.styles
    played = [key for key, trace in runs.traces.items() if trace.solver == "ogaprox"]
    raced = [key for key in runs.traces if key not in played[1:]]  # with its usual steps
    tables: dict[str, Table] = {f"gap-{key}": _over_passes(runs.traces[key]) for key in raced}
    counts = {key: float(runs.traces[key].kernel_passes[-1]) for key in raced}
    bars = [NamedBar(styles[key].label, count, f"{count:,.0f}", styles[key].colour) for key, count in counts.items()]
    names = [_named(tables[f"gap-{key}"], "passes", styles[key].label, styles[key].colour) for key in raced]
    lines = [run_line(f"gap-{key}", "passes", "gap", styles[key], theme) for key in raced]
    room = _room("passes", "gap", tables)
    tables |= {"passes": bar_table(bars), **name_table("passes-gap", names), "room": room}
    marks = [*lines, name_mark("passes-gap"), LineMark("room", "passes", "gap")]
    answer = bar_chart("passes", "Passes over the kernels", theme)
    chart = Chart("lesson-gap", "Duality gap", PASSES, PERCENT, marks)
    for key in played:
        tables |= _step_tables(key, runs)
    return Picture([[answer, chart], [_steps_chart(key, runs) for key in played]], tables)


def _over_passes(trace: Trace) -> Table:
    steps, passed = drawn_steps(trace), trace.kernel_passes
    return {"passes": [float(passed[t]) for t in steps], "gap": drawable(trace.gap_at(t) for t in steps)}


def _steps_chart(key: str, runs: LessonRuns) -> Chart:
    """Describe the gaps of a run's last steps and of their average."""
    style, theme = runs.styles[key], runs.theme
    average = run_line(f"steps-{key}", "passes", "average", style, theme)
    last = _thin(replace(average, y="last"), theme)
    times = runs.traces[key].options["balance"]
    title = "Usual steps" if times == 1.0 else f"Steps in the weights {times:g} times as long"
    names = [name_mark(f"steps-{key}"), name_mark(f"last-{key}", up=BESIDE)]
    marks = [last, average, *names, LineMark(f"room-{key}", "passes", "last")]
    return Chart(f"steps-{key}", title, PASSES, PERCENT, marks)


def _step_tables(key: str, runs: LessonRuns) -> Tables:
    trace, theme = runs.traces[key], runs.theme
    steps, passed = drawn_steps(trace)[1:], trace.kernel_passes
    average, last = (trace.fact(f"{which}_gap") for which in ("average", "last"))
    table = {
        "passes": [float(passed[t]) for t in steps],
        "average": drawable(average[t] for t in steps),
        "last": drawable(last[t] for t in steps),
    }
    mean, last_one = [], []
    if steps:
        mean = [_named(table, "passes", "average of all", runs.styles[key].colour, "average")]
        middle = range(len(steps) // 3, 2 * len(steps) // 3 + 1)
        at = max(middle, key=lambda t: table["last"][t])
        last_one = [CurveName(table["passes"][at], table["last"][at], "last step", theme.muted)]
    tables: Tables = {f"steps-{key}": table}
    names = {**name_table(f"steps-{key}", mean), **name_table(f"last-{key}", last_one)}
    return {**tables, **names, f"room-{key}": _room("passes", "last", tables)}
