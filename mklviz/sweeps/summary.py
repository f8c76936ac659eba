"""The results of a sweep in short: mean and standard deviation over the splits, for each data set and solver.

What a run that did not converge took is less than what it would have taken: where there is one among those that are
averaged, the mean is a lower bound, and says so. CPU seconds stand there for runs of one machine only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from statistics import fmean, stdev

from mklviz.numbers import counted
from mklviz.record.run_facts import SOLVED
from mklviz.sweeps.member import Member
from mklviz.sweeps.outcome import MemberOutcome
from mklviz.sweeps.table import SweepTable

__all__ = ["machines_text", "summary_rows"]

Results = Sequence[MemberOutcome]


def summary_rows(table: SweepTable) -> list[tuple[str, ...]]:
    """Return header and rows of a short table."""
    groups: dict[Hashable, list[tuple[Member, MemberOutcome]]] = {}
    for member, outcome in table:
        groups.setdefault((member.data, member.solver, *member.settings.items()), []).append((member, outcome))
    varied = [*table.sweep.members[0].settings]
    costs = {"SVM solves": _svm_solves, "fits": _fits} | ({"CPU s": _seconds} if _machines(table) < 2 else {})
    rows: list[tuple[str, ...]] = [("data", "solver", *varied, "solved", *costs, "test score", "kernels")]
    for pairs in groups.values():
        first, outcomes = pairs[0][0], [outcome for _, outcome in pairs]
        ran = [outcome for outcome in outcomes if outcome.steps or outcome.svm_solves]
        solved = sum(outcome.status in SOLVED for outcome in outcomes)
        settings = [value if isinstance(value, str) else f"{value:g}" for value in first.settings.values()]
        bound = "≥ " if any(outcome.status not in SOLVED for outcome in ran) else ""
        spent = [_spread(ran, cost, bound) for cost in costs.values()]
        cells = [_spread(ran, _score), _spread(ran, _kernels)]
        rows.append((first.data, first.solver, *settings, f"{solved:,} of {len(outcomes):,}", *spent, *cells))
    return rows


def machines_text(table: SweepTable) -> str:
    """Return why times are left out, where they are."""
    count = _machines(table)
    if count < 2:
        return ""
    return f"These runs are of {counted(count, 'machine')}, of which only SVM solves and fits can be compared."


def _machines(table: SweepTable) -> int:
    return len({outcome.results.get("machine") for _, outcome in table if outcome.steps or outcome.svm_solves})


def _spread(outcomes: Results, value: Callable[[MemberOutcome], float], bound: str = "") -> str:
    """Return "mean ± standard deviation" of what is known."""
    known = [number for outcome in outcomes if not math.isnan(number := value(outcome))]
    if not known:
        return "–"
    mean = f"{bound}{fmean(known):.3g}"
    return f"{mean} ± {stdev(known):.2g}" if len(known) > 1 else mean


def _svm_solves(outcome: MemberOutcome) -> float:
    return outcome.svm_solves


def _fits(outcome: MemberOutcome) -> float:
    return outcome.fits


def _seconds(outcome: MemberOutcome) -> float:
    return outcome.seconds


def _score(outcome: MemberOutcome) -> float:
    return float(outcome.results.get("score", math.nan))


def _kernels(outcome: MemberOutcome) -> float:
    return outcome.kernels
