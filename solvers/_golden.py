"""Golden section on a convex function of the step: the bracket shrinks by 0.618 per SVM.

Each round compares two points inside the bracket, ``lo < left < right < hi`` in golden ratio, and keeps the part that
must hold the minimum; one of the two serves again in the next round.
"""

from __future__ import annotations

from collections.abc import Callable

from mklviz.inner.point import SvmPoint

__all__ = ["golden_section"]

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
