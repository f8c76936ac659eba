"""The inner SVM on a precomputed kernel, in signed variables ``b = y ∘ a``, where no label logic is left.

    max  y'b - 1/2 b'K b      over  sum b = 0,  b_i between 0 and y_i C

(any linear term and any box that holds zero will do as well).

With the gradient ``f = y - K b``, b is optimal when no point that may grow (b_i < hi_i) has a larger f than a point
that may shrink (b_i > lo_i); the *violation* is the difference of the two extremes, LIBSVM's ``m(a) - M(a)`` (Fan,
Chen & Lin 2005). Pair steps and Newton steps on the free points bring it down, where K is hard from bound to bound, so
that a face is left only once it is solved; on large sets they run on a copy of K restricted to the points not clearly
at a bound, which is faster than shrinking in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from mklviz.context import checkpoint, slices
from mklviz.errors import KernelError, ProblemError
from mklviz.inner import svm_state as state
from mklviz.inner import svm_steps as steps
from mklviz.inner.conjugates import summing
from mklviz.inner.interface import Inner, refuse_not_finite
from mklviz.problem import Loss
from mklviz.typing import Array, Integers

COMPACT_TO = 0.6  # share of the points left, above which a copy of their kernel does not pay
OVERHEAD = 500  # kernel entries that could be visited while a pair step does all the rest
REFRESHES = 3  # times the gradient may be computed anew where tiny tolerances meet rounding
MOST_STEPS = 10_000_000  # pair steps of a climb, LIBSVM's limit too
LONG = 300  # pair steps of a climb, times n + 16, after which K is taken for hard
HARD_UP_TO = 1000  # points; with more, Newton steps from bound to bound may cost more than they save
HARD_CLIMBS = 50  # from bound to bound, each with a gradient computed anew; mostly one or two are needed
RIDGES = (1e-12, 1e-14)  # of their Newton systems, in turn: either finishes what the other cannot


@dataclass(frozen=True, slots=True)
class SvmResult:
    """What one solve found."""

    value: float  # dual value ``y'b - b'K b / 2``
    # intercept of the decision function ``K b + bias``: the mean of f over the free points, or the middle of the
    # interval the optimality conditions leave where none is free
    bias: float
    # violation of the optimality conditions; above the tolerance only where rounding allows no better, which is up to
    # some 2 eps (max|y| + max K_ii sum|b|), mostly a tenth of that, or with more than 1000 points after 30 million pair
    # steps
    violation: float
    # `smo_steps`, `newton_steps`: pair steps and Newton steps taken
    smo_steps: int
    newton_steps: int


class InnerSvm:
    """``max linear'b - b'K b / 2`` over sum b = total, lower <= b <= upper, again and again for changing kernels.

    The box (n,) holds zero; `C` is its largest width, of which a Newton step may be so many times as long.
    """

    compact_from, chunk = 512, 30_000_000  # points that stay in the cache as they are; entries between two checkpoints

    def __init__(self, linear: Array, lower: Array, upper: Array, C: float, total: float = 0.0) -> None:
        self.y, self.C, self._total = linear, C, total
        self._state = np.zeros((state.ROWS, linear.size))
        self._state[state.F] = self._state[state.LINEAR] = linear
        self._state[state.LO], self._state[state.HI] = lower, upper
        self._moved = 0.0  # the sum of all |change of b| since f was computed, each of which left a rounding error
        self._pairs = self._newtons = 0  # steps of this solve

    @classmethod
    def of_labels(cls, y: Array, C: float) -> Self:
        """Return the SVM of labels y (n,), +1 and -1, both present, and an upper bound C of the dual variables."""
        return cls(y, np.minimum(C * y, 0.0), np.maximum(C * y, 0.0), float(C))

    @property
    def b(self) -> Array:
        """(n,) signed dual variables ``y ∘ a``: solution of the last solve and start of the next warm one."""
        return self._state[state.B]

    @property
    def f(self) -> Array:
        """(n,) gradient ``y - K b`` at the last solution."""
        return self._state[state.F]

    def set_dual(self, b: Array) -> None:
        """Start the next warm solve from `b` (n,), clipped to the box, with the sum asked for."""
        start = np.nan_to_num(np.asarray(b, dtype=np.float64))
        if start.shape != self.y.shape:
            raise ProblemError(f"The start b has shape {start.shape}; {self.y.size} labels need {self.y.shape}.")
        low, high = self._state[state.LO], self._state[state.HI]
        self._state[state.B] = summing(np.clip(start, low, high), low, high, self._total)

    def solve(self, K: Array, tol: float, warm: bool = True, scores: Array | None = None) -> SvmResult:
        """Solve for the kernel `K` to a violation of at most `tol`.

        `K` (n, n): symmetric positive semidefinite kernel; float64 in C order is used without a copy; `tol`: largest
        violation of the optimality conditions allowed; `warm`: start from `b` rather than from zero; `scores` (n,): ``K
        b`` at the start `b`, where known; saves a product. Raises `KernelError` if K has the wrong shape or holds
        values that are not finite.
        """
        S, n = self._state, self.y.size
        K = np.ascontiguousarray(K, dtype=np.float64)
        if K.shape != (n, n):
            raise KernelError(f"The kernel has shape {K.shape}; {n} labels need the shape ({n}, {n}).")
        if not warm:
            self.set_dual(np.zeros_like(self.y))
        if scores is not None and warm:
            S[state.F] = self.y - scores
            self._moved = 0.0
        else:
            self._refresh(K)
        state.begin(K, S)
        self._pairs = self._newtons = 0
        self._converge(K, tol)
        value, bias, violation = state.summary(S)
        if not math.isfinite(value + violation):
            S[state.B] = 0.0
            refuse_not_finite(value + violation)
        return SvmResult(value, bias, violation, self._pairs, self._newtons)

    def _converge(self, K: Array, tol: float) -> None:
        """Climb until f, free of drift, meets the tolerance or cannot."""
        S, small = self._state, self.y.size <= HARD_UP_TO
        for _ in range(REFRESHES):
            self._climb(K, S, tol)
            state.balance(K, S, self._total)
            if state.noise(S, self._moved) <= 0.001 * tol:
                break
            self._refresh(K)
            if state.summary(S)[2] <= max(tol, state.noise(S, 0.0)) or (small and self._pairs > self._most):
                break
        if small:
            self._converge_hard(K, tol)

    def _converge_hard(self, K: Array, tol: float) -> None:
        """Where that is not done, climb from bound to bound until only rounding is left."""
        S = self._state
        # what f does not see of b put on a bound
        snapped = state.SNAP * float(np.abs(self.b).max() * S[state.DIAG].max())
        if snapped > max(0.1 * tol, state.WORST * state.noise(S, 0.0)):
            self._refresh(K)
        for climb in range(HARD_CLIMBS):
            if not state.summary(S)[2] > max(tol, state.WORST * state.noise(S, 0.0)):
                break
            self._climb_by_bounds(K, tol, RIDGES[climb % len(RIDGES)])

    def _climb_by_bounds(self, K: Array, tol: float, ridge: float) -> None:
        """Climb from bound to bound and compute f anew.

        Curvatures get a ridge relative to each point's own K_ii: these may differ by more than sixteen digits.
        """
        S, n = self._state, self.y.size
        diagonal = np.diag(K)
        S[state.DIAG] = (1.0 + state.FLAT) * diagonal + state.EPS * diagonal.max()
        self._refresh(K)
        watch = self._watch()
        watch[state.HARD] = ridge
        while self._advanced(K, S, tol, self.chunk // (n + OVERHEAD), False, watch):
            checkpoint()
        checkpoint()
        state.balance(K, S, self._total)
        self._refresh(K)

    def _advanced(self, K: Array, S: Array, tol: float, work: int, early: bool, watch: Array) -> bool:
        """Take the steps that so much work allows; return whether there are more to take, see `steps.advance`."""
        why, pairs, newtons = steps.advance(K, S, self.C, tol, work, early, watch)
        self._pairs, self._newtons = self._pairs + pairs, self._newtons + newtons
        return bool(why == steps.PAUSED)

    @property
    def _most(self) -> int:
        """Pair steps that a climb may take."""
        return LONG * (self.y.size + 16) if self.y.size <= HARD_UP_TO else MOST_STEPS

    def _watch(self) -> Array:
        """Return what a climb remembers, at its start."""
        watch = np.zeros(state.SLOTS)
        watch[state.LEAST], watch[state.MOVED], watch[state.MOST] = state.MASK, self._moved, self._most
        return watch

    def _refresh(self, K: Array) -> None:
        """Compute f = y - K b."""
        n, self._moved = self.y.size, 0.0
        self._state[state.F] = self.y
        for some in slices(n, max(self.chunk // n, 1)):
            state.gradient(K, self._state, some.start, some.stop)

    def _climb(self, K: Array, S: Array, tol: float) -> None:
        """Bring the state S to a violation of `tol`, or as near as rounding allows."""
        n, watch, taken = S.shape[1], self._watch(), self._pairs
        compacting = n > self.compact_from
        work = min(max(n // 8, 32) if compacting else self.chunk, self.chunk // (n + OVERHEAD))
        while self._advanced(K, S, tol, work, compacting and self._pairs - taken < 2 * n, watch):
            checkpoint()
            keep = state.unsettled(S) if compacting else np.empty(n, np.int64)
            if keep.size <= COMPACT_TO * n:
                self._moved = watch[state.MOVED]
                self._climb_compacted(K, S, keep, tol)
                watch[state.MOVED] = self._moved
        self._moved = watch[state.MOVED]

    def _climb_compacted(self, K: Array, S: Array, keep: Integers, tol: float) -> None:
        """Climb on the points `keep` alone, a little further than asked, so that the full set then needs less."""
        small_K = np.empty((keep.size, keep.size))
        for some in slices(keep.size, max(self.chunk // keep.size, 1)):
            state.gather(K, keep, small_K, some.start, some.stop)
        small_S = np.ascontiguousarray(S[:, keep])
        self._climb(small_K, small_S, 0.5 * tol)
        state.expand(K, S, keep, small_S)


# Hinge and epsilon-insensitive losses at fixed kernel weights: a quadratic program over a box, by the inner SVM.
#
# Support vector regression is an SVM on twice the samples: beta = b+ + b- with 0 <= b+ <= C, -C <= b- <= 0 and linear
# terms y - epsilon and y + epsilon. Where samples have weights, each has a C of its own. Without bias the sum of beta
# is free: one more sample, whose kernel and linear term are zero, takes up whatever is left.
#
# Reference: Smola, Schölkopf, A tutorial on support vector regression, Statistics and Computing 14 (2004).

LOST = 1e-12  # of the sum of |b| by rounding, from which on b is solved for again


def box_of(loss: Loss, y: Array) -> tuple[Array, Array, Array]:
    """Return linear term, lower and upper bounds of the program: of b or b+ and b-, then of what takes up the sum."""
    linear, signs = loss.box_program(y)
    cost = np.resize(loss.cost, len(linear))  # both variables of a sample have its own
    lower, upper = np.where(signs > 0, 0.0, -cost), np.where(signs > 0, cost, 0.0)
    if not loss.bias:
        room = loss.top * len(linear)
        linear, lower, upper = np.append(linear, 0.0), np.append(lower, -room), np.append(upper, room)
    return linear, lower, upper


def halves_of(signed: Array, size: int) -> Array:
    """Return the `size` variables of the program for signed dual variables beta."""
    n = len(signed)
    halves = [signed] if size < 2 * n else [np.maximum(signed, 0.0), np.minimum(signed, 0.0)]
    if size % n:
        halves.append(np.array([-float(signed.sum())]))
    return np.concatenate(halves)


def signed_of(halves: Array, n: int) -> Array:
    """Return signed dual variables beta (n,) of the variables of the program."""
    return halves[:n] + halves[n : 2 * n] if len(halves) >= 2 * n else halves[:n].copy()


def violation_unit(loss: Loss, y: Array, b: Array, image: Callable[[], Array]) -> float:
    """Return what the violation is measured by: half the range of the targets, or with one class ``b'Kb / 1'b``.

    `image` returns ``K b`` at the start b of a solve.
    """
    if not loss.one_class:
        return 0.5 * float(np.ptp(y))
    return float(b @ image()) / float(b.sum()) or 1.0


class BoxInner(Inner):
    """A loss whose dual variables stand in a box, on a matrix."""

    def __init__(self, loss: Loss, y: Array) -> None:
        super().__init__(loss, y)
        n = len(y)
        self._svm = InnerSvm(*box_of(loss, y), loss.top, loss.dual_sum(y))
        linear = self._svm.y
        self._kernel = np.zeros((len(linear), len(linear))) if len(linear) > n else None

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from `signed`, clipped to the box and balanced."""
        self._svm.set_dual(halves_of(signed, len(self._svm.b)))

    def solve(self, K: Array, tol: float, warm: bool) -> None:
        """Solve to a violation of `tol`, as in `Inner.solve`."""
        n = len(self._y)
        if not warm:
            self.set_dual(np.zeros(n))
        b = self._svm.b
        unit = violation_unit(self._loss, self._y, b, lambda: K @ b)
        kernel, largest = self._expanded(K), float(np.abs(b).max())
        result = self._svm.solve(kernel, tol * unit)
        if self._net(largest):
            result = self._svm.solve(kernel, tol * unit)
            self._net(0.0)
        self.violation = result.violation / unit
        self.scores = self._svm.y[:n] - self._svm.f[:n]
        if len(b) < 2 * n:
            self.value = result.value
            return
        linear_part = self._loss.dual_value(self.signed, self._y)
        self.value = linear_part - 0.5 * float(self.signed @ self.scores)

    def _net(self, largest: float) -> bool:
        """Leave b+ or b-, never both; return whether there is to be another solve, which starts from there, balanced.

        Variables that were far larger, at most `largest` at the start, leave rounding errors of their own size.
        """
        b = self._svm.b
        largest = max(largest, float(np.abs(b).max()))
        self.signed = signed_of(b, len(self._y))
        b[:] = halves_of(self.signed, len(b))
        off = abs(float(b.sum()) - self._loss.dual_sum(self._y))
        lost = max(state.EPS * largest, off) > LOST * float(np.abs(b).sum())
        if lost:
            self._svm.set_dual(b)
        return lost

    def _expanded(self, K: Array) -> Array:
        """Return K for both signs of every sample, and for the sample that takes up the sum."""
        if self._kernel is None:
            return K
        n = len(K)
        for i in range(0, len(self._kernel) - 1, n):
            checkpoint()
            for j in range(0, len(self._kernel) - 1, n):
                self._kernel[i : i + n, j : j + n] = K
        return self._kernel
