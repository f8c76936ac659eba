"""Pictures of what dual variables prove: single ones beside averages, and last steps beside the average of all."""

from __future__ import annotations

from dataclasses import replace

from mklviz.numbers import share_text
from mklviz.record import Trace
from mklviz.views.chart.columns import drawable
from mklviz.views.chart.description import Axis, Chart, LineMark, Table, Tables
from mklviz.views.lessons.curve_names import Named, with_names
from mklviz.views.lessons.curves import PERCENT, SOLVES
from mklviz.views.lessons.picture import LessonRuns, NamedBar, Picture, bar_chart, bar_table, drawn_steps, run_line
from mklviz.views.look.palette import Theme

__all__ = ["certificate", "passes"]

PASSES = Axis("passes over the kernels", whole=True)
ROOM = 2.0  # times the largest gap, for names above it
THIN = 0.5  # times the width of the line that counts


def certificate(runs: LessonRuns) -> Picture:
    """Show what is proved after the first step, and the gaps of all steps: by each SVM alone and by averages."""
    theme, evidence = runs.theme, runs.evidence.get("proved", {"name": [], "gap": []})
    colours = theme.muted, theme.muted, theme.accent
    # nothing is proved yet while the race goes on
    proved = zip(evidence["name"], evidence["gap"], colours, strict=False)
    bars = [NamedBar(name, gap, share_text(gap), colour) for name, gap, colour in proved]
    tables: dict[str, Table] = {"proved": bar_table(bars)}
    tables |= {f"gap-{key}": _own_and_proved(trace) for key, trace in runs.traces.items()}
    lines = [run_line(f"gap-{key}", "solves", "gap", runs.styles[key], theme) for key in runs.traces]
    names: list[Named] = []
    for key, trace in runs.traces.items():
        table, colour = f"gap-{key}", runs.styles[key].colour
        if trace.options.get("first") == "corner":
            lines.insert(0, _thin(run_line(table, "solves", "own", runs.styles[key], theme), theme))
            names += [Named(table, "gap", "averages", colour), Named(table, "own", "each SVM alone", theme.muted)]
        else:
            names.append(Named(table, "gap", "equal start", colour))
    tables["room"] = _room("solves", "own", tables)
    answer = bar_chart("proved", "Gap proved after the first step", theme)
    chart = Chart("lesson-gap", "Duality gap", SOLVES, PERCENT, [*lines, LineMark("room", "solves", "own")])
    return with_names(Picture([[answer, chart]], tables, list(runs.styles.values())), chart.name, names, theme)


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
    names = [Named(f"gap-{key}", "gap", styles[key].label, styles[key].colour) for key in raced]
    lines = [run_line(f"gap-{key}", "passes", "gap", styles[key], theme) for key in raced]
    tables |= {"passes": bar_table(bars), "room": _room("passes", "gap", tables)}
    marks = [*lines, LineMark("room", "passes", "gap")]
    answer = bar_chart("passes", "Passes over the kernels", theme)
    chart = Chart("lesson-gap", "Duality gap", PASSES, PERCENT, marks)
    for key in played:
        tables |= _step_tables(key, runs)
    picture = Picture([[answer, chart], [_steps_chart(key, runs) for key in played]], tables)
    picture = with_names(picture, chart.name, names, theme)
    for key in played:
        table, colour = f"steps-{key}", styles[key].colour
        both = Named(table, "average", "average of all", colour), Named(table, "last", "last step", theme.muted)
        picture = with_names(picture, table, both, theme)
    return picture


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
    marks = [last, average, LineMark(f"room-{key}", "passes", "last")]
    return Chart(f"steps-{key}", title, PASSES, PERCENT, marks)


def _step_tables(key: str, runs: LessonRuns) -> Tables:
    trace = runs.traces[key]
    steps, passed = drawn_steps(trace)[1:], trace.kernel_passes
    average, last = (trace.fact(f"{which}_gap") for which in ("average", "last"))
    table = {
        "passes": [float(passed[t]) for t in steps],
        "average": drawable(average[t] for t in steps),
        "last": drawable(last[t] for t in steps),
    }
    tables: Tables = {f"steps-{key}": table}
    return {**tables, f"room-{key}": _room("passes", "last", tables)}
