"""The inner SVM on a precomputed kernel, in signed variables ``b = y ∘ a``, where no label logic is left.

    max  y'b - 1/2 b'K b      over  sum b = 0,  b_i between 0 and y_i C

With the gradient ``f = y - K b``, b is optimal when no point that may grow (b_i < hi_i) has a larger f than a
point that may shrink (b_i > lo_i); the *violation* is the difference of the two extremes, LIBSVM's ``m(a) - M(a)``.
Three movements climb, each of them monotone:

- a pair step: first index by steepest ascent, second by second-order gain (Fan, Chen & Lin 2005, "Working set
  selection using second order information", WSS2);
- a Newton step on the free set: solve ``K_FF p = f_F - nu 1`` by Cholesky, exact line search clipped to the box.

Masks are added rather than branched on and maxima go through an LLVM intrinsic, so that the loops vectorise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numba.extending import intrinsic
from numpy.typing import NDArray

from mklviz.errors import ProblemError

__all__ = ["InnerSvm", "SvmResult"]

Array = NDArray[np.float64]

# "nnan" but not "ninf": masks are finite, and a curvature of zero may still give an infinite gain
FAST = {"nnan", "nsz", "arcp", "contract", "reassoc", "afn"}
MASK = 1e300  # added to f, it takes a point out of a maximum
BLOCK = 256  # points scanned between two looks at the running maximum
RIDGE = 1e-11  # on the Newton system, relative to the mean of its diagonal
PATIENCE = 10  # rounds without visible progress before rounding is taken for the limit
SNAP = 1e-14  # distance to a bound, relative to C, below which b is put on it

# rows of the state array S, one column per point
B, F, LO, HI, DIAG, UP, LOW, SCRATCH = range(8)

# why `_advance` came back
SOLVED, PAUSED, STUCK = range(3)


def _extremum(comparison: str) -> Any:
    """Return a compiled two-argument max (">") or min ("<") that LLVM can vectorise; numba's own cannot."""

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
    for t in range(v.shape[0]):
        if v[t] == value:
            return t
    return 0


@njit(cache=True, nogil=True)
def _mask(S: Array, t: int) -> None:
    """Let point t grow only below its upper bound and shrink only above its lower bound."""
    S[UP, t] = 0.0 if S[B, t] < S[HI, t] else -MASK
    S[LOW, t] = 0.0 if S[B, t] > S[LO, t] else -MASK


@njit(cache=True, nogil=True)
def _begin(K: Array, S: Array) -> None:
    """Read the diagonal of K and set the masks from b."""
    for t in range(S.shape[1]):
        S[DIAG, t] = K[t, t]
        _mask(S, t)


@njit(cache=True, nogil=True)
def _gradient(K: Array, S: Array, first: int, last: int) -> None:
    """f -= K b over the rows first..last of K, skipping the zeros of b."""
    f = S[F]
    for t in range(first, last):
        if S[B, t] != 0.0:
            _add(f, -S[B, t], K[t])


@njit(cache=True, nogil=True, fastmath=FAST)
def _top(f: Array, up: Array, scratch: Array) -> int:
    """Index of the steepest point that may grow."""
    best = -MASK
    for t in range(f.shape[0]):
        scratch[t] = f[t] + up[t]
        best = _max(best, scratch[t])
    return _position(scratch, best)


@njit(cache=True, nogil=True, fastmath=FAST)
def _gains(
    f: Array, low: Array, diag: Array, row: Array, gain: Array, fi: float, kii: float, floor: float
) -> tuple[float, float]:
    """Second-order gain of pairing i with each point of a block; returns the best gain and the least f - f_i."""
    best = -1.0
    lowest = MASK
    for t in range(f.shape[0]):
        slope = fi - f[t] + low[t]
        lowest = _min(lowest, -slope)
        curvature = _max(kii + diag[t] - 2.0 * row[t], floor)
        slope = _max(slope, 0.0)
        gain[t] = slope * slope / curvature
        best = _max(best, gain[t])
    return best, lowest


@njit(cache=True, nogil=True, fastmath=FAST)
def _descend(f: Array, row_i: Array, row_j: Array, up: Array, masked: Array, step: float) -> float:
    """f -= step (K_i - K_j) on a block; returns the largest f among the points that may grow."""
    best = -MASK
    for t in range(f.shape[0]):
        f[t] -= step * (row_i[t] - row_j[t])
        masked[t] = f[t] + up[t]
        best = _max(best, masked[t])
    return best


@njit(cache=True, nogil=True)
def _partner(K: Array, S: Array, i: int, floor: float) -> tuple[int, float]:
    """Second index of the working set, and the violation ``f_i - min f`` over the points that may shrink."""
    n = S.shape[1]
    f, low, diag, gain, row = S[F], S[LOW], S[DIAG], S[SCRATCH], K[i]
    best, lowest, block = -1.0, MASK, 0
    for s in range(0, n, BLOCK):
        e = min(s + BLOCK, n)
        g, v = _gains(f[s:e], low[s:e], diag[s:e], row[s:e], gain[s:e], f[i], diag[i], floor)
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
def _pair_steps(K: Array, S: Array, C: float, tol: float, budget: int) -> tuple[int, float, bool]:
    """Take up to `budget` pair steps; returns steps, violation, and whether rounding ate the last step."""
    b, hi, lo, snap = S[B], S[HI], S[LO], SNAP * C
    floor = max(1e-12 * S[DIAG].max(), 1e-300)
    i = _top(S[F], S[UP], S[SCRATCH])
    steps = 0
    while True:
        j, violation = _partner(K, S, i, floor)
        if violation <= tol or steps >= budget:
            return steps, violation, False
        curvature = max(S[DIAG, i] + S[DIAG, j] - 2.0 * K[i, j], floor)
        step = min((S[F, i] - S[F, j]) / curvature, hi[i] - b[i], b[j] - lo[j])
        grown, shrunk = b[i] + step, b[j] - step
        if grown == b[i] or shrunk == b[j]:
            return steps, violation, True
        b[i] = hi[i] if hi[i] - grown < snap else grown
        b[j] = lo[j] if shrunk - lo[j] < snap else shrunk
        _mask(S, i)
        _mask(S, j)
        i = _move(K, S, i, j, step)
        steps += 1


@njit(cache=True, nogil=True)
def _free(S: Array) -> NDArray[np.int64]:
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
def _newton_system(K: Array, S: Array, free: NDArray[np.int64]) -> Array:
    """Lower triangle of K_FF with its ridge."""
    size = free.size
    A = np.empty((size, size))
    ridge = RIDGE * S[DIAG][free].mean()
    for p in range(size):
        row = K[free[p]]
        for q in range(p + 1):
            A[p, q] = row[free[q]]
        A[p, p] += ridge
    return A


@njit(cache=True, nogil=True)
def _factor(A: Array, first: int, last: int) -> None:
    """Rows first..last of the Cholesky factor, in place; a vanishing pivot freezes its variable."""
    for p in range(first, last):
        row = A[p]
        diagonal = row[p]
        for q in range(p):
            row[q] = (row[q] - _dot(row[:q], A[q, :q])) / A[q, q]
        pivot = diagonal - _dot(row[:p], row[:p])
        row[p] = math.sqrt(pivot) if pivot > 1e-14 * diagonal else 1e100


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
def _newton_direction(S: Array, free: NDArray[np.int64], A: Array) -> Array:
    """Solve K_FF p = f_F - nu 1 with sum p = 0."""
    p = S[F][free]
    p -= p.mean()
    ones = np.ones(free.size)
    _substitute(A, p)
    _substitute(A, ones)
    total = ones.sum()
    if total > 0.0:
        p -= (p.sum() / total) * ones
    return p - p.mean()


@njit(cache=True, nogil=True)
def _clip(S: Array, free: NDArray[np.int64], p: Array, step: float) -> tuple[float, int]:
    """Largest step up to `step` inside the box, and the position in `free` it stops at (-1 for none)."""
    hit = -1
    for q in range(free.size):
        t = free[q]
        if p[q] != 0.0:
            room = ((S[HI, t] if p[q] > 0.0 else S[LO, t]) - S[B, t]) / p[q]
            if room < step:
                step, hit = room, q
    return step, hit


@njit(cache=True, nogil=True)
def _newton_move(K: Array, S: Array, C: float, free: NDArray[np.int64], p: Array) -> int:
    """Exact line search along p, clipped to the box; returns the hit, -1 for none or -2 for no ascent."""
    image = np.zeros(S.shape[1])
    ascent = 0.0
    for q in range(free.size):
        _add(image, p[q], K[free[q]])
        ascent += p[q] * S[F, free[q]]
    if not ascent > 0.0:
        return -2
    curvature = 0.0
    for q in range(free.size):
        curvature += p[q] * image[free[q]]
    step, hit = _clip(S, free, p, ascent / curvature if curvature > 0.0 else MASK)
    for q in range(free.size):
        t = free[q]
        b = S[B, t] + step * p[q]
        if q == hit or S[HI, t] - b < SNAP * C or b - S[LO, t] < SNAP * C:
            b = S[HI, t] if p[q] > 0.0 else S[LO, t]
        S[B, t] = b
        _mask(S, t)
    _add(S[F], -step, image)
    return hit


@njit(cache=True, nogil=True)
def _newton(K: Array, S: Array, C: float, most: int) -> int:
    """Up to four Newton steps on the free set, which shrinks at each bound hit; returns how many."""
    for count in range(4):
        free = _free(S)
        if free.size < 2 or free.size > most:
            return count
        A = _newton_system(K, S, free)
        _factor(A, 0, free.size)
        hit = _newton_move(K, S, C, free, _newton_direction(S, free, A))
        if hit < 0:
            return count + (hit == -1)
    return 4


@njit(cache=True, nogil=True)
def _stalled(S: Array, violation: float, watch: Array) -> bool:
    """Whether PATIENCE rounds have brought no progress that rounding lets us see; `watch` remembers the best."""
    value = 0.0
    for t in range(S.shape[1]):
        value += S[B, t] * ((1.0 if S[HI, t] > 0.0 else -1.0) + S[F, t])
    if value > watch[0] + 1e-13 * abs(watch[0]) or violation < 0.8 * watch[1]:
        watch[2] = 0.0
    watch[0], watch[1] = max(value, watch[0]), min(violation, watch[1])
    watch[2] += 1.0
    return watch[2] > PATIENCE


@njit(cache=True, nogil=True)
def _advance(K: Array, S: Array, C: float, tol: float, work: int, watch: Array) -> tuple[int, int, int]:
    """Pair and Newton steps until solved, stuck, or `work` pair steps; returns why and how many of each."""
    n = S.shape[1]
    pairs, newtons, budget = 0, 0, n
    while pairs < work:
        steps, violation, blocked = _pair_steps(K, S, C, tol, min(budget, work - pairs))
        pairs += steps
        if violation <= tol:
            return SOLVED, pairs, newtons
        if _stalled(S, violation, watch):
            return STUCK, pairs, newtons
        # a Newton step costs as much as `price` pair steps: spend about as much on each
        size = _free(S).size
        price = (size**3 / 3.0 + 2.0 * n * size) / (10.0 * n + 800.0)
        if blocked or pairs > price:
            newtons += _newton(K, S, C, 1000)
        budget = max(n // 4, int(min(price, 20.0 * n)))
    return PAUSED, pairs, newtons


@njit(cache=True, nogil=True)
def _balance(K: Array, S: Array) -> None:
    """Give the rounding error of sum b to the point with most room."""
    excess = S[B].sum()
    if excess == 0.0:
        return
    t = np.argmax(np.minimum(S[HI] - S[B], S[B] - S[LO]))
    old = S[B, t]
    S[B, t] = min(max(old - excess, S[LO, t]), S[HI, t])
    _add(S[F], old - S[B, t], K[t])
    _mask(S, t)


@njit(cache=True, nogil=True)
def _summary(S: Array) -> tuple[float, float, float]:
    """Value, bias and violation of the present b."""
    value, total, count = 0.0, 0.0, 0
    top, bottom = -MASK, MASK
    for t in range(S.shape[1]):
        b, f = S[B, t], S[F, t]
        y = 1.0 if S[HI, t] > 0.0 else -1.0
        value += 0.5 * b * (y + f)
        if b < S[HI, t]:
            top = max(top, f)
        if b > S[LO, t]:
            bottom = min(bottom, f)
        if S[LO, t] < b < S[HI, t]:
            total += f
            count += 1
    bias = total / count if count > 0 else 0.5 * (top + bottom)
    return value, bias, max(top - bottom, 0.0)


@dataclass(frozen=True, slots=True)
class SvmResult:
    """What one solve found.

    Attributes
    ----------
    value : float
        Dual value ``y'b - b'K b / 2``.
    bias : float
        Intercept of the decision function ``K b + bias``: the mean of f over the free points, or the middle of
        the interval the optimality conditions leave where none is free.
    violation : float
        Violation of the optimality conditions; above the tolerance only where rounding allows no better.
    smo_steps, newton_steps : int
        Pair steps and Newton steps taken.
    """

    value: float
    bias: float
    violation: float
    smo_steps: int
    newton_steps: int


class InnerSvm:
    """One SVM training set, solved again and again for changing kernels from the last solution.

    Parameters
    ----------
    y : (n,) array
        Labels, +1 and -1, both present.
    C : float
        Upper bound of the dual variables, positive.

    Attributes
    ----------
    b : (n,) array
        Signed dual variables ``y ∘ a``: the start of the next warm solve and the solution of the last one.
    f : (n,) array
        Gradient ``y - K b`` at the last solution.

    Raises
    ------
    ProblemError
        If a label is neither +1 nor -1, a class is empty, or C is not a positive number.
    """

    def __init__(self, y: Array, C: float) -> None:
        y = np.ascontiguousarray(y, dtype=np.float64)
        if y.ndim != 1 or not np.all(np.abs(y) == 1.0):
            raise ProblemError("The labels y must be a vector of +1 and -1; map the two classes to them.")
        if y.min(initial=1.0) == y.max(initial=-1.0) or y.size < 2:
            raise ProblemError(
                f"All {y.size} labels are of one class; an SVM needs points of both classes, +1 and -1."
            )
        if not (math.isfinite(C) and C > 0.0):
            raise ProblemError(f"C is {C}; it must be a positive finite number.")
        self.y, self.C = y, float(C)
        self._state = np.zeros((8, y.size))
        self._state[HI] = np.where(y > 0.0, self.C, 0.0)
        self._state[LO] = np.where(y > 0.0, 0.0, -self.C)
        self._state[F] = y

    @property
    def b(self) -> Array:
        return self._state[B]

    @property
    def f(self) -> Array:
        return self._state[F]

    def set_dual(self, b: Array) -> None:
        """Start the next solve from `b` (n,), clipped to the box, the heavier class scaled to sum b = 0."""
        start = np.clip(np.nan_to_num(np.asarray(b, dtype=np.float64)), self._state[LO], self._state[HI])
        positive, negative = start[start > 0.0].sum(), -start[start < 0.0].sum()
        if positive > negative:
            start[start > 0.0] *= negative / positive
        elif negative > positive:
            start[start < 0.0] *= positive / negative
        self._state[B] = start

    def solve(
        self, K: Array, tol: float, warm: bool = True, checkpoint: Callable[[], None] | None = None
    ) -> SvmResult:
        """Solve for the kernel `K` to a violation of at most `tol`.

        Parameters
        ----------
        K : (n, n) array
            Symmetric positive semidefinite kernel, float64 in C order.
        tol : float
            Largest violation of the optimality conditions allowed.
        warm : bool
            Start from `b` rather than from zero.
        checkpoint : callable, optional
            Called every few hundredths of a second at most; what it raises leaves `b` feasible.

        Returns
        -------
        SvmResult
        """
        S = self._state
        n = S.shape[1]
        K = np.ascontiguousarray(K, dtype=np.float64)
        if K.shape != (n, n):
            raise ProblemError(f"The kernel has shape {K.shape}; {n} labels need the shape ({n}, {n}).")
        if not warm:
            S[B] = 0.0
        S[F] = self.y
        _gradient(K, S, 0, n)
        _begin(K, S)
        pairs = newtons = 0
        watch = np.array([-MASK, MASK, 0.0])
        why = PAUSED
        while why == PAUSED:
            why, p, q = _advance(K, S, self.C, tol, 20_000_000 // (n + 100), watch)
            pairs, newtons = pairs + p, newtons + q
            if checkpoint is not None:
                checkpoint()
        _balance(K, S)
        value, bias, violation = _summary(S)
        return SvmResult(value, bias, violation, pairs, newtons)
