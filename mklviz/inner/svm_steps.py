"""Pair and Newton steps of the inner SVM in turn, until it is solved; compiled. `mklviz.inner.svm` calls them.

Where K is hard, such as of rank one with entries of 1e8, Newton steps lead from bound to bound until one meets none: an
active-set method, in which a few pair steps free points again.
"""

from __future__ import annotations

from mklviz.compiled import njit
from mklviz.inner.svm_newton import newton_step, price
from mklviz.inner.svm_state import (
    BENT,
    CREDIT,
    DIAG,
    FAST,
    FREE,
    HARD,
    HI,
    IDLE,
    LEAST,
    LO,
    LOW,
    MASK,
    MOST,
    MOVED,
    SCRATCH,
    TAKEN,
    TINY,
    UP,
    WORST,
    B,
    F,
    absolute_sum,
    free_points,
    larger,
    noise,
    position,
    set_masks,
    smaller,
    snap_distance,
)
from mklviz.typing import Array

# Pair steps of the inner SVM; compiled.
#
# A pair step moves b_i up and b_j down: i by steepest ascent, j by second-order gain (Fan, Chen & Lin 2005, "Working
# set selection using second order information for training support vector machines", WSS2).

BLOCK = 1024  # points scanned between two looks at the running maximum


@njit(cache=True, nogil=True, fastmath=FAST)
def _top(f: Array, up: Array, scratch: Array) -> int:
    """Index of the steepest point that may grow."""
    best = -MASK
    for t in range(f.shape[0]):
        scratch[t] = f[t] + up[t]
        best = larger(best, scratch[t])
    return position(scratch, best)


@njit(cache=True, nogil=True, fastmath=FAST)
def _gains(f: Array, low: Array, diag: Array, row: Array, gain: Array, fi: float, kii: float) -> tuple[float, float]:
    """Second-order gain of pairing i with each point of a block; returns the best gain and the least f - f_i."""
    best = -1.0
    lowest = MASK
    for t in range(f.shape[0]):
        slope = fi - f[t] + low[t]
        lowest = smaller(lowest, -slope)
        curvature = larger(kii + diag[t] - 2.0 * row[t], TINY)
        rise = larger(slope, 0.0)
        g = rise * rise / curvature
        gain[t] = g
        best = larger(best, g)
    return best, lowest


@njit(cache=True, nogil=True, fastmath=FAST)
def _descend(f: Array, row_i: Array, row_j: Array, up: Array, masked: Array, step: float) -> float:
    """f -= step (K_i - K_j) on a block; returns the largest f among the points that may grow."""
    best = -MASK
    for t in range(f.shape[0]):
        g = f[t] - step * (row_i[t] - row_j[t])
        f[t] = g
        h = g + up[t]
        masked[t] = h
        best = larger(best, h)
    return best


@njit(cache=True, nogil=True)
def _partner(K: Array, S: Array, i: int) -> tuple[int, float]:
    """Second index of the working set, and the violation ``f_i - min f`` over the points that may shrink."""
    n = S.shape[1]
    f, low, diag, gain, row = S[F], S[LOW], S[DIAG], S[SCRATCH], K[i]
    best, lowest, block = -1.0, MASK, 0
    for s in range(0, n, BLOCK):
        e = min(s + BLOCK, n)
        g, v = _gains(f[s:e], low[s:e], diag[s:e], row[s:e], gain[s:e], f[i], diag[i])
        lowest = min(lowest, v)
        if g > best:
            best, block = g, s
    return block + position(gain[block : min(block + BLOCK, n)], best), -lowest


@njit(cache=True, nogil=True)
def _move(K: Array, S: Array, i: int, j: int, step: float) -> int:
    """Update f and return the next first index."""
    n = S.shape[1]
    f, up, masked, row_i, row_j = S[F], S[UP], S[SCRATCH], K[i], K[j]
    best, block = -MASK, 0
    for s in range(0, n, BLOCK):
        e = min(s + BLOCK, n)
        top = _descend(f[s:e], row_i[s:e], row_j[s:e], up[s:e], masked[s:e], step)
        if top > best:
            best, block = top, s
    return block + position(masked[block : min(block + BLOCK, n)], best)


@njit(cache=True, nogil=True)
def _snapped(S: Array, i: int, j: int, snap: float) -> bool:
    """Put b_i on its upper, else b_j on its lower bound if rounding alone keeps it off; returns whether it did."""
    if 0.0 < S[HI, i] - S[B, i] < snap:
        S[B, i] = S[HI, i]
        set_masks(S, i)
        return True
    if 0.0 < S[B, j] - S[LO, j] < snap:
        S[B, j] = S[LO, j]
        set_masks(S, j)
        return True
    return False


@njit(cache=True, nogil=True)
def pair_steps(K: Array, S: Array, tol: float, budget: int, watch: Array) -> tuple[int, float, float, bool]:
    """Take up to `budget` pair steps; returns steps, gain, violation, and whether rounding ate the last step."""
    b, hi, lo, snap = S[B], S[HI], S[LO], snap_distance(S, watch)
    i = _top(S[F], S[UP], S[SCRATCH])
    steps, gain = 0, 0.0
    while True:
        j, violation = _partner(K, S, i)
        if violation <= tol or steps >= budget:
            return steps, gain, violation, False
        curvature = max(S[DIAG, i] + S[DIAG, j] - 2.0 * K[i, j], TINY)
        slope = S[F, i] - S[F, j]
        step = min(slope / curvature, hi[i] - b[i], b[j] - lo[j])
        grown, shrunk = b[i] + step, b[j] - step
        if grown == b[i] or shrunk == b[j]:
            if not _snapped(S, i, j, snap):
                return steps, gain, violation, True
            i = _top(S[F], S[UP], S[SCRATCH])
            continue
        b[i] = hi[i] if hi[i] - grown < snap else grown
        b[j] = lo[j] if shrunk - lo[j] < snap else shrunk
        set_masks(S, i)
        set_masks(S, j)
        gain += step * (slope - 0.5 * step * curvature)
        watch[MOVED] += 2.0 * step
        i = _move(K, S, i, j, step)
        steps += 1


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
