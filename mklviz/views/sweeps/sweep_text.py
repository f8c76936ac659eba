"""A sweep in words and tables: how far it is, means and spreads, and solvers two by two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from mklviz.numbers import counted
from mklviz.record.run_facts import number
from mklviz.sweeps import SweepProgress, SweepTable
from mklviz.sweeps.following import duration_text
from mklviz.sweeps.statistics import Difference, Measure, Outcomes, Spread
from mklviz.views.look.palette import RunStyle, run_name
from mklviz.views.look.styles import MILESTONES, row_html, table_html

_RATIO = "How many times the first costs what the second does: the geometric mean over cases that both solved"
_CHANGE = "By how much the first has more than the second: the mean over cases that both solved"
_INTERVAL = "Drawn again 2,000 times from the splits of each data set; of fewer than five there is none"
_LESS = "Cases in which the first has less, of those that both solved"
_ONLY = "Cases that one of the two solved and the other did not, or neither: they are in no mean"


def progress_line(progress: SweepProgress, status: str) -> str:
    """Say how far a sweep is, or how it ended, in one sentence."""
    total, ended = progress.total, progress.done + progress.failed
    parts = [f"{ended:,} of {counted(total, 'run')} {'has' if total == 1 else 'have'} ended"]
    if progress.skipped:
        parts.append(f"{progress.skipped:,} of them before, and skipped")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if status in ("finished", "failed", "stopped"):
        if status == "finished" and progress.skipped == total:
            return f"All {counted(total, 'run')} had finished before: nothing was left to solve."
        first = {"finished": "Finished", "failed": "Broken off", "stopped": "Stopped"}[status]
        rest = " Start goes on with the rest." if ended < total else ""
        return f"{first}: {', '.join(parts)}.{rest}"
    if progress.running:
        parts.append(f"{progress.running:,} {'held' if status == 'paused' else 'running'}")
    if progress.elsewhere:
        parts.append(f"{progress.elsewhere:,} solved by another process")
    left = progress.seconds_left
    if status != "paused" and math.isfinite(left) and ended < total:
        parts.append(f"about {duration_text(left)} left")
    return f"{'Paused: ' if status == 'paused' else ''}{', '.join(parts)}."


def failures(table: SweepTable) -> list[str]:
    """Return a sentence for each member that failed."""
    members = (member for member in table.sweep.members if member.key in table.outcomes)
    failed = [(member, table.outcomes[member.key]) for member in members if table.outcomes[member.key].failed]
    return [f"{member.solver} on {member.data}, split {member.split}: {outcome.reason}" for member, outcome in failed]


def runs_sentence(outcomes: Outcomes) -> str:
    """Say how many runs are compared, which of them did not converge, and what was left out."""
    runs, solved = int(outcomes.known.sum()), int((outcomes.known & outcomes.solved).sum())
    parts = [f"{counted(runs, 'run')} of {counted(len(outcomes.cases), 'case')}, {solved:,} converged."]
    if runs > solved:
        parts.append("What did not converge is counted, drawn hollow, and in no mean.")
    if outcomes.failed:
        parts.append(f"{outcomes.failed:,} of these failed and have no result.")
    if outcomes.machines > 1:
        parts.append(
            f"The runs come from {outcomes.machines} machines. Compare SVM solves or mean-kernel fits"
            " (seconds in units of one SVM fit on the same machine); seconds differ by machine."
        )
    if outcomes.uncounted:
        parts.append(f"Without {outcomes.measure.label}, and so left out: {', '.join(outcomes.uncounted)}.")
    return " ".join(parts)


def spread_table(drawn: Sequence[Spread], styles: Mapping[str, RunStyle], measure: Measure) -> str:
    """Return as HTML the means, with standard deviations, of each solver for each data set and setting."""
    cells = {(each.title, each.solver): each for each in drawn}
    heads = [("Data", ""), *((run_name(style), "") for style in styles.values())]
    rows = (
        row_html(escape(title), (_mean(cells.get((title, solver)), measure) for solver in styles))
        for title in dict.fromkeys(each.title for each in drawn)
    )
    return table_html(f"Means of {measure.label}", heads, rows, MILESTONES)


def _mean(spread: Spread | None, measure: Measure) -> str:
    if spread is None:
        return "–"
    mean, deviation = (_written(value, measure) for value in (spread.mean, spread.deviation))
    text = f"{mean} ± {deviation}" if len(spread.values) > 1 else mean
    if spread.missed:
        text += f'<span class="reason">{spread.missed:,} of {spread.runs:,} not converged</span>'
    return text


def _written(value: float, measure: Measure) -> str:
    """Return a value to three digits, a score in per cent."""
    if measure.column == "score":
        return number(100.0 * value, ".1f") + (" %" if math.isfinite(value) else "")
    return number(value, ".3g" if abs(value) < 1000.0 else ",.0f")


def difference_table(differences: Sequence[Difference], styles: Mapping[str, RunStyle], measure: Measure) -> str:
    """Return as HTML how solvers differ two by two, with intervals."""
    ratio = ("Times the cost", _RATIO) if measure.cost else ("Difference", _CHANGE)
    columns = (
        ("First", "The solver whose cost is above the line of the ratio"),
        ("Second", "The solver that it is compared with"),
        ratio,
        ("95 % interval", _INTERVAL),
        ("First less", _LESS),
        ("Only first, only second, neither", _ONLY),
    )
    rows = (_difference(each, styles, measure) for each in differences)
    return table_html(f"{measure.label}, two by two", columns, rows, MILESTONES)


def _difference(pair: Difference, styles: Mapping[str, RunStyle], measure: Measure) -> str:
    first, second = (run_name(styles[name]) for name in (pair.first, pair.second))
    value, low, high = (_written(end, measure) for end in (pair.value, pair.low, pair.high))
    sign = "× " if measure.cost and math.isfinite(pair.value) else ""
    interval = f"{low} to {high}" if math.isfinite(pair.low) else "–"
    even = 1.0 if measure.cost else 0.0
    decided = math.isfinite(pair.low) and not pair.low <= even <= pair.high
    shown = f"<b>{sign}{value}</b>" if decided else f"{sign}{value}"
    unsolved = f"{pair.first_only:,}, {pair.second_only:,}, {pair.neither:,}"
    return row_html(first, (second, shown, interval, f"{pair.less:,} of {pair.pairs:,}", unsolved))
