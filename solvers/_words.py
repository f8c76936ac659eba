"""What several solvers say of problems and steps, how they tighten their SVMs, and what line searches tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from mklviz.contract import Iterate
from mklviz.inner.averaging import SvmPoint
from mklviz.inner.oracle import FINEST
from mklviz.numbers import counted, number_text, share_text
from mklviz.problem import Problem
from mklviz.typing import Array

FROM_KINK = "At a kink, where one SVM's slope misleads, the search followed the average of the last SVM solutions"
CRAWLING = "Its steps follow the slope of the penalty, so steep near zero that they crawl;"
_UNCHANGED = 5e-7  # a relative change of the objective that seven digits cannot show


def objective_change(before: Iterate, after: Iterate) -> str:
    """Return a sentence on the objective and the gap, such as "The objective fell by 2.1 % to 3,512 (gap 12 %)."""
    change = (after.objective - before.objective) / max(abs(before.objective), 1e-300)
    where = f"{number_text(after.objective)}{_gap(after, ' (', ')')}"
    if abs(change) < _UNCHANGED:
        return f"The objective stayed at {where}."
    return f"The objective {'fell' if change < 0 else 'rose'} by {share_text(abs(change))} to {where}."


def finer_svms(before: Iterate, after: Iterate) -> str:
    """Return a sentence on the SVMs, after a space, where they are solved to another tolerance than before."""
    old, new = before.facts.svm_tolerance, after.facts.svm_tolerance
    return (
        ""
        if old == new or math.isnan(old) or math.isnan(new)
        else f" SVMs are now solved to the tolerance {Decimal(f'{new:g}'):f}."
    )


def start_sentence(after: Iterate) -> str:
    """Return the sentence on a start."""
    used = int((after.weights > 0).sum())
    where = f"objective {number_text(after.objective)}{_gap(after, ', ')}"
    return f"The start gives weight to {counted(used, 'kernel')}: {where}."


def _gap(after: Iterate, before: str, behind: str = "") -> str:
    """Return the gap in words; nothing where a problem has none."""
    return f"{before}gap {share_text(after.gap)}{behind}" if math.isfinite(after.gap) else ""


def needs_simplex(problem: Problem, method: str) -> str:
    """Return "" or why `method`, which keeps the sum of the weights, cannot follow."""
    if problem.regularizer.on_simplex:
        return ""
    return f"{method} needs weights that sum to one, on the simplex, so it cannot take the {problem.regularizer.label}."


def next_tolerance(point: SvmPoint, gap: float) -> float:
    """Return the SVM tolerance to go on with: a tenth, once the SVM's own error exceeds a tenth of the `gap`.

    A cut lies below the objective by that error; were it as large as the gap, the cut would cut nothing off.
    """
    return min(max(0.1 * point.tol, FINEST), point.tol) if point.error > 0.1 * gap else point.tol


# What a line search tried, for pictures: where along the move that was made, and how high it was there.
#
#     along_i = <d_i - d, d+ - d> / ||d+ - d||^2          0 is where the step began, 1 where it ended
#
# With two kernels, and wherever a search goes straight, that says all of a trial's weights.

Trial = tuple[Array, float]  # weights, and the value that was compared
MOST_TRIALS = 60  # trials of one step, the last ones


def trials_text(before: Array, after: Array, tried: Sequence[Trial]) -> str:
    """Return the trials of a step as "along value; along value"; "" where it led nowhere."""
    move = after - before
    length = float(move @ move)
    if length == 0.0:
        return ""
    places = ((float((weights - before) @ move) / length, value) for weights, value in tried[-MOST_TRIALS:])
    return "; ".join(f"{along:.6g} {value:.10g}" for along, value in places)
