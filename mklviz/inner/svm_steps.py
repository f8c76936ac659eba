"""Compiled steps of the inner SVM; `mklviz.inner.svm` puts them together.

State S, one column per point: b, f = y - K b, the box, the diagonal of K, masks, scratch, y. Points that may not grow
(shrink) are masked by adding a huge number rather than branched on, and maxima go through an LLVM intrinsic: numba's
own does not vectorise.

- A pair step moves b_i up and b_j down: i by steepest ascent, j by second-order gain (Fan, Chen & Lin 2005, "Working
  set selection using second order information for training support vector machines", WSS2).
- A Newton step solves ``K_FF p = f_F - nu 1``, sum p = 0, on the free set F by Cholesky, bends b + p back into the
  box, and searches exactly along that step. It climbs, so the convergence of the pair steps is kept.
- Where K is hard, such as of rank one with entries of 1e8, p goes straight to the next bound instead, again and again
  until it meets none: an active-set method, in which a few pair steps free points again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import config
from numba.extending import intrinsic

from mklviz.compiled import njit
from mklviz.typing import Array, Integers

__all__ = [
    "advance",
    "balance",
    "begin",
    "expand",
    "gather",
    "gradient",
    "newton_step",
    "noise",
    "pair_steps",
    "summary",
    "unsettled",
]

# "nnan" but not "ninf": masks are finite, and a curvature of zero may still give an infinite gain
FAST = {"nnan", "nsz", "arcp", "contract", "reassoc", "afn"}
MASK = 1e300  # added to f, it takes a point out of a maximum
BLOCK = 1024  # points scanned between two looks at the running maximum
TINY = 1e-300  # least curvature of a pair, least pivot
FLAT = 5e-13  # half the least curvature of a pair, relative to the largest diagonal entry of K
RIDGE = 1e-11  # on the Newton system, relative to the mean of its diagonal
TILE = 4  # rows and columns the Cholesky factorisation takes at once
FROZEN = 1e100  # in place of a pivot lost to rounding: its variable stays where it is
SNAP = 1e-14  # distance to a bound, relative to C, below which b is put on it
SETTLED = 0.2  # relative change of the number of free points in a round, below which a Newton step pays
VISIBLE = 1e-15  # gain of a round that counts as progress, relative to y'b
RELEASED = 4  # pair steps between Newton steps where K is hard; more would undo these
LARGEST_SYSTEM = 1600  # free points in a Newton step; more would take too long between two checkpoints
WORST = 8.0  # the worst that rounding can do, in units of what it usually does
PATIENCE = 10  # rounds without visible progress before rounding is taken for the limit
EPS = 2.220446049250313e-16

# rows of the state S
B, F, LO, HI, DIAG, UP, LOW, SCRATCH, LINEAR = range(9)
# what a climb remembers between calls: pair steps, those not yet matched by Newton steps of the same cost, the least
# violation, rounds without progress, the number of free points, the sum of all |change of b| since f was computed, how
# often in a row the Newton steps of a round all met bounds; how many pair steps it may take, and where K is hard the
# ridge of each point relative to its own K_tt, else 0
TAKEN, CREDIT, LEAST, IDLE, FREE, MOVED, BENT, MOST, HARD = range(9)
# why `advance` came back
SOLVED, PAUSED, STUCK = range(3)


def _extremum(comparison: str) -> Any:
    """Return a compiled two-argument max (">") or min ("<") that LLVM can vectorise; numba's own cannot."""
    if config.DISABLE_JIT:  # an intrinsic has no body that Python could run
        return max if comparison == ">" else min

    @intrinsic
    def extremum(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first = builder.fcmp_ordered(comparison, args[0], args[1], flags=("fast",))
            return builder.select(first, args[0], args[1], flags=("fast",))

        return a(a, a), generate

    return extremum


_max = _extremum(">")
_min = _extremum("<")


@njit(cache=True, nogil=True, fastmath=FAST)
def _add(out: Array, scale: float, row: Array) -> None:
    for t in range(out.shape[0]):
        out[t] += scale * row[t]


@njit(cache=True, nogil=True, fastmath=FAST)
def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for t in range(a.shape[0]):
        total += a[t] * b[t]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def _position(v: Array, value: float) -> int:
    last = 0
    for t in range(v.shape[0]):  # to the end: a loop with an early exit does not vectorise
        if v[t] == value:
            last = t
    return last


@njit(cache=True, nogil=True)
def _mask(S: Array, t: int) -> None:
    """Let point t grow only below its upper bound and shrink only above its lower bound."""
    S[UP, t] = 0.0 if S[B, t] < S[HI, t] else -MASK
    S[LOW, t] = 0.0 if S[B, t] > S[LO, t] else -MASK


@njit(cache=True, nogil=True)
def begin(K: Array, S: Array) -> None:
    """Read the diagonal of K, with the ridge that keeps curvatures positive, and set the masks from b."""
    largest = 0.0
    for t in range(S.shape[1]):
        largest = max(largest, K[t, t])
        _mask(S, t)
    for t in range(S.shape[1]):
        S[DIAG, t] = K[t, t] + FLAT * largest


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_four(out: Array, scale: Array, a: Array, b: Array, c: Array, d: Array) -> None:
    s0, s1, s2, s3 = scale[0], scale[1], scale[2], scale[3]
    for t in range(out.shape[0]):
        out[t] += s0 * a[t] + s1 * b[t] + s2 * c[t] + s3 * d[t]


@njit(cache=True, nogil=True)
def gradient(K: Array, S: Array, first: int, last: int) -> None:
    """f -= K b over the rows first..last of K, skipping the zeros of b."""
    f = S[F]
    rows, scale = np.empty(4, np.int64), np.empty(4)
    held = 0
    for t in range(first, last):
        if S[B, t] != 0.0:
            rows[held], scale[held] = t, -S[B, t]
            held += 1
        if held == 4:  # four rows at once: f is read and written once, and memory keeps four streams going
            _add_four(f, scale, K[rows[0]], K[rows[1]], K[rows[2]], K[rows[3]])
            held = 0
    for q in range(held):
        _add(f, scale[q], K[rows[q]])


@njit(cache=True, nogil=True, fastmath=FAST)
def _top(f: Array, up: Array, scratch: Array) -> int:
    """Index of the steepest point that may grow."""
    best = -MASK
    for t in range(f.shape[0]):
        scratch[t] = f[t] + up[t]
        best = _max(best, scratch[t])
    return _position(scratch, best)


@njit(cache=True, nogil=True, fastmath=FAST)
def _gains(f: Array, low: Array, diag: Array, row: Array, gain: Array, fi: float, kii: float) -> tuple[float, float]:
    """Second-order gain of pairing i with each point of a block; returns the best gain and the least f - f_i."""
    best = -1.0
    lowest = MASK
    for t in range(f.shape[0]):
        slope = fi - f[t] + low[t]
        lowest = _min(lowest, -slope)
        curvature = _max(kii + diag[t] - 2.0 * row[t], TINY)
        rise = _max(slope, 0.0)
        g = rise * rise / curvature
        gain[t] = g
        best = _max(best, g)
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
        best = _max(best, h)
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
    return block + _position(gain[block : min(block + BLOCK, n)], best), -lowest


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
    return block + _position(masked[block : min(block + BLOCK, n)], best)


@njit(cache=True, nogil=True)
def _snapped(S: Array, i: int, j: int, snap: float) -> bool:
    """Put b_i on its upper, else b_j on its lower bound if rounding alone keeps it off; returns whether it did."""
    if 0.0 < S[HI, i] - S[B, i] < snap:
        S[B, i] = S[HI, i]
        _mask(S, i)
        return True
    if 0.0 < S[B, j] - S[LO, j] < snap:
        S[B, j] = S[LO, j]
        _mask(S, j)
        return True
    return False


@njit(cache=True, nogil=True)
def _snap(S: Array, C: float, watch: Array) -> float:
    """Distance to a bound below which b is put on it; where K is hard, all b may be smaller than rounding of C."""
    if watch[HARD] == 0.0:
        return SNAP * C
    largest = 0.0
    for t in range(S.shape[1]):
        largest = max(largest, abs(S[B, t]))
    return 4.0 * EPS * largest


@njit(cache=True, nogil=True)
def pair_steps(K: Array, S: Array, C: float, tol: float, budget: int, watch: Array) -> tuple[int, float, float, bool]:
    """Take up to `budget` pair steps; returns steps, gain, violation, and whether rounding ate the last step."""
    b, hi, lo, snap = S[B], S[HI], S[LO], _snap(S, C, watch)
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
        _mask(S, i)
        _mask(S, j)
        gain += step * (slope - 0.5 * step * curvature)
        watch[MOVED] += 2.0 * step
        i = _move(K, S, i, j, step)
        steps += 1


@njit(cache=True, nogil=True)
def _free(S: Array) -> Integers:
    """Points strictly between their bounds."""
    n = S.shape[1]
    free = np.empty(n, np.int64)
    count = 0
    for t in range(n):
        if S[LO, t] < S[B, t] < S[HI, t]:
            free[count] = t
            count += 1
    return free[:count]


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
        x[p] = (x[p] - _dot(A[p, :p], x[:p])) / A[p, p]
    for p in range(size - 1, -1, -1):
        x[p] /= A[p, p]
        _add(x[:p], -x[p], A[p, :p])


@njit(cache=True, nogil=True)
def _sum(v: Array) -> float:
    """Sum in order: entries that cancel in pairs leave no rounding."""
    total = 0.0
    for t in range(v.shape[0]):
        total += v[t]
    return total


@njit(cache=True, nogil=True)
def _size(v: Array) -> float:
    """Sum of absolute values."""
    total = 0.0
    for t in range(v.shape[0]):
        total += abs(v[t])
    return total


@njit(cache=True, nogil=True)
def _newton_direction(K: Array, S: Array, free: Integers, own: float) -> Array:
    """Solve K_FF p = f_F - nu 1 with sum p = 0."""
    A = _free_system(K, S, free, own)
    _factor(A)
    size = free.size
    p, ones = np.empty(size), np.empty(size)
    for q in range(size):
        p[q], ones[q] = S[F, free[q]], 1.0
    _add(p, -_sum(p) / size, ones)
    _substitute(A, p)
    _substitute(A, ones)
    total = _sum(ones)
    if total > 0.0:
        _add(p, -_sum(p) / total, ones)
    if own > 0.0:  # a share of what rounding left of the sum would be too much where K_tt is large
        longest = 0
        for q in range(size):
            longest = q if abs(p[q]) > abs(p[longest]) else longest
        p[longest] -= _sum(p)
        return p
    mean = _sum(p) / size
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
    width, least, most = 0.0, p[0], p[0]
    for q in range(free.size):
        t = free[q]
        width = max(width, S[HI, t] - S[LO, t])
        least, most = min(least, p[q]), max(most, p[q])
    shift, bottom, top = 0.0, least - width, most + width
    for trial in range(120):
        excess, inside = _shifted(S, free, p, shift, moved)
        if excess > 0.0:
            bottom = shift
        else:
            top = shift
        step = excess / max(inside, 1)
        if abs(excess) <= SNAP * width or shift + step == shift:
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
def _search(K: Array, S: Array, C: float, free: Integers, p: Array, room: float, watch: Array) -> float:
    """Exact line search along p, no further than `room`; returns the gain, 0 where p does not climb."""
    image = np.empty(S.shape[1])
    for t in range(image.size):
        image[t] = 0.0
    ascent, curvature = 0.0, 0.0
    for q in range(free.size):
        _add(image, p[q], K[free[q]])
        ascent += p[q] * S[F, free[q]]
    for q in range(free.size):
        curvature += p[q] * image[free[q]]
    if not ascent > 0.0:
        return 0.0
    step = min(ascent / curvature, room) if curvature > 0.0 else room
    snap = _snap(S, C, watch)
    for q in range(free.size):
        t = free[q]
        watch[MOVED] += abs(step * p[q])
        b = S[B, t] + step * p[q]
        b = S[HI, t] if S[HI, t] - b < snap else b
        S[B, t] = S[LO, t] if b - S[LO, t] < snap else b
        _mask(S, t)
    _add(S[F], -step, image)
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
        return _search(K, S, C, free, p, room, watch), _free(S).size < free.size
    if room >= 1.0:
        return _search(K, S, C, free, p, room, watch), False
    gain = _search(K, S, C, free, _bent(S, free, p), 1.0, watch)
    if gain == 0.0:
        gain = _search(K, S, C, free, p, room, watch)
    return gain, gain > 0.0


@njit(cache=True, nogil=True)
def noise(S: Array, moved: float) -> float:
    """Violation that rounding feigns: errors of K b, and of bringing f up to date when b moved by `moved` in all.

    Errors seldom add up to the worst case, which is `WORST` times that.
    """
    largest, linear, size = 0.0, 0.0, 0.0
    for t in range(S.shape[1]):
        largest, linear = max(largest, S[DIAG, t]), max(linear, abs(S[LINEAR, t]))
        size += math.sqrt(S[DIAG, t]) * abs(S[B, t])
    return 2.0 / WORST * EPS * (linear + math.sqrt(largest) * size + largest * moved)


@njit(cache=True, nogil=True)
def _stalled(S: Array, gain: float, violation: float, watch: Array) -> bool:
    """Whether PATIENCE rounds have brought no progress that rounding lets us see, or steps have run out."""
    if gain > VISIBLE * _size(S[B]) or violation < 0.8 * watch[LEAST]:
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
            K, S, C, max(tol, noise(S, watch[MOVED])), min(budget, work - pairs), watch
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
            free = _free(S)
            price = _price(n, free.size)
            settled = abs(free.size - watch[FREE]) <= SETTLED * free.size or (bends > 0.0 and watch[BENT] > 0.0)
            watch[FREE] = free.size
            worthwhile = watch[HARD] > 0.0 or (settled and not early and watch[CREDIT] > price)
            if not (blocked or worthwhile) or not 2 <= free.size <= LARGEST_SYSTEM or pairs + spent >= work:
                break
            newtons += 1
            watch[CREDIT] -= price
            spent += price
            watch[TAKEN] += price if watch[HARD] > 0.0 else 0.0
            climbed, bent = newton_step(K, S, C, free, watch)
            gain += climbed
            if not bent:
                watch[BENT] = max(watch[BENT] - 1.0, 0.0)
                break
            bends += 1.0
        if bends >= most:
            watch[BENT] = min(watch[BENT] + 1.0, 50.0)
        budget = max(n // 4, 16, int(min(price, 20.0 * n))) if watch[HARD] == 0.0 else RELEASED
    return PAUSED, pairs, newtons


@njit(cache=True, nogil=True)
def _price(n: int, free: int) -> float:
    """Cost of a Newton step on `free` of n points, in pair steps (measured)."""
    return (0.012 * free * free * free + 0.6 * free * free + 0.15 * n * free) / (150.0 + n)


@njit(cache=True, nogil=True)
def unsettled(S: Array) -> Integers:
    """Points that are free or could still leave their bound: all but those beyond both extremes of f."""
    n = S.shape[1]
    top, bottom = -MASK, MASK
    for t in range(n):
        top, bottom = max(top, S[F, t] + S[UP, t]), min(bottom, S[F, t] - S[LOW, t])
    keep = np.empty(n, np.int64)
    count = 0
    for t in range(n):
        growable, shrinkable = S[UP, t] == 0.0, S[LOW, t] == 0.0
        if (growable and (shrinkable or S[F, t] >= bottom)) or (not growable and S[F, t] <= top):
            keep[count] = t
            count += 1
    return keep[:count]


@njit(cache=True, nogil=True)
def gather(K: Array, keep: Integers, small: Array, first: int, last: int) -> None:
    """Rows first..last of the kernel restricted to the points `keep`."""
    for p in range(first, last):
        row, out = K[keep[p]], small[p]
        for q in range(keep.size):
            out[q] = row[keep[q]]


@njit(cache=True, nogil=True)
def expand(K: Array, S: Array, keep: Integers, small: Array) -> None:
    """Bring the solution of the compacted problem back, and the gradient of all points up to date."""
    for q in range(keep.size):
        t = keep[q]
        change = small[B, q] - S[B, t]
        if change != 0.0:
            _add(S[F], -change, K[t])
            S[B, t] = small[B, q]
            _mask(S, t)
    for q in range(keep.size):
        S[F, keep[q]] = small[F, q]


@njit(cache=True, nogil=True)
def balance(K: Array, S: Array) -> None:
    """Give the rounding error of sum b to the point with most room."""
    excess = _sum(S[B])
    if excess == 0.0:
        return
    t, most = S.shape[1] - 1, -1.0
    for i in range(S.shape[1]):
        room = min(S[HI, i] - S[B, i], S[B, i] - S[LO, i])
        if room > most:
            t, most = i, room
    old = S[B, t]
    if min(S[HI, t] - old, old - S[LO, t]) <= abs(excess):  # all are at bounds, and stay there
        return
    S[B, t] = old - excess
    _add(S[F], old - S[B, t], K[t])
    _mask(S, t)


@njit(cache=True, nogil=True)
def summary(S: Array) -> tuple[float, float, float]:
    """Value, bias and violation of the present b."""
    value, total, count = 0.0, 0.0, 0
    top, bottom = -MASK, MASK
    for t in range(S.shape[1]):
        b, f = S[B, t], S[F, t]
        value += 0.5 * b * (S[LINEAR, t] + f)
        if b < S[HI, t]:
            top = max(top, f)
        if b > S[LO, t]:
            bottom = min(bottom, f)
        if S[LO, t] < b < S[HI, t]:
            total += f
            count += 1
    bias = total / count if count > 0 else 0.5 * (top + bottom)
    return value, bias, max(top - bottom, 0.0)
