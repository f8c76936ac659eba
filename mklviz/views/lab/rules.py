"""The rules that can stop a recording, each with its threshold, and their results as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

from mklviz.contract import Iterate
from mklviz.engine import (
    KKT,
    Gap,
    IterateGap,
    Measured,
    ModelGap,
    ObjectiveChange,
    ProjectedGradient,
    Replay,
    Returned,
    WeightChange,
    replay,
)
from mklviz.recipe.parsing import show_number, show_percent
from mklviz.record import Trace
from mklviz.views.look.palette import RunStyle, swatch

__all__ = ["DIGITS", "RULES", "Rule", "above_words", "judged", "replay_table", "threshold_text"]

ROUNDING = 1e-9  # of the objective; a smaller distance may be rounding
DIGITS = (*(float(f"{digit}e{power}") for power in range(-6, 0) for digit in (1, 2, 5)), 1.0)  # thresholds offered


@dataclass(frozen=True)
class Rule:
    """A rule as it is offered."""

    title: str
    make: Callable[[float], Measured]  # returns the rule with a threshold
    usual: float  # the threshold to begin with, one of `DIGITS`
    why: str  # the number that it watches, and what that proves
    share: bool = True  # whether the threshold is a share, written in per cent


RULES = (
    Rule(
        "Duality gap of the run",
        Gap,
        1e-2,
        "The best objective minus the best lower bound so far. It never rises, and it is a proof.",
    ),
    Rule(
        "Duality gap of the iterate",
        IterateGap,
        1e-2,
        "The gap of the last weights and dual variables alone, SimpleMKL's and SpicyMKL's rule. It is proved, and"
        " comes late where a method jumps about.",
    ),
    Rule(
        "Gap of the cutting planes",
        ModelGap,
        1e-2,
        "What the cutting planes still promise: SILP's and Level's own rule. Other methods have no such model.",
    ),
    Rule(
        "Change of the weights",
        WeightChange,
        1e-2,
        "The largest change of any kernel weight, a rule of SimpleMKL's program. It proves nothing: short"
        " steps look like the end.",
        share=False,
    ),
    Rule(
        "Change of the objective",
        ObjectiveChange,
        1e-3,
        "By how much of it the last step changed the objective. It proves nothing: a step that failed changes nothing.",
    ),
    Rule(
        "Optimality conditions",
        KKT,
        5e-2,
        "How far the optimality conditions in the kernel weights are from holding, SimpleMKL's rule. It needs the"
        " slopes to be right, and so exact SVMs.",
    ),
    Rule(
        "Projected gradient",
        ProjectedGradient,
        1e-3,
        "The slope that is left, relative to the objective, the rule of SPG-GMKL. Only SPG and PGD report it.",
    ),
)


def threshold_text(rule: Rule, value: float) -> str:
    """Return a threshold in words: "0.5 %", or "0.005" where it is no share."""
    return show_percent(float(f"{value:.3g}")) if rule.share else show_number(float(f"{value:.3g}"))


def judged(traces: Mapping[str, Trace], rule: Measured, score: Callable[[Iterate], float] | None) -> dict[str, Replay]:
    """Replay a rule on each of several runs on one problem."""
    return {key: replay(trace, rule, traces.values(), score) for key, trace in traces.items()}


_GROUP = {True: ' class="group"', False: ""}  # where the columns of one iterate begin
_HEADS = (
    ("Above optimum", "How far its objective lies above the optimum, by the best bounds of all runs at their ends"),
    ("Kernels", "Kernels in use"),
    ("Misplaced", "Share of the weight that is on other kernels than in the best solution known"),
)


def replay_table(
    replays: Mapping[str, Replay],
    traces: Mapping[str, Trace],
    styles: Mapping[str, RunStyle],
    score_name: str,
    silent: frozenset[str] = frozenset(),
) -> str:
    """Return an HTML table of where each run would have stopped and with which result.

    `traces`, `styles`: the runs by the same keys, and how they are drawn; `score_name`: what scores are, such as "Test
    accuracy"; "" where there are none; `silent`: keys of the runs that do not report what the rule looks at.
    """
    heads = [*_HEADS, (score_name, "On samples that were held out")] if score_name else list(_HEADS)
    columns = "".join(
        f'<th scope="col"{_GROUP[column == 0]} title="{escape(why)}">{escape(name)}</th>'
        for column, (name, why) in enumerate(heads)
    )
    groups = "".join(
        f'<th scope="colgroup"{_GROUP[True]} colspan="{len(heads)}">{what}</th>'
        for what in ("Last iterate", "Best iterate so far")
    )
    rows = "".join(_row(replays[key], traces[key], styles[key], score_name, key in silent) for key in replays)
    return (
        '<div class="scroll" tabindex="0"><table class="results replays">'
        '<caption class="unseen">Where each run would have stopped'
        f'</caption><thead><tr><td colspan="4"></td>{groups}</tr><tr><th scope="col">Solver</th><th scope="col">Stops'
        '</th><th scope="col">SVM solves</th><th scope="col">CPU seconds</th>'
        f"{2 * columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(replay: Replay, trace: Trace, style: RunStyle, score_name: str, silent: bool) -> str:
    first, end = trace.first_step, trace.last_step
    if silent:
        when = "not reported"
    elif replay.verdict is None:
        when = f"never, in {end - first:,} steps"
    else:
        when = f"at step {first + replay.step:,} of {end:,}"
    step = replay.last.step
    cells = "".join(
        f"<td>{cell}</td>" for cell in (when, f"{trace[step].svm_solves:,}", f"{trace.seconds_at(step):.2f} s")
    )
    for returned in (replay.last, replay.best):
        columns = enumerate(_cells(returned, score_name))
        cells += "".join(f"<td{_GROUP[column == 0]}>{cell}</td>" for column, cell in columns)
    return f'<tr><th scope="row">{swatch(style)}{escape(style.label)}</th>{cells}</tr>'


def _cells(returned: Returned, score_name: str) -> list[str]:
    cells = [above_words(returned), f"{returned.iterate.active:,}", _percent(returned.misplaced)]
    if score_name:
        score = returned.score
        accurate = f"{100 * score:.1f} %" if "accuracy" in score_name.lower() else f"{score:.3f}"
        cells.append(accurate if math.isfinite(score) else "–")
    return cells


def above_words(returned: Returned) -> str:
    """Return how far the returned iterate lies above the optimum: "1.2 %", or "0.4–1.2 %" where no more is known."""
    least, most = _short(returned.at_least), _short(returned.at_most)
    if not most:
        return f"≥ {least} %" if least else "–"
    return f"{most} %" if least == most else f"{least}–{most} %"


def _short(share: float) -> str:
    if not math.isfinite(share):
        return ""
    value = 100 * share if share > ROUNDING else 0.0
    return f"{value:.2g}" if value < 99.5 else f"{value:,.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if math.isfinite(share) else "–"
