"""Pair and Newton steps of the inner SVM in turn, until it is solved; compiled. `mklviz.inner.svm` calls them.

Where K is hard, such as of rank one with entries of 1e8, Newton steps lead from bound to bound until one meets none: an
active-set method, in which a few pair steps free points again.
"""

from __future__ import annotations

import math

import numpy as np

from mklviz.compiled import njit
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
    SNAP,
    TAKEN,
    TINY,
    UP,
    WORST,
    B,
    F,
    absolute_sum,
    add,
    dot,
    free_points,
    larger,
    noise,
    ordered_sum,
    position,
    set_masks,
    smaller,
    snap_distance,
)
from mklviz.typing import Array, Integers

# Newton steps on the free points.
#
# A Newton step solves ``K_FF p = f_F - nu 1``, sum p = 0, on the free set F by Cholesky, bends b + p back into the box,
# and searches exactly along that step. It climbs, so the convergence of the pair steps is kept. Where K is hard p goes
# straight to the next bound instead.

RIDGE = 1e-11  # on the Newton system, relative to the mean of its diagonal
TILE = 4  # rows and columns the Cholesky factorisation takes at once
FROZEN = 1e100  # in place of a pivot lost to rounding: its variable stays where it is


@njit(cache=True, nogil=True)
def _free_system(K: Array, S: Array, free: Integers, own: float = 0.0) -> Array:
    """Lower triangle of K_FF, padded by an identity to a multiple of TILE rows; its ridge may be `own` of each K_tt."""
    size = free.size
    padded = (size + TILE - 1) // TILE * TILE
    A = np.empty((padded, padded))
    ridge = 0.0
    for p in range(size):
        ridge += S[DIAG, free[p]]
    ridge *= RIDGE / size
    for p in range(padded):
        for q in range(padded):
            A[p, q] = 0.0
        A[p, p] = 1.0
    for p in range(size):
        row, out = K[free[p]], A[p]
        for q in range(p + 1):
            out[q] = row[free[q]]
        out[p] += own * S[DIAG, free[p]] if own > 0.0 else ridge
    return A


@njit(cache=True, nogil=True, fastmath=FAST)
def _subtract_products(A: Array, p: int, q: int) -> None:
    """A_pq -= A_p: A_q:' over the columns before q, for a tile: sixteen sums that stay in registers."""
    x0, x1, x2, x3 = A[p, :q], A[p + 1, :q], A[p + 2, :q], A[p + 3, :q]
    y0, y1, y2, y3 = A[q, :q], A[q + 1, :q], A[q + 2, :q], A[q + 3, :q]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = 0.0
    for k in range(q):
        x, u, v, w, z = x0[k], y0[k], y1[k], y2[k], y3[k]
        a0, a1, a2, a3 = a0 + x * u, a1 + x * v, a2 + x * w, a3 + x * z
        x = x1[k]
        b0, b1, b2, b3 = b0 + x * u, b1 + x * v, b2 + x * w, b3 + x * z
        x = x2[k]
        c0, c1, c2, c3 = c0 + x * u, c1 + x * v, c2 + x * w, c3 + x * z
        x = x3[k]
        d0, d1, d2, d3 = d0 + x * u, d1 + x * v, d2 + x * w, d3 + x * z
    T = A[p : p + TILE, q : q + TILE]
    T[0, 0], T[0, 1], T[0, 2], T[0, 3] = T[0, 0] - a0, T[0, 1] - a1, T[0, 2] - a2, T[0, 3] - a3
    T[1, 0], T[1, 1], T[1, 2], T[1, 3] = T[1, 0] - b0, T[1, 1] - b1, T[1, 2] - b2, T[1, 3] - b3
    T[2, 0], T[2, 1], T[2, 2], T[2, 3] = T[2, 0] - c0, T[2, 1] - c1, T[2, 2] - c2, T[2, 3] - c3
    T[3, 0], T[3, 1], T[3, 2], T[3, 3] = T[3, 0] - d0, T[3, 1] - d1, T[3, 2] - d2, T[3, 3] - d3


@njit(cache=True, nogil=True)
def _factor(A: Array) -> None:
    """Cholesky factor in place, by tiles; a pivot lost to rounding freezes its variable."""
    for p in range(0, A.shape[0], TILE):
        for q in range(0, p + TILE, TILE):
            _subtract_products(A, p, q)
            for r in range(p, p + TILE):
                for c in range(q, min(q + TILE, r + 1)):
                    rest = A[r, c]
                    for k in range(q, c):
                        rest -= A[r, k] * A[c, k]
                    if c < r:
                        A[r, c] = rest / A[c, c]
                    else:
                        A[r, c] = math.sqrt(rest) if rest > TINY else FROZEN


@njit(cache=True, nogil=True)
def _substitute(A: Array, x: Array) -> None:
    """x <- (L L')^-1 x."""
    size = x.shape[0]
    for p in range(size):
        x[p] = (x[p] - dot(A[p, :p], x[:p])) / A[p, p]
    for p in range(size - 1, -1, -1):
        x[p] /= A[p, p]
        add(x[:p], -x[p], A[p, :p])


@njit(cache=True, nogil=True)
def _newton_direction(K: Array, S: Array, free: Integers, own: float) -> Array:
    """Solve K_FF p = f_F - nu 1 with sum p = 0."""
    A = _free_system(K, S, free, own)
    _factor(A)
    size = free.size
    p, ones = np.empty(size), np.empty(size)
    for q in range(size):
        p[q], ones[q] = S[F, free[q]], 1.0
    add(p, -ordered_sum(p) / size, ones)
    _substitute(A, p)
    _substitute(A, ones)
    total = ordered_sum(ones)
    if total > 0.0:
        add(p, -ordered_sum(p) / total, ones)
    if own > 0.0:  # a share of what rounding left of the sum would be too much where K_tt is large
        longest = 0
        for q in range(size):
            longest = q if abs(p[q]) > abs(p[longest]) else longest
        p[longest] -= ordered_sum(p)
        return p
    mean = ordered_sum(p) / size
    for q in range(size):
        p[q] -= mean
    return p


@njit(cache=True, nogil=True)
def _shifted(S: Array, free: Integers, p: Array, shift: float, moved: Array) -> tuple[float, int]:
    """moved <- the change of b when b + p - shift is clipped to the box; returns its sum and how many stay inside."""
    total, inside = 0.0, 0
    for q in range(free.size):
        t = free[q]
        b = S[B, t] + p[q] - shift
        clipped = min(max(b, S[LO, t]), S[HI, t])
        inside += clipped == b
        moved[q] = clipped - S[B, t]
        total += moved[q]
    return total, inside


@njit(cache=True, nogil=True)
def _bent(S: Array, free: Integers, p: Array) -> Array:
    """Step from b to the projection of b + p onto the box and the hyperplane sum b = const."""
    moved = np.empty(free.size)
    width, size, least, most = 0.0, 0.0, p[0], p[0]
    for q in range(free.size):
        t = free[q]
        width, size = max(width, S[HI, t] - S[LO, t]), max(size, abs(S[B, t]) + abs(p[q]))
        least, most = min(least, p[q]), max(most, p[q])
    shift, bottom, top = 0.0, least - width, most + width
    for trial in range(120):
        excess, inside = _shifted(S, free, p, shift, moved)
        if excess > 0.0:
            bottom = shift
        else:
            top = shift
        step = excess / max(inside, 1)
        if abs(excess) <= SNAP * min(size, width) or shift + step == shift:
            break
        shift += step
        if trial % 2 == 1 or not bottom < shift < top:
            shift = 0.5 * (bottom + top)
    return moved


@njit(cache=True, nogil=True)
def _room(S: Array, free: Integers, p: Array) -> float:
    """Largest step along p inside the box."""
    room = MASK
    for q in range(free.size):
        t = free[q]
        if p[q] != 0.0:
            room = min(room, ((S[HI, t] if p[q] > 0.0 else S[LO, t]) - S[B, t]) / p[q])
    return room


@njit(cache=True, nogil=True)
def _search(K: Array, S: Array, free: Integers, p: Array, room: float, watch: Array) -> float:
    """Exact line search along p, no further than `room`; returns the gain, 0 where p does not climb."""
    image = np.empty(S.shape[1])
    for t in range(image.size):
        image[t] = 0.0
    ascent, curvature = 0.0, 0.0
    for q in range(free.size):
        add(image, p[q], K[free[q]])
        ascent += p[q] * S[F, free[q]]
    for q in range(free.size):
        curvature += p[q] * image[free[q]]
    if not ascent > 0.0:
        return 0.0
    step = min(ascent / curvature, room) if curvature > 0.0 else room
    snap = snap_distance(S, watch)
    for q in range(free.size):
        t = free[q]
        watch[MOVED] += abs(step * p[q])
        b = S[B, t] + step * p[q]
        b = S[HI, t] if S[HI, t] - b < snap else b
        S[B, t] = S[LO, t] if b - S[LO, t] < snap else b
        set_masks(S, t)
    add(S[F], -step, image)
    return step * (ascent - 0.5 * step * curvature)


@njit(cache=True, nogil=True)
def newton_step(K: Array, S: Array, C: float, free: Integers, watch: Array) -> tuple[float, bool]:
    """One Newton step on the free set, bent along the box; returns its gain and whether it met a bound."""
    p = _newton_direction(K, S, free, watch[HARD])
    # where K_FF is singular p may be so long that b + p would forget b
    longest = TINY
    for q in range(p.size):
        longest = max(longest, abs(p[q]))
    shorter = min(1.0, 1000.0 * C / longest)
    for q in range(p.size):
        p[q] *= shorter
    room = _room(S, free, p)
    if watch[HARD] > 0.0:  # bent off a flat direction, a step may be steep, and too short to meet any bound
        return _search(K, S, free, p, room, watch), free_points(S).size < free.size
    if room >= 1.0:
        return _search(K, S, free, p, room, watch), False
    gain = _search(K, S, free, _bent(S, free, p), 1.0, watch)
    if gain == 0.0:
        gain = _search(K, S, free, p, room, watch)
    return gain, gain > 0.0


@njit(cache=True, nogil=True)
def price(n: int, free: int) -> float:
    """Cost of a Newton step on `free` of n points, in pair steps (measured)."""
    return (0.012 * free * free * free + 0.6 * free * free + 0.15 * n * free) / (150.0 + n)


# Pair steps.
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
