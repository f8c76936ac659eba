"""The words of a race in HTML: headings of charts, the table of results, one row per run, milestones and verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from mklviz.engine import Race, Run
from mklviz.numbers import number_text, score_text, share_text
from mklviz.record import FINAL, Trace
from mklviz.record.summary import PARTS, Reference, RunResult, milestones, result_at
from mklviz.record.weights import RULE, Motion
from mklviz.views.chart.columns import KernelSlots
from mklviz.views.chart.description import Chart
from mklviz.views.chart.race_charts import weights_title
from mklviz.views.look.palette import RunStyle, Theme, kernel_legend, run_name
from mklviz.views.look.styles import MILESTONES, row_html, table_html, title

ScoreAt = Callable[[str, int], float]

STATUS_WORDS = {
    **{word: word for word in ("running", "preparing", "paused", "converged", "stopped", "failed")},
    **{"ready": "waiting", "precision": "exact", "rule": "stop rule", "limit": "not converged"},
    **{"past": "at this step", "later": "not begun"},
}
SIGNS = {  # tell the words apart without their colours
    **{"ready": "◌", "running": "▸", "paused": "‖", "converged": "✓", "precision": "≈"},
    **{"rule": "◇", "limit": "…", "stopped": "■", "failed": "✕"},
}
MEANINGS = {
    "converged": "The certified gap is as small as was asked for.",
    "precision": "As exact as double precision allows: the gap is below what rounding may cause.",
    "rule": "Another stop rule than the gap fired; it proves nothing about the optimum.",
    "limit": "The run ended before its gap was as small as was asked for.",
    "stopped": "Stopped by hand.",
    "failed": "The solver broke down.",
}
_EXPLAINED = ("failed", "limit", "rule", "precision")  # ends whose reason is shown in the table
_COLUMNS = (
    ("Solver", "The method"),
    ("Status", "How the run stands, and why it ended"),
    ("Iterations", "Outer steps"),
    ("SVM solves", "Support vector machines trained so far"),
    ("Time", "CPU seconds inside the solver; pauses and drawing do not count"),
    ("Objective", "Certified upper bound on the optimum: the least one found"),
    ("Gap", "Certified relative distance to the optimum, by the best bounds found"),
    ("Kernels kept", "Kernels with weight at the least objective"),
    ("Weight moved", "In full moves: 1× is all the weight, moved once from some kernels to others"),
    ("Undone", "Share of that movement that later steps undid: 0 % is movement along one line"),
)
_SCORES = {  # by whether the targets are numbers
    False: ("Test accuracy", "Share of test samples classified correctly"),
    True: ("Test R²", "Share of the targets' variance on the test samples that is explained: 1 is perfect"),
}
WAY = (
    "What it took to come down most of the way to the least objective.",
    "From a run's own first objective to the least that any run of this race has found, by its least so far.",
)
WAY_HEADS = ("Solver", *(f"{100 * part:g} % of the way" for part in PARTS))
_SCALE = "Each solver has a scale of its own. This one is drawn so many times as tall as the one that reaches highest."
_DASH = "–"


@dataclass(frozen=True)
class ResultRow:
    """One run in its current state."""

    key: str
    style: RunStyle
    status: str
    reason: str = ""
    result: RunResult | None = None  # none before its first step
    motion: Motion | None = None
    score: float = math.nan
    hidden: bool = False
    doing: str = ""


def result_rows(
    race: Race,
    styles: Mapping[str, RunStyle],
    motions: Mapping[str, Motion],
    score: ScoreAt,
    hidden: Collection[str],
    cursor: int | None,
) -> list[ResultRow]:
    """Return a row for each run at the step `cursor`, None for the end."""
    rows = []
    for key, run in race.runs.items():
        status, trace = run.status, run.trace
        end = len(trace) - 1  # after the status: a final one makes the trace final
        row: dict[str, Any] = {"key": key, "style": styles[key], "hidden": key in hidden}
        at = end if cursor is None else cursor - trace.first_step
        if at < 0 <= end:
            row |= {"status": "later"}
        elif at < end:
            row |= {"status": "past", "result": result_at(trace, at)}
            row |= {"motion": trace.motion_at(at), "score": score(key, at)}
        else:
            status = "preparing" if run.held and status == "running" else status
            row |= {"status": status, "reason": trace.reason, "doing": run.doing}
            if end >= 0:
                row |= {"result": result_at(trace, end), "motion": motions[key], "score": score(key, end)}
        rows.append(ResultRow(**row))
    return rows


def result_table(rows: Collection[ResultRow], regression: bool = False, noun: str = "kernel") -> str:
    """Return an HTML table; with `regression` scores are R², otherwise accuracies; `noun` is what has weights."""
    columns = (*result_heads(noun), _SCORES[regression])
    none = f'<tr><td colspan="{len(columns)}" class="quiet">The result of each solver appears here.</td></tr>'
    return table_html("Results of the solvers", columns, [_row(row, regression) for row in rows] or [none])


def _row(row: ResultRow, regression: bool) -> str:
    score = score_text(row.score, "R²" if regression else "accuracy")
    numbers = "".join(f"<td>{cell}</td>" for cell in (*result_cells(row.result, row.motion), score))
    quiet = ' class="hidden-run"' if row.hidden else ""
    head = f'<th scope="row">{run_name(row.style)}</th>'
    status = status_html(row.status, row.reason, row.doing)
    return f'<tr data-run="{escape(row.key)}"{quiet}>{head}<td title="{escape(row.reason)}">{status}</td>{numbers}</tr>'


def status_html(status: str, reason: str = "", doing: str = "") -> str:
    """Return how a run stands, with why it ended so, or what it is doing, where that is to be seen."""
    words = reason if status in _EXPLAINED else doing
    shown = f'<span class="reason">{escape(words)}</span>' if words else ""
    sign = f'<i aria-hidden="true" data-sign="{SIGNS[status]}"></i>' if status in SIGNS else ""
    word = f"{sign}{STATUS_WORDS.get(status, status)}"
    return f'<span class="word {status}" title="{escape(MEANINGS.get(status, ""))}">{word}</span>{shown}'


def result_cells(result: RunResult | None, motion: Motion | None) -> tuple[str, ...]:
    """Return the texts of a row, from the iterations to what was undone."""
    bounds = (_DASH,) * 6
    if result is not None:
        bounds = (
            f"{result.iterations:,}",
            f"{result.svm_solves:,}",
            number_text(result.seconds, ",.2f", " s"),
            number_text(result.objective, ",.5g" if abs(result.objective) < 1000 else ",.1f"),
            share_text(result.gap) if abs(result.gap) < 1e-4 else number_text(100 * result.gap, ",.2f", " %"),
            f"{result.active:,}",
        )
    if motion is None or not motion.steps:
        return *bounds, _DASH, _DASH
    moved = number_text(motion.moved, ".2f" if motion.moved < 10 else ",.0f", "×")
    return *bounds, moved, f"{100 * motion.share_in_vain:.0f} %"


def result_heads(noun: str) -> list[tuple[str, str]]:
    """Return the headings of a row up to there, each with its explanation; `noun` is what has weights."""
    return [
        (name.replace("Kernel", noun.capitalize()), why.replace("Kernel", noun.capitalize())) for name, why in _COLUMNS
    ]


def milestone_table(traces: Mapping[str, Trace], styles: Mapping[str, RunStyle]) -> str:
    """Return as HTML the cost of each run at parts of its way to the least objective of all."""
    best = Reference.of(traces.values())
    rows = [row_html(run_name(styles[key]), way_cells(trace, best)) for key, trace in traces.items()]
    why = f'<p class="why" title="{escape(WAY[1])}">{WAY[0]}</p>'
    return why + table_html("Milestones of the solvers", [(head, "") for head in WAY_HEADS], rows, MILESTONES)


def way_cells(trace: Trace, best: Reference) -> list[str]:
    """Return what each part of the way to the least objective has cost a run."""
    return [str(milestone or _DASH) for milestone in milestones(trace, best)]


def words_outside(trace: Trace) -> tuple[str, str]:
    """Return what is said of a run at the steps before its first one and after its last one."""
    end = "Finished" if trace.status in FINAL else "Is"
    return f"Begins at step {trace.first_step:,}.", f"{end} at step {trace.last_step:,}."


def race_sentence(race: Race | None, button: str = "Run") -> str:
    """Say the state of a race in one plain sentence; `button` starts it."""
    if race is None:
        return f"Press {button} to start the solvers."
    states = [run.status for run in race.runs.values()]
    failed = [run.trace.label for run in race.runs.values() if run.status == "failed"]
    open_runs = [run for run in race.runs.values() if run.status not in FINAL]
    trouble = f"; {' and '.join(failed)} failed" if failed else ""
    if not open_runs:
        return _ended_sentence(len(states), len(failed), states.count("stopped"), trouble)
    if all(state == "ready" for state in states):
        return "Ready to run."
    done, at = len(states) - len(open_runs) - len(failed) - states.count("stopped"), ", ".join(map(_where, open_runs))
    return f"{'' if 'running' in states else 'Paused: '}{done} of {len(states)} solvers finished{trouble}; {at}."


def why_no_curves(race: Race) -> str:
    """Return what its runs do, or why they failed, as long as none has a step that could be drawn; "" afterwards."""
    if any(len(run.trace) for run in race.runs.values()):
        return ""
    told = ((run.trace.label, run.reason or run.doing) for run in race.runs.values())
    return " ".join(f"{label}: {words}" + "." * (words[-1] not in ".!?…") for label, words in told if words)


def _where(run: Run) -> str:
    """Say how far a run is, or what it does before its first step."""
    if not len(run.trace):
        return f"{run.trace.label}: {run.doing or 'no step yet'}"
    return f"{run.trace.label} at iteration {run.trace.last_step:,}"


def _ended_sentence(total: int, failed: int, stopped: int, trouble: str) -> str:
    """Say how a race of so many solvers ended, some of which may have failed, or been stopped by hand."""
    solvers, finished = "The solver" if total == 1 else f"All {total} solvers", total - failed - stopped
    if failed == total:
        return f"{solvers} failed."
    if stopped == total:
        return f"{solvers} {'was' if total == 1 else 'were'} stopped."
    if stopped:
        return f"Stopped: {finished} of {total} solvers had finished before{trouble}."
    solvers = f"{finished} of {total} solvers" if failed else solvers
    return f"{solvers} {'has' if finished == 1 else 'have'} finished{trouble}."


def weights_pills(motion: Motion, enlarged: str = "", explained: bool = True) -> str:
    """Return as HTML what stands beside the name above the weights of a run: how far they are enlarged, the verdict."""
    scale = ""
    if enlarged:
        word, times = enlarged.split()  # where type is large the first is left out
        factor = f'<span class="word-of-scale">{word}&nbsp;</span>{times}'
        scale = f'<span class="pill scale" title="{_SCALE}">{factor}</span>'
    verdict, why = motion.verdict, f' title="{_why(motion)}"' if explained else ""
    return scale + (f'<span class="pill {verdict}"{why}>{verdict}</span>' if verdict else "")


def moved_words(motion: Motion) -> str:
    """Return as HTML how often the weights were moved; an empty line keeps the height."""
    words = str(motion).replace(" %", "\u00a0%").replace(" undone", "\u00a0undone")
    title_and_text = f' title="{_why(motion)}">{words}' if motion.steps else ">"
    return f'<span class="moved"{title_and_text}</span>'


def _why(motion: Motion) -> str:
    return escape(
        f"This run {motion}. After the first fifth of the steps, {number_text(motion.late, '.2g')} full moves were"
        f" undone; {100 * motion.back:.0f} % of the movement was taken back by the very next step. {RULE}"
    )


def chart_heading(chart: Chart, with_note: bool) -> str:
    """Return as HTML the title of a chart, with what stands beside it, and its note if that is `told`."""
    beside = f'<i class="dashes"></i>{escape(chart.beside)}' if chart.beside else ""
    legend = f'<span class="legend"><span>{beside}</span></span>' if beside else ""
    detail = f' detail" title="{escape(chart.more)}' if chart.more else ""
    note = f'<p class="why{detail}">{escape(chart.note, quote=False)}</p>' if with_note and chart.note else ""
    return title(chart.title, term=chart.term, beside=legend) + note


def weights_heading(slots: KernelSlots, theme: Theme, noun: str, term: str = "") -> str:
    """Return as HTML the heading of the weights of kernels, or other `noun`, with the names of those shown."""
    legend = f'<span class="legend">{kernel_legend(slots.shown, theme, slots.coloured)}</span>'
    return title(weights_title(noun, len(slots.slots), len(slots.names)), term=term, beside=legend)
