"""What a line search tried, for pictures: where along the move that was made, and how high it was there.

    along_i = <d_i - d, d+ - d> / ||d+ - d||^2          0 is where the step began, 1 where it ended

With two kernels, and wherever a search goes straight, that says all of a trial's weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mklviz.inner.averaging import SvmPoint
from mklviz.typing import Array

Trial = tuple[Array, float]  # weights, and the value that was compared
MOST_TOLD = 60  # trials of one step, the last ones


def trials_told(before: Array, after: Array, tried: Sequence[Trial]) -> str:
    """Return the trials of a step as "along value; along value"; "" where it led nowhere."""
    move = after - before
    length = float(move @ move)
    if length == 0.0:
        return ""
    places = ((float((weights - before) @ move) / length, value) for weights, value in tried[-MOST_TOLD:])
    return "; ".join(f"{along:.6g} {value:.10g}" for along, value in places)


# Golden section on a convex function of the step: the bracket shrinks by 0.618 per SVM.
#
# Each round compares two points inside the bracket, ``lo < left < right < hi`` in golden ratio, and keeps the part that
# must hold the minimum; one of the two serves again in the next round.

GOLDEN = (5.0**0.5 - 1.0) / 2.0


def golden_section(
    solve: Callable[[float], SvmPoint],
    near: SvmPoint,
    far: SvmPoint,
    length: float,
    precision: float,
    reuse: bool,
) -> SvmPoint:
    """Return the best point found on a segment.

    `solve`: solves the SVM at a step between 0 and `length`; `near`, `far`: the solved ends, at the steps 0 and
    `length`; `precision`: width of the bracket to stop at; `reuse`: take over the inner point that serves again;
    otherwise solve both anew, as the SimpleMKL toolbox does.
    """
    lo, hi = 0.0, length
    best = near if near.value <= far.value else far
    left: SvmPoint | None = None
    right: SvmPoint | None = None
    while hi - lo > max(precision, 1e-15):
        width = GOLDEN * (hi - lo)
        left = solve(hi - width) if left is None else left
        right = solve(lo + width) if right is None else right
        best = min(best, left, right, key=lambda point: point.value)
        if left.value <= right.value:
            hi, left, right = lo + width, None, left
        else:
            lo, left, right = hi - width, right, None
        if not reuse:
            left = right = None
    return best
