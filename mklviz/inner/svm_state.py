"""The state of a climb of the inner SVM, and what keeps it consistent; compiled.

The state S has one column per point and one row per quantity, listed below. Points that may not grow (shrink) are
masked by a huge number that is added to them, because a branch would keep loops from being vectorised. For the same
reason maxima go through an LLVM intrinsic: numba's own does not vectorise.

What a climb remembers from one call to the next is a second array, `watch`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import config
from numba.extending import intrinsic

from mklviz.compiled import njit
from mklviz.typing import Array, Integers

# "nnan" but not "ninf": masks are finite, and a curvature of zero may still give an infinite gain
FAST = {"nnan", "nsz", "arcp", "contract", "reassoc", "afn"}

# rows of the state S
B = 0  # signed dual variables
F = 1  # gradient y - K b
LO = 2  # lower bound of b
HI = 3  # upper bound of b
DIAG = 4  # diagonal of K, with the ridge that keeps curvatures positive
UP = 5  # 0 where b may grow, else -MASK
LOW = 6  # 0 where b may shrink, else -MASK
SCRATCH = 7  # whatever a loop needs in between
LINEAR = 8  # y, the linear term
ROWS = 9

# slots of `watch`
TAKEN = 0  # pair steps taken
CREDIT = 1  # pair steps that are not yet matched by Newton steps of the same cost
LEAST = 2  # the least violation so far
IDLE = 3  # rounds without visible progress
FREE = 4  # the number of free points
MOVED = 5  # the sum of all |change of b| since f was computed
BENT = 6  # how often in a row the Newton steps of a round all met bounds
MOST = 7  # how many pair steps the climb may take
HARD = 8  # where K is hard, the ridge of each point relative to its own K_tt; else 0
SLOTS = 9

MASK = 1e300  # added to f, it takes a point out of a maximum
TINY = 1e-300  # least curvature of a pair, least pivot
FLAT = 5e-13  # half the least curvature of a pair, relative to the largest diagonal entry of K
SNAP = 1e-14  # distance to a bound, relative to the largest b, below which b is put on it
WORST = 8.0  # the worst that rounding can do, in units of what it usually does
EPS = 2.220446049250313e-16


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


larger = _extremum(">")
smaller = _extremum("<")


@njit(cache=True, nogil=True, fastmath=FAST)
def add(out: Array, scale: float, row: Array) -> None:
    for t in range(out.shape[0]):
        out[t] += scale * row[t]


@njit(cache=True, nogil=True, fastmath=FAST - {"nnan"})  # for callers who look for nan afterwards, too
def dot(a: Array, b: Array) -> float:
    total = 0.0
    for t in range(a.shape[0]):
        total += a[t] * b[t]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def position(v: Array, value: float) -> int:
    last = 0
    for t in range(v.shape[0]):  # to the end: a loop with an early exit does not vectorise
        if v[t] == value:
            last = t
    return last


@njit(cache=True, nogil=True)
def set_masks(S: Array, t: int) -> None:
    """Let point t grow only below its upper bound and shrink only above its lower bound."""
    S[UP, t] = 0.0 if S[B, t] < S[HI, t] else -MASK
    S[LOW, t] = 0.0 if S[B, t] > S[LO, t] else -MASK


@njit(cache=True, nogil=True)
def begin(K: Array, S: Array) -> None:
    """Read the diagonal of K, with the ridge that keeps curvatures positive, and set the masks from b."""
    largest = 0.0
    for t in range(S.shape[1]):
        largest = max(largest, K[t, t])
        set_masks(S, t)
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
        add(f, scale[q], K[rows[q]])


@njit(cache=True, nogil=True)
def snap_distance(S: Array, watch: Array) -> float:
    """Distance to a bound below which b is put on it: with a large C or K, all b may be smaller than rounding of C."""
    largest = 0.0
    for t in range(S.shape[1]):
        largest = max(largest, abs(S[B, t]))
    return (SNAP if watch[HARD] == 0.0 else 4.0 * EPS) * largest


@njit(cache=True, nogil=True)
def free_points(S: Array) -> Integers:
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
def ordered_sum(v: Array) -> float:
    """Sum in order: entries that cancel in pairs leave no rounding."""
    total = 0.0
    for t in range(v.shape[0]):
        total += v[t]
    return total


@njit(cache=True, nogil=True)
def absolute_sum(v: Array) -> float:
    """Sum of absolute values."""
    total = 0.0
    for t in range(v.shape[0]):
        total += abs(v[t])
    return total


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
            add(S[F], -change, K[t])
            S[B, t] = small[B, q]
            set_masks(S, t)
    for q in range(keep.size):
        S[F, keep[q]] = small[F, q]


@njit(cache=True, nogil=True)
def balance(K: Array, S: Array, total: float) -> None:
    """Give the rounding error of sum b, which is to be `total`, to the point with most room."""
    excess = ordered_sum(S[B]) - total
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
    add(S[F], old - S[B, t], K[t])
    set_masks(S, t)


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
