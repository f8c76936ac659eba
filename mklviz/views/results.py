"""The table of results: one row per run, filled while it runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape

from mklviz.engine import FINAL, Race
from mklviz.engine.trace import ACTIVE_WEIGHT
from mklviz.views.palette import RunStyle, Theme, swatch
from mklviz.views.stream import PathMeter

__all__ = ["ResultRow", "pill", "race_sentence", "result_rows", "result_table", "times"]

STATUS_WORDS = {
    "ready": "waiting",
    "running": "running",
    "paused": "paused",
    "converged": "converged",
    "limit": "not converged",
    "stopped": "stopped",
    "failed": "failed",
}
_COLUMNS = (
    ("Solver", "The method"),
    ("Status", "How the run stands, and why it ended"),
    ("Iterations", "Outer steps"),
    ("SVM solves", "Support vector machines trained so far"),
    ("Time", "CPU seconds inside the solver; pauses and drawing do not count"),
    ("Objective", "Certified upper bound on the optimum"),
    ("Gap", "Certified relative distance to the optimum"),
    ("Kernels kept", "Kernels with weight"),
    ("Path / net move", "How much farther the weights travelled than they got: 1 is a straight line"),
)
_SCORES = {  # by whether the targets are numbers
    False: ("Test accuracy", "Share of test samples classified correctly"),
    True: ("Test R²", "Share of the targets' variance on the test samples that is explained: 1 is perfect"),
}
_DASH = "–"


@dataclass(frozen=True)
class ResultRow:
    """One run as it stands; nan where there is nothing to show yet."""

    key: str
    style: RunStyle
    status: str
    reason: str = ""
    iterations: int | None = None
    svm_solves: int | None = None
    seconds: float = math.nan
    objective: float = math.nan
    gap: float = math.nan
    active: int | None = None
    ratio: float = math.nan
    score: float = math.nan
    hidden: bool = False
    doing: str = ""


def result_rows(
    race: Race,
    styles: Mapping[str, RunStyle],
    meters: Mapping[str, PathMeter],
    scores: Mapping[str, float],
    hidden: Collection[str],
) -> list[ResultRow]:
    """Return the rows of `race`, in its order."""
    rows = []
    for key, run in race.runs.items():
        status, length = run.status, len(run.trace)  # in this order: a final status makes the trace final
        row = {"key": key, "style": styles[key], "status": status, "reason": run.reason, "hidden": key in hidden}
        row |= {"doing": run.doing}
        if length:
            last = run.trace[length - 1]
            row |= {
                "iterations": length - 1,
                "svm_solves": last.svm_solves,
                "seconds": run.trace.seconds_at(length - 1),
                "objective": last.objective,
                "gap": last.gap,
                "active": int((last.weights > ACTIVE_WEIGHT).sum()),
                "ratio": meters[key].ratio,
                "score": scores.get(key, math.nan),
            }
        rows.append(ResultRow(**row))  # type: ignore[arg-type]
    return rows


def result_table(rows: Collection[ResultRow], regression: bool = False) -> str:
    """Return the rows as an HTML table; with `regression` the scores are R², otherwise accuracies."""
    columns = (*_COLUMNS, _SCORES[regression])
    heads = "".join(f'<th scope="col" title="{escape(why)}">{name}</th>' for name, why in columns)
    body = "".join(_row(row, regression) for row in rows)
    if not rows:
        body = f'<tr><td colspan="{len(columns)}" class="quiet">The result of each solver appears here.</td></tr>'
    return (
        '<table class="results"><caption class="unseen">Results of the solvers</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _row(row: ResultRow, regression: bool) -> str:
    word = STATUS_WORDS.get(row.status, row.status)
    said = row.reason if row.status in ("failed", "limit") else row.doing
    reason = f'<span class="reason">{escape(said)}</span>' if said else ""
    status = f'<span class="word {row.status}">{word}</span>{reason}'
    cells = (
        _count(row.iterations),
        _count(row.svm_solves),
        _number(row.seconds, "{:,.2f} s"),
        _number(row.objective, "{:,.5g}" if abs(row.objective) < 1000 else "{:,.1f}"),
        _number(100 * row.gap, "{:,.2f} %" if abs(row.gap) >= 1e-4 else "{:.1e} %"),
        _count(row.active),
        times(row.ratio),
        _number(row.score, "{:.3f}") if regression else _number(100 * row.score, "{:.1f} %"),
    )
    numbers = "".join(f"<td>{cell}</td>" for cell in cells)
    quiet = ' class="hidden-run"' if row.hidden else ""
    head = f'<th scope="row">{swatch(row.style)}{escape(row.style.label)}</th>'
    return f'<tr data-run="{escape(row.key)}"{quiet}>{head}<td title="{escape(row.reason)}">{status}</td>{numbers}</tr>'


def race_sentence(race: Race) -> str:
    """Say in one plain sentence how a race stands."""
    total = len(race.runs)
    states = {key: run.status for key, run in race.runs.items()}
    failed = [race.runs[key].trace.label for key, status in states.items() if status == "failed"]
    open_runs = [race.runs[key] for key, status in states.items() if status not in FINAL]
    at = ", ".join(f"{run.trace.label} at iteration {max(len(run.trace) - 1, 0):,}" for run in open_runs)
    done = total - len(open_runs)
    trouble = f"; {' and '.join(failed)} failed" if failed else ""
    if not open_runs:
        solvers = "The solver has" if total == 1 else f"All {total} solvers have"
        return f"{solvers} finished{trouble}."
    if all(states[key] == "ready" for key in states):
        return "Ready to run."
    state = "" if "running" in states.values() else "Paused: "
    return f"{state}{done} of {total} solvers finished{trouble}; {at}."


def times(ratio: float) -> str:
    """Return a ratio as people write it: 2.1× or 56×."""
    if not math.isfinite(ratio):
        return _DASH
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:,.0f}×"


def pill(meter: PathMeter, theme: Theme) -> str:
    """Return the verdict on a path as an HTML pill, or nothing while it is too short."""
    verdict = meter.verdict
    if not verdict:
        return ""
    background, colour = theme.bad if verdict == "oscillates" else theme.good
    why = (
        f"The weights travelled {times(meter.ratio)} the distance between start and end;"
        f" mean cosine of successive moves {meter.turning:+.2f} (+1 straight on, -1 straight back)."
    )
    return (
        f'<span class="pill" style="background:{background};color:{colour}" title="{escape(why)}">'
        f"{verdict} · path {times(meter.ratio)} net</span>"
    )


def _count(value: int | None) -> str:
    return _DASH if value is None else f"{value:,}"


def _number(value: float, pattern: str) -> str:
    return pattern.format(value) if math.isfinite(value) else _DASH
