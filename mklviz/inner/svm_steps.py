"""Pair and Newton steps of the inner SVM in turn, until it is solved; compiled. `mklviz.inner.svm` calls them.

Where K is hard, such as of rank one with entries of 1e8, Newton steps lead from bound to bound until one meets none: an
active-set method, in which a few pair steps free points again.
"""

from __future__ import annotations

from mklviz.compiled import njit
from mklviz.inner.svm_newton import newton_step, price
from mklviz.inner.svm_pairs import pair_steps
from mklviz.inner.svm_state import (
    BENT,
    CREDIT,
    FREE,
    HARD,
    IDLE,
    LEAST,
    MASK,
    MOST,
    MOVED,
    TAKEN,
    WORST,
    B,
    absolute_sum,
    free_points,
    noise,
)
from mklviz.typing import Array

__all__ = ["PAUSED", "SOLVED", "STUCK", "advance"]

SETTLED = 0.2  # relative change of the number of free points in a round, below which a Newton step pays
VISIBLE = 1e-15  # gain of a round that counts as progress, relative to y'b
RELEASED = 4  # pair steps between Newton steps where K is hard; more would undo these
LARGEST_SYSTEM = 1600  # free points in a Newton step; more would take too long between two checkpoints
PATIENCE = 10  # rounds without visible progress before rounding is taken for the limit

# why `advance` came back
SOLVED, PAUSED, STUCK = range(3)


@njit(cache=True, nogil=True)
def _stalled(S: Array, gain: float, violation: float, watch: Array) -> bool:
    """Whether PATIENCE rounds have brought no progress that rounding lets us see, or steps have run out."""
    if gain > VISIBLE * absolute_sum(S[B]) or violation < 0.8 * watch[LEAST]:
        watch[IDLE] = 0.0
    watch[LEAST] = min(violation, watch[LEAST])
    watch[IDLE] += 1.0
    return watch[IDLE] > PATIENCE or watch[TAKEN] > watch[MOST]


@njit(cache=True, nogil=True)
def advance(K: Array, S: Array, C: float, tol: float, work: int, early: bool, watch: Array) -> tuple[int, int, int]:
    """Pair and Newton steps until solved, stuck, or the work of `work` pair steps; returns why and how many of each.

    Stuck is what cannot be solved any further for rounding, see `noise`.

    Where it is `early`, the free points still come and go: a Newton step is taken only if pair steps are blocked.
    """
    n = S.shape[1]
    pairs, newtons, budget, spent, gain = 0, 0, max(n // 4, 16), 0.0, MASK
    while pairs + spent < work:
        steps, climbed, violation, blocked = pair_steps(
            K, S, max(tol, noise(S, watch[MOVED])), min(budget, work - pairs), watch
        )
        pairs += steps
        watch[TAKEN] += steps
        watch[CREDIT] += steps
        if violation <= tol:
            return SOLVED, pairs, newtons
        least = noise(S, watch[MOVED])
        seen = gain + climbed if violation > WORST * least else 0.0  # below, slopes may be feigned, and gains with them
        if violation <= least or _stalled(S, seen, violation, watch):
            return STUCK, pairs, newtons
        gain = 0.0
        # where K is singular the way leads from bound to bound, and pair steps between would undo it
        most = float(n + 4) if watch[HARD] > 0.0 else min(4.0 * 2.0 ** watch[BENT], float(n + 4))
        bends = 0.0
        while bends < most:
            free = free_points(S)
            cost = price(n, free.size)
            settled = abs(free.size - watch[FREE]) <= SETTLED * free.size or (bends > 0.0 and watch[BENT] > 0.0)
            watch[FREE] = free.size
            worthwhile = watch[HARD] > 0.0 or (settled and not early and watch[CREDIT] > cost)
            if not (blocked or worthwhile) or not 2 <= free.size <= LARGEST_SYSTEM or pairs + spent >= work:
                break
            newtons += 1
            watch[CREDIT] -= cost
            spent += cost
            watch[TAKEN] += cost if watch[HARD] > 0.0 else 0.0
            climbed, bent = newton_step(K, S, C, free, watch)
            gain += climbed
            if not bent:
                watch[BENT] = max(watch[BENT] - 1.0, 0.0)
                break
            bends += 1.0
        if bends >= most:
            watch[BENT] = min(watch[BENT] + 1.0, 50.0)
        budget = max(n // 4, 16, int(min(cost, 20.0 * n))) if watch[HARD] == 0.0 else RELEASED
    return PAUSED, pairs, newtons
