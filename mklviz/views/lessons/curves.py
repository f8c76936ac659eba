"""Pictures of curves over steps, SVM solves and passes: gaps, digits, step sizes, largest weights, what is proved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from mklviz.numbers import share_text
from mklviz.record import Trace
from mklviz.views.chart.columns import race_slots
from mklviz.views.chart.description import Axis, Chart, Column, LineMark, PointMark, RuleMark, Table, Tables
from mklviz.views.lessons.outcomes import solves_bars
from mklviz.views.lessons.picture import (
    LessonRuns,
    Named,
    NamedBar,
    Picture,
    bar_chart,
    bar_table,
    drawn_steps,
    run_bars,
    run_line,
    step_table,
    with_names,
)
from mklviz.views.look.palette import RunStyle, Theme

MOST_BARS = 8
ABOVE = 0.4  # of the height of a curve, over its top, for a name
BELOW = 0.12  # of it, below the axis, for one of a curve near it: as far as no tick is written
STEP, SOLVES = Axis("step", whole=True), Axis("SVM solves", whole=True)
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
    traces = runs.traces.items()
    return {f"gap-{key}": step_table(t, solves="svm_solves", gap=t.gap_at, step="step") for key, t in traces}


def rough(runs: LessonRuns) -> Picture:
    """Show PGD on rough SVMs beside PGD on exact ones: the gap, and the step size, which is zero where none helps."""
    named = _rough_and_exact(runs)
    tables: dict[str, Table] = {**_gap_tables(runs)}
    sizes = [size for table in tables.values() for size in table["step"] if size > 0.0]
    bottom = min(sizes, default=1.0) / 3.0  # below all others
    for key in runs.traces:
        table = tables[f"gap-{key}"]
        tables[f"vain-{key}"] = {"solves": _where_zero(table), "step": [bottom] * len(_where_zero(table))}
    lines = [run_line(f"gap-{key}", "solves", "gap", style, runs.theme) for key, style in named.items()]
    vain = [
        PointMark(f"vain-{key}", "solves", "step", style.colour, marker="x", size=8.0 * runs.theme.scale, width=2.0)
        for key, style in named.items()
    ]
    gaps = Chart("lesson-gap", "Duality gap", SOLVES, PERCENT, lines)
    pgd = {key: style for key, style in named.items() if style.label != runs.styles[key].label}
    names = [Named(f"gap-{key}", "gap", style.label, style.colour) for key, style in pgd.items()]
    note = "A cross at the bottom: no step at all was lower."
    marks = [*(replace(line, y="step") for line in lines), *vain]
    step_size = Chart("step-size", "Step size", SOLVES, Axis(scale="log"), marks, note=note)
    picture = Picture([[gaps], [step_size]], tables, list(named.values()))
    return with_names(picture, gaps.name, names, runs.theme)


def _rough_and_exact(runs: LessonRuns) -> dict[str, RunStyle]:
    """Return the styles of the runs, with the SVMs that those of PGD solve behind their names."""
    pgd = {key: trace for key, trace in runs.traces.items() if trace.solver == "pgd"}
    descents = {key: trace.options.get("svm_tolerance", 0.0) for key, trace in pgd.items()}
    roughest = max(descents, key=lambda key: descents[key], default="")
    styles = {key: runs.styles[key] for key in runs.traces}
    for key in descents:
        svms = runs.language("rough SVMs") if key == roughest else runs.language("exact SVMs")
        styles[key] = replace(styles[key], label=f"{styles[key].label}, {svms}", marker="")
    return styles


def _where_zero(table: Table) -> list[float]:
    """Return after how many SVM solves a line search ended in vain."""
    pairs = list(zip(table["solves"], table["step"], strict=True))[1:]
    return [solves for solves, step in pairs if step == 0.0]


def digits(runs: LessonRuns) -> Picture:
    """Show the gap with both axes logarithmic, and how many digits are right after each step of Newton's."""
    chart = _gap_chart(runs, replace(SOLVES, scale="log"))
    trace, style = runs.traces.get("newton"), runs.styles.get("newton")
    right = [] if trace is None else [max(-math.log10(gap), 0.0) for gap in trace.gap.tolist() if gap > 0.0]
    colour = runs.theme.accent if style is None else style.colour
    told = [runs.language("step {k}", k=t) for t in range(len(right))]
    bars = [NamedBar(*bar, runs.language.number(f"{bar[1]:.1f}"), colour) for bar in zip(told, right, strict=True)]
    table = {**_gap_tables(runs), "digits": bar_table(bars[-MOST_BARS:])}
    counts = bar_chart("digits", "Newton: digits that are right", runs.theme)
    names = [] if style is None else [Named("gap-newton", "gap", style.label, style.colour)]
    picture = Picture([[chart, counts]], table, list(runs.styles.values()))
    return with_names(picture, chart.name, names, runs.theme)


def strips(runs: LessonRuns) -> Picture:
    """Show how often all the weight was moved, and the largest weights of SILP and Level, or of the first two runs."""
    shown = [key for key in ("silp", "level") if key in runs.traces] or list(runs.traces)[:2]
    slots = race_slots(runs.traces.values(), runs.before)
    colours = dict(zip(slots.slots, runs.theme.kernels, strict=False)) if slots.coloured else {}
    tables: dict[str, Table] = {f"strip-{key}": _strip(runs.traces[key], colours, runs.theme.muted) for key in shown}
    tables |= {f"moved-{key}": _moved(trace) for key, trace in runs.traces.items()}
    steps, most = (max(max(table.get(of, ()), default=0.0) for table in tables.values()) for of in ("step", "moved"))
    tables["all-steps"] = {"step": [0.0, steps], "weight": [0.0, 1.0], "moved": [-BELOW * most, 0.0 if most else 1.0]}
    lines = [run_line(f"moved-{key}", "step", "moved", runs.styles[key], runs.theme) for key in runs.traces]
    lines.append(LineMark("all-steps", "step", "moved"))
    names = [Named(f"moved-{key}", "moved", runs.styles[key].label, runs.styles[key].colour) for key in shown]
    title = "How often all the weight was moved, up to each step"
    moved = Chart("moved", title, STEP, Axis(), lines)
    strips = [_strip_chart(key, runs, len(colours)) for key in shown]
    picture = Picture([[moved], strips], tables, list(runs.styles.values()), slots.shown if slots.coloured else ())
    return with_names(picture, moved.name, names, runs.theme)


def _strip_chart(key: str, runs: LessonRuns, coloured: int) -> Chart:
    others = len(runs.traces[key].kernel_names) > coloured > 0
    size, tips = 7.0 * runs.theme.scale, (("", "@kernel"), (runs.language("largest weight"), "@weight{0 %}"))
    marks = [
        LineMark("all-steps", "step", "weight"),  # one scale beside each other
        LineMark(f"strip-{key}", "step", "weight", runs.theme.axis, width=1.0),
        PointMark(f"strip-{key}", "step", "weight", Column("colour"), fill=Column("colour"), size=size, tips=tips),
    ]
    name = runs.styles[key].label
    y = Axis(start=0.0, numbers="percent")
    note = runs.language("grey: another kernel") if others else ""
    return Chart(f"strip-{key}", runs.language("{name}: largest weight", name=name), STEP, y, marks, note=note)


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
    return step_table(trace, step=float, moved=lambda t: trace.motion_at(t).moved)


def accuracy(runs: LessonRuns) -> Picture:
    """Show the share of test samples that Level has right, a star where it is best, and the objective below."""
    theme, trace = runs.theme, runs.traces.get("level")
    evidence = runs.evidence.get("accuracy", {})
    steps, shares = list(evidence.get("step", [])), list(evidence.get("share", []))
    best = [shares.index(max(shares))] if shares else []
    fall: Table = {"step": [], "objective": []}
    tables: dict[str, Table] = {
        "fall": fall if trace is None else step_table(trace, step=float, objective="objective"),
        "accuracy": {"step": steps, "share": shares},
        "best": {"step": [steps[t] for t in best], "share": [shares[t] for t in best]},
        "room": {"step": steps[:1], "share": [max(shares) + ABOVE * (max(shares) - min(shares)) for _ in steps[:1]]},
    }
    names = [Named("best", "share", runs.language("best: step {k}", k=steps[t]), theme.text) for t in best]
    colour = theme.accent if trace is None else runs.styles["level"].colour
    line = LineMark("fall", "step", "objective", colour, width=2.4 * theme.scale)
    right = [
        LineMark("accuracy", "step", "share", colour, width=2.4 * theme.scale),
        PointMark("best", "step", "share", theme.card, theme.text, "star", 20.0 * theme.scale),
        RuleMark("best", y="share", colour=theme.muted, dash="dashed", width=1.0),
        LineMark("room", "step", "share"),
    ]
    y = Axis(numbers="percent")
    tested = Chart("accuracy", "Test samples that are classified correctly", STEP, y, right)
    falls = Chart("fall", "Objective", STEP, Axis(scale="log", numbers="exact"), [line])
    return with_names(Picture([[tested], [falls]], tables), tested.name, names, theme)


PASSES = Axis("passes over the kernels", whole=True)
ROOM = 2.0  # times the largest gap, for names above it
THIN = 0.5  # times the width of the line that counts


def certificate(runs: LessonRuns) -> Picture:
    """Show what is proved after the first step, and the gaps of all steps: by each SVM alone and by averages."""
    theme, evidence = runs.theme, runs.evidence.get("proved", {"name": [], "gap": []})
    colours = theme.muted, theme.muted, theme.accent
    # nothing is proved yet while the race goes on
    proved = zip(evidence["name"], evidence["gap"], colours, strict=False)
    bars = [NamedBar(name, gap, runs.language.number(share_text(gap)), colour) for name, gap, colour in proved]
    tables: dict[str, Table] = {"proved": bar_table(bars)}
    for key, trace in runs.traces.items():  # the gap that each step's own SVM proves, and the run's, by averages too
        tables[f"gap-{key}"] = step_table(trace, solves="svm_solves", own="gap", gap=trace.gap_at)
    lines = [run_line(f"gap-{key}", "solves", "gap", runs.styles[key], theme) for key in runs.traces]
    names: list[Named] = []
    for key, trace in runs.traces.items():
        table, colour = f"gap-{key}", runs.styles[key].colour
        if trace.options.get("first") == "corner":
            lines.insert(0, _thin(run_line(table, "solves", "own", runs.styles[key], theme), theme))
            both, alone = runs.language("averages"), runs.language("each SVM alone")
            names += [Named(table, "gap", both, colour), Named(table, "own", alone, theme.muted)]
        else:
            names.append(Named(table, "gap", runs.language("equal start"), colour))
    tables["room"] = _room("solves", "own", tables)
    answer = bar_chart("proved", "Gap proved after the first step", theme)
    chart = Chart("lesson-gap", "Duality gap", SOLVES, PERCENT, [*lines, LineMark("room", "solves", "own")])
    return with_names(Picture([[answer, chart]], tables, list(runs.styles.values())), chart.name, names, theme)


def _thin(line: LineMark, theme: Theme) -> LineMark:
    """Return a line that stands back behind another of the same run."""
    return replace(line, colour=theme.muted, width=THIN * float(line.width), dash="solid", marker="")  # type: ignore[arg-type]


def _room(x: str, y: str, tables: Tables) -> Table:
    """Return a place above all gaps of these tables, to which the axis is to reach."""
    gaps = [gap for table in tables.values() for gap in table.get(y, [])]
    return {x: [0.0] if gaps else [], y: [ROOM * max(gaps)] if gaps else []}


def passes(runs: LessonRuns) -> Picture:
    """Show passes over the kernels, the gap over them, and OGAProx's last steps beside the average of all."""
    theme, styles = runs.theme, runs.styles
    played = [key for key, trace in runs.traces.items() if trace.solver == "ogaprox"]
    raced = [key for key in runs.traces if key not in played[1:]]  # with its usual steps
    tables: dict[str, Table] = {
        f"gap-{key}": step_table(trace, passes=trace.kernel_passes, gap=trace.gap_at)
        for key, trace in runs.traces.items()
        if key in raced
    }
    counts = {key: float(runs.traces[key].kernel_passes[-1]) for key in raced}
    names = [Named(f"gap-{key}", "gap", styles[key].label, styles[key].colour) for key in raced]
    lines = [run_line(f"gap-{key}", "passes", "gap", styles[key], theme) for key in raced]
    tables |= {"passes": bar_table(run_bars(runs, counts)), "room": _room("passes", "gap", tables)}
    marks = [*lines, LineMark("room", "passes", "gap")]
    answer = bar_chart("passes", "Passes over the kernels", theme)
    chart = Chart("lesson-gap", "Duality gap", PASSES, PERCENT, marks)
    for key in played:
        tables |= _step_tables(key, runs)
    picture = Picture([[answer, chart], [_steps_chart(key, runs) for key in played]], tables)
    picture = with_names(picture, chart.name, names, theme)
    for key in played:
        table, colour = f"steps-{key}", styles[key].colour
        average = Named(table, "average", runs.language("average of all"), colour)
        last = Named(table, "last", runs.language("last step"), theme.muted)
        picture = with_names(picture, table, (average, last), theme)
    return picture


def _steps_chart(key: str, runs: LessonRuns) -> Chart:
    """Describe the gaps of a run's last steps and of their average."""
    style, theme = runs.styles[key], runs.theme
    average = run_line(f"steps-{key}", "passes", "average", style, theme)
    last = _thin(replace(average, y="last"), theme)
    times = runs.traces[key].options["balance"]
    longer = runs.language("Steps in the weights {times:g} times as long", times=times)
    title = "Usual steps" if times == 1.0 else longer
    marks = [last, average, LineMark(f"room-{key}", "passes", "last")]
    return Chart(f"steps-{key}", title, PASSES, PERCENT, marks)


def _step_tables(key: str, runs: LessonRuns) -> Tables:
    trace = runs.traces[key]
    gaps = {which: trace.fact(f"{which}_gap") for which in ("average", "last")}
    tables: Tables = {f"steps-{key}": step_table(trace, 1, passes=trace.kernel_passes, **gaps)}
    return {**tables, f"room-{key}": _room("passes", "last", tables)}
