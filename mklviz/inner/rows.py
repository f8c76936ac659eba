"""Hinge and epsilon-insensitive losses at fixed kernel weights where the kernel is known by rows: decomposition.

    max over delta of  f_W'delta - 1/2 delta'K_WW delta,    sum delta = 0,   b_W + delta in the box,   f = linear - K b

for the points W that violate the optimality conditions most, by the inner SVM; the rows of the points that moved bring
f up to date. Points clearly at a bound are left out until the others are solved. Rows are in single precision, but
every solution is checked, and where need be corrected, by f in double precision: a wrong digit in a row costs work,
not accuracy.

References: Joachims, Making large-scale SVM learning practical (1999); Wen et al., ThunderSVM, JMLR 19 (2018), whose
working sets of a thousand points, half of them new in each round, these are.
"""

from __future__ import annotations

import numpy as np

from mklviz.compiled import njit
from mklviz.context import checkpoint, report
from mklviz.inner.interface import Inner, refuse_not_finite
from mklviz.inner.svm import InnerSvm, box_of, halves_of, signed_of, violation_unit
from mklviz.kernels import RowKernel
from mklviz.problem import Loss
from mklviz.typing import Array, Flags, Indices, Single

# Rows of a kernel in single precision, of which the least recently used give way where memory is short.
#
# Reference: Chang, Lin, LIBSVM, ACM TIST 2 (2011), section 4.2, which keeps columns of the kernel in the same way.

FEWEST = 256  # rows; with fewer, working sets are so small that solving takes for ever
AT_ONCE = 64  # rows computed together, few enough that their memory is used again and again


class RowCache:
    """The rows of one kernel that were used last.

    `store` (capacity, n) of float32: memory for so many rows; see `capacity`; `computed`: rows computed so far, those
    computed again included.
    """

    def __init__(self, kernel: RowKernel, store: Single) -> None:
        capacity, n = store.shape
        self._kernel, self.store, self.computed = kernel, store, 0
        self._slot_of = np.full(n, -1)
        self._owner = np.full(capacity, -1)
        self._last_use = np.zeros(capacity, np.int64)
        self._clock = 0

    @staticmethod
    def capacity(n: int, max_bytes: int) -> int:
        """Return how many rows of n samples fit into so many bytes: `FEWEST` whatever they are, and no more than n."""
        return min(n, max(max_bytes // (4 * n), FEWEST))

    def __len__(self) -> int:
        """Return how many rows fit."""
        return len(self._owner)

    def fetch(self, which: Indices) -> Indices:
        """Return the slots of the rows `which`, at most as many as fit, all different; missing ones are computed."""
        self._clock += 1
        slots = self._slot_of[which]
        self._last_use[slots[slots >= 0]] = self._clock
        missing = np.flatnonzero(slots < 0)
        if len(missing):
            oldest = np.argsort(self._last_use, kind="stable")[: len(missing)]
            evicted = self._owner[oldest]
            self._slot_of[evicted[evicted >= 0]] = -1
            for start in range(0, len(missing), AT_ONCE):
                some = slice(start, start + AT_ONCE)
                self.store[oldest[some]] = self._kernel.rows(which[missing[some]])
                done, n = self.computed + min(some.stop, len(missing)), len(self._slot_of)
                report(f"training an SVM on {n:,} samples", min(done / n, 1.0))  # a first one computes nearly all rows
            self._owner[oldest], self._slot_of[which[missing]] = which[missing], oldest
            self._last_use[oldest] = self._clock
            self.computed += len(missing)
            slots[missing] = oldest
        return slots


SMALLEST, LARGEST = 1024, 4096  # variables in a working set; all that are free and as many new ones where they fit
COMPACT_TO = 0.6  # share of the samples left, above which leaving the others out does not pay
REFRESHES = 8  # times f may be computed anew in double precision
EASIER = 0.1  # share of the violation to which a working set is solved
VISIBLE = 1e-10  # gain of a round, in units of sum |b|, that counts as progress
SINGLE = 0.25 * float(np.finfo(np.float32).eps)  # rounding error of an entry, which scores have of what a round moves
PATIENCE = 50  # rounds without progress after which rounding must be in the way


@njit(cache=True, nogil=True)
def _gather(store: Single, slots: Indices, columns: Indices, out: Array) -> None:
    """out[p, q] = entry columns[q] of the row in slot slots[p]; zero where the last of both is beyond the kernel."""
    inside = columns.shape[0] - 1 if columns[-1] == store.shape[1] else columns.shape[0]
    for p in range(inside):
        row = store[slots[p]]
        for q in range(inside):
            out[p, q] = row[columns[q]]
    out[inside:] = 0.0
    out[:, inside:] = 0.0


@njit(cache=True, nogil=True)
def _add_rows(store: Single, slots: Indices, factors: Array, out: Array) -> None:
    """out += sum_p factors[p] (row in slot p), some columns at a time so that they stay in the cache."""
    n = store.shape[1]
    for start in range(0, n, 2048):
        stop = min(start + 2048, n)
        some = out[start:stop]
        p = 0
        while p + 4 <= slots.shape[0]:
            r, s = store[slots[p], start:stop], store[slots[p + 1], start:stop]
            t, u = store[slots[p + 2], start:stop], store[slots[p + 3], start:stop]
            a, b, c, d = factors[p], factors[p + 1], factors[p + 2], factors[p + 3]
            for j in range(some.shape[0]):
                some[j] += (a * r[j] + b * s[j]) + (c * t[j] + d * u[j])
            p += 4
        while p < slots.shape[0]:
            r, a = store[slots[p], start:stop], factors[p]
            for j in range(some.shape[0]):
                some[j] += a * r[j]
            p += 1


class Spare:
    """Memory of rows and of working sets, used again: the system takes longer to hand it out than we to fill it."""

    def __init__(self) -> None:
        self.rows, self.square = np.zeros(0, np.float32), np.zeros(0)


class RowsInner(Inner):
    """A loss whose dual variables stand in a box, by rows. `spare`: shared by those that are solved in turn."""

    def __init__(self, loss: Loss, y: Array, spare: Spare | None = None) -> None:
        super().__init__(loss, y)
        self._box = box_of(loss, y)
        self._balance = InnerSvm(*self._box, loss.top, loss.dual_sum(y))
        self._spare = Spare() if spare is None else spare

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from `signed`, clipped to the box and balanced."""
        self._balance.set_dual(halves_of(signed, len(self._box[0])))
        self.signed = signed_of(self._balance.b, len(self._y))

    def solve(self, kernel: RowKernel, tol: float, warm: bool) -> None:
        """Solve to a violation of `tol`, as in `Inner.solve`."""
        n = len(self._y)
        if not warm:
            self.set_dual(np.zeros(n))
        places = np.arange(len(self._box[0]))
        of = np.where(places < len(places) // n * n, places % n, n)
        state = _Variables(self._loss.top, *self._box, halves_of(self.signed, len(self._box[0])), of, n)
        self._score(kernel, state)
        unit = violation_unit(self._loss, self._y, self.signed, lambda: self.scores)
        limit = tol * unit
        for _ in range(REFRESHES):
            if state.violation() <= max(limit, state.noise()):
                break
            keep = state.unsettled()
            if len(keep) <= COMPACT_TO * n:
                few = state.only(keep)
                self._climb(kernel.only(keep), few, 0.5 * limit)
                state.take(few, keep)
                state.largest, state.unseen = few.largest, few.unseen
            else:
                self._climb(kernel, state, 0.9 * limit)
            self.signed = signed_of(state.b, n)
            state.b = halves_of(self.signed, len(self._box[0]))  # of b+ and b- one at most is not zero
            self._score(kernel, state)
        self.violation = state.violation() / unit

    def _climb(self, kernel: RowKernel, state: _Variables, tol: float) -> None:
        """Bring the violation down to `tol`, or as far as single precision allows."""
        capacity, spare = RowCache.capacity(state.n, kernel.cache_bytes), self._spare
        if spare.rows.size < capacity * state.n:
            spare.rows = np.empty(capacity * state.n, np.float32)
        cache = RowCache(kernel, spare.rows[: capacity * state.n].reshape(capacity, state.n))
        last, least, idle = np.zeros(0, np.intp), np.inf, 0
        while (violation := state.violation()) > max(tol, state.noise()) and idle < PATIENCE:
            checkpoint()
            last = _working_set(state, last, len(cache) if len(cache) < state.n else len(state.b))
            if spare.square.size < len(last) ** 2:
                spare.square = np.empty(len(last) ** 2)
            square = spare.square[: len(last) ** 2].reshape(len(last), len(last))
            gain = _improve(cache, state, last, square, max(0.5 * tol, EASIER * violation, state.unseen))
            idle = 0 if violation < 0.9 * least or gain > VISIBLE * np.abs(state.b).sum() else idle + 1
            least = min(least, violation)

    def _score(self, kernel: RowKernel, state: _Variables) -> None:
        """Compute scores and value at the present point, in double precision."""
        state.scores[:-1] = self.scores = kernel.apply(self.signed)
        if not np.isfinite(self.scores).all():
            self.signed = np.zeros(len(self._y))
            refuse_not_finite(self.scores)
        linear = self._loss.dual_value(self._loss.dual_from_signed(self.signed, self._y), self._y)
        self.value = linear - 0.5 * float(self.signed @ self.scores)


class _Variables:
    """Variables b of the program, and the scores ``K beta`` of the samples they belong to.

    Variable i belongs to sample ``of[i]``; where the sum of beta is free, the last one belongs to a sample n whose
    kernel is zero.
    """

    def __init__(self, C: float, linear: Array, lower: Array, upper: Array, b: Array, of: Indices, n: int) -> None:
        self.C, self.linear, self.lower, self.upper, self.b, self.n = C, linear, lower, upper, b, n
        self.scores = np.zeros(n + 1)
        self.largest = 0.0  # diagonal entry of the kernel among those seen
        self.unseen = 0.0  # violation that single precision does not see, as far as a round has shown
        self.of = of

    @property
    def free(self) -> Flags:
        return (self.b > self.lower) & (self.b < self.upper)

    def extremes(self) -> tuple[Array, Array, float, float]:
        """Return f of those that may grow and of those that may shrink, infinite elsewhere, and its extremes."""
        f = self.linear - self.scores[self.of]
        growing = np.where(self.b < self.upper, f, -np.inf)
        shrinking = np.where(self.b > self.lower, f, np.inf)
        return growing, shrinking, float(growing.max()), float(shrinking.min())

    def violation(self) -> float:
        _, _, top, bottom = self.extremes()
        return max(top - bottom, 0.0)

    def noise(self) -> float:
        """Return the violation that rounding may feign: of the scores, in double precision, or of a round."""
        size = float(np.abs(self.linear).max()) + self.largest * float(np.abs(self.b).sum())
        return max(0.25 * float(np.finfo(float).eps) * size, self.unseen)

    def unsettled(self) -> Indices:
        """Return the samples with a variable that is free or could still leave its bound."""
        growing, shrinking, top, bottom = self.extremes()
        moving = self.free | ((growing > -np.inf) & (growing >= bottom)) | ((shrinking < np.inf) & (shrinking <= top))
        return np.unique(self.of[moving & (self.of < self.n)])

    def only(self, keep: Indices) -> _Variables:
        """Return the program in the variables of the samples `keep`, the others held."""
        mine = self._variables(keep)
        of = np.searchsorted(keep, self.of[mine])
        few = _Variables(self.C, self.linear[mine], self.lower[mine], self.upper[mine], self.b[mine], of, len(keep))
        few.scores[:-1], few.largest, few.unseen = self.scores[keep], self.largest, self.unseen
        return few

    def take(self, few: _Variables, keep: Indices) -> None:
        """Bring back what `only` gave away."""
        self.b[self._variables(keep)] = few.b

    def _variables(self, keep: Indices) -> Indices:
        return np.flatnonzero(np.isin(self.of, np.append(keep, self.n)))


def _working_set(state: _Variables, last: Indices, capacity: int) -> Indices:
    """Return the variables to solve for next: the worst from both ends, those of the last round, and the free ones."""
    growing, shrinking, top, bottom = state.extremes()
    free = state.free
    size = min(max(SMALLEST, int(free.sum()) + SMALLEST), LARGEST, len(free), capacity)
    half = min(max(size // 4 if len(last) else size // 2, 1), len(free) - 1)
    up, down = np.argpartition(-growing, half)[:half], np.argpartition(shrinking, half)[:half]
    worst = np.union1d(up[growing[up] > bottom], down[shrinking[down] < top])[:size]
    kept = np.setdiff1d(last, worst)
    kept = np.concatenate([kept[free[kept]], kept[~free[kept]]])
    others = np.setdiff1d(np.flatnonzero(free), np.concatenate([worst, kept]))
    return np.sort(np.concatenate([worst, kept, others])[:size])  # `_gather` wants order


def _improve(cache: RowCache, state: _Variables, chosen: Indices, kernel: Array, tol: float) -> float:
    """Solve for the variables `chosen`, in order, and bring all scores up to date; returns the gain.

    `kernel` is memory for the kernel between them.
    """
    samples, place = np.unique(state.of[chosen], return_inverse=True)
    slots = np.full(len(samples), -1)
    slots[samples < state.n] = cache.fetch(samples[samples < state.n])
    mine, of = slots[place], state.of[chosen]
    _gather(cache.store, mine, of, kernel)
    state.largest = max(state.largest, float(np.diag(kernel).max()))
    b, lower, upper = state.b[chosen], state.lower[chosen], state.upper[chosen]
    svm = InnerSvm(state.linear[chosen] - state.scores[of], lower - b, upper - b, state.C)
    gain = svm.solve(kernel, tol, warm=False).value
    moved = svm.b
    rounded = SINGLE * state.largest * float(np.abs(moved).sum())
    if state.violation() <= rounded:  # a move whose rounding errors exceed what it was to correct
        state.unseen = max(state.unseen, rounded)
    state.b[chosen] = np.clip(b + moved, lower, upper)
    rows = (moved != 0.0) & (mine >= 0)
    _add_rows(cache.store, mine[rows], moved[rows], state.scores[:-1])
    return gain
