"""The problem at fixed kernel weights where K_d = Z diag(w) Z' has few columns R: nothing of size n by n is formed.

    hinge      dual coordinate steps on the samples that matter, between exact looks at all of them

"Solved to `tol`" means what `mklviz.inner.choice.Inner` says; beta is feasible and the scores are K_d beta as the
stored factors give it.

Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale linear SVM,
ICML 2008.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import cho_solve

from mklviz.compiled import njit
from mklviz.context import checkpoint
from mklviz.inner.blocked import cholesky
from mklviz.inner.conjugates import balanced
from mklviz.kernels.storage.disk import release
from mklviz.kernels.storage.passes import Factors, at, decisions, each, joined, pieces, projections, runs_of
from mklviz.problem import Hinge
from mklviz.typing import Array, Indices, Integers

# Coordinate steps on the dual of a support vector machine whose kernel is K = Z diag(w) Z', with Z (n, R).
#
#   beta_i <- clip(beta_i + (y_i - f_i - b) / (K_ii + rho)),      f_i = Z_i'g,   g = w o Z'beta,   b = b_0 + rho 1'beta
#
# Each step maximises exactly in one variable and costs one row of Z to read. The bias enters as an augmented
# Lagrangian: b_0 is moved in between, until 1'beta = 0 holds by itself.
#
# Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale linear SVM,
# ICML 2008, algorithm 1. C (n,) holds what each variable may be as large as.

FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}


@njit(cache=True, nogil=True, fastmath=FAST)
def _diagonal(Z: Factors, w: Array, runs: Integers, q: Array) -> None:
    """q_i = sum over r of w_r Z_ir^2, the diagonal of K."""
    for i in range(Z.shape[0]):
        total = 0.0
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], w[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                total += part[r] * z[r] * z[r]
        q[i] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _sweep(
    Z: Factors,
    order: Indices,
    y: Array,
    C: Array,
    q: Array,
    rho: float,
    w: Array,
    runs: Integers,
    g: Array,
    beta: Array,
    state: Array,
) -> None:
    """Step once in every variable of `order`; state holds b_0, 1'beta and what the dual objective gained."""
    offset, total, gain = state[0], state[1], state[2]
    for i in order:
        f = offset + rho * total
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], g[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                f += z[r] * part[r]
        slope, bend = y[i] - f, q[i] + rho
        low, high = (0.0, C[i]) if y[i] > 0.0 else (-C[i], 0.0)
        change = min(max(beta[i] + slope / bend, low), high) - beta[i]
        if change != 0.0:
            beta[i] += change
            total += change
            gain += change * (slope - 0.5 * bend * change)
            for run in range(runs.shape[0]):
                first, last = runs[run, 0], runs[run, 1]
                z, part, size = Z[i, first:last], g[first:last], w[first:last]
                for r in range(z.shape[0]):
                    part[r] += change * size[r] * z[r]
    state[1], state[2] = total, gain


def diagonal(Z: Factors, w: Array, runs: Integers) -> Array:
    """Return the diagonal of ``Z diag(w) Z'``, (n,)."""
    return joined(Z, each(Z, partial(_squared, w, runs)))


def _squared(w: Array, runs: Integers, rows: Factors) -> Array:
    q = np.empty(len(rows))
    _diagonal(rows, w, runs, q)
    return q


def swept(
    rows: Factors,
    order: Indices,
    box: tuple[Array, Array, Array, float],
    columns: tuple[Array, Integers],
    where: tuple[Array, Array, Array],
    length: int,
) -> tuple[Array, Array, Array]:
    """Step once in every variable of `order`, within a chunk, and return g, beta and the state, `where` it is now.

    `box`: y, C, q, rho; `columns`: w and its runs; `length`: variables between two checkpoints.
    """
    g, beta, state = (np.array(one) for one in where)  # of what was sent, which a worker may be asked for again
    for start in range(0, len(order), length):
        checkpoint()
        _sweep(rows, order[start : start + length], *box, *columns, g, beta, state)
    return g, beta, state


Given = tuple[Factors, Array]  # (Z', w): a column per sample

BLOCK = 16  # samples that stand together are stepped in together: rows drawn singly come slowly from memory
SWEEPS = 10  # over the samples that matter, between two looks at all
SLACKENED = 0.1  # of the first sweep's gain, at which another look at all samples is due
LOOKS = 1000
PATIENCE = 20  # looks without a smaller violation or a visibly larger value: rounding decides
GAP_SHARE = 0.1  # of `tol`, times the value: a duality gap that small ends a solve, whatever single samples violate
VISIBLE = 1e-13  # gain between two looks that counts as progress, relative to the value
BIAS_CURVATURE = 10.0  # of the augmented Lagrangian, in units of one over the sum of all C
MOVED = 0.95  # share of the scores that moved by less than what still counts as near the margin
PIECE = 20_000_000  # entries of Z between two checkpoints
SETTLING = 3e9  # multiplications spent on solving for all variables inside the box together, between two looks


class FactorModel:
    """The factors of one solve, a row per sample: columns without weight are never read."""

    def __init__(self) -> None:
        self._given: Factors | None = None
        self.rows: Factors = np.empty((0, 0))

    def take(self, given: Given) -> None:
        """Use these factors from now on."""
        Z, w = given
        if Z is not self._given:
            self._given, self.rows = Z, np.ascontiguousarray(Z.T) if isinstance(Z, np.ndarray) else Z.T
        self.w = np.ascontiguousarray(w, dtype=np.float64)
        self.runs = runs_of(self.w)

    def project(self, beta: Array) -> Array:
        """Return ``Z'beta`` in the columns with weight, (R,)."""
        return projections(self.rows, beta, self.runs)

    def scores(self, u: Array) -> Array:
        """Return ``Z diag(w) u``, (n,)."""
        return decisions(self.rows, self.w * u, self.runs)

    @property
    def held(self) -> Indices:
        """The columns with weight."""
        return np.flatnonzero(self.w)


class HingeFactors:
    """The support vector machine; see `mklviz.inner.choice.Inner`."""

    def __init__(self, loss: Hinge, y: Array) -> None:
        self._loss, self._y = loss, y
        self._cost = np.full(len(y), loss.cost)
        self._model = FactorModel()
        self._rng = np.random.default_rng(0)
        self._offset = 0.0
        self._start = np.zeros_like(y)
        self.signed, self.scores = np.zeros_like(y), np.zeros_like(y)
        self.value, self.violation = 0.0, np.inf

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from `signed`, clipped to the box and balanced."""
        self._start = signed.copy()

    def solve(self, K: Given, tol: float, warm: bool) -> None:
        """Step in single variables until the optimality conditions hold to `tol`, or the duality gap is as small."""
        model, y, C = self._model, self._y, self._cost
        model.take(K)
        q = diagonal(model.rows, model.w, model.runs)
        rho = float(q.mean()) + BIAS_CURVATURE / float(C.sum()) if self._loss.bias else 0.0
        q = np.maximum(q, 1e-300)
        beta = np.clip(self._start * y, 0.0, C) * y if warm else np.zeros_like(y)
        bias = self._offset if warm else None
        enough = 0.005 * tol**2 * float((1.0 / q).sum())  # what steps along slopes of a tenth of tol would gain
        self.violation, value, idle, before = np.inf, -np.inf, 0, None
        for _ in range(LOOKS):
            checkpoint()
            beta = self._balanced(beta)
            u = model.project(beta)
            f = model.scores(u)
            violation, middle = self._measure(beta, f)
            last, value = value, float(beta @ y) - 0.5 * float(u @ (model.w * u))
            idle = 0 if violation < self.violation or value > last + VISIBLE * abs(value) else idle + 1
            gap = self._loss.primal(f, y)[0] + 0.5 * float(u @ (model.w * u)) - value
            unseen = rounding(q, beta)
            solved = violation <= max(tol, unseen) or gap + unseen * float(C.sum()) <= GAP_SHARE * tol * value
            if violation < self.violation or solved:
                self.violation, self.signed, self.scores, self.value = violation, beta.copy(), f, value
            if solved or idle >= PATIENCE:
                break
            bias = middle if bias is None else bias
            near = self._near(beta, f + bias, before)
            before = f + bias
            free = np.flatnonzero((np.abs(beta) > 0.0) & (np.abs(beta) < C))
            if len(free):
                u = self._settle(free, beta, u, f)
            bias = self._sweeps(near, beta, model.w * u, (q, rho, bias), enough)
        self._start, self._offset = self.signed, 0.0 if bias is None else bias

    def _measure(self, beta: Array, f: Array) -> tuple[float, float]:
        """Return the violation of the optimality conditions, and the bias in the middle of what they leave."""
        slopes, size = self._y - f, beta * self._y
        growing = np.where(self._y > 0.0, size < self._cost, size > 0.0)
        shrinking = np.where(self._y > 0.0, size > 0.0, size < self._cost)
        top, bottom = slopes[growing].max(initial=-np.inf), slopes[shrinking].min(initial=np.inf)
        if not self._loss.bias:
            top, bottom = max(top, 0.0), min(bottom, 0.0)
        middle = 0.5 * (top + bottom)
        return max(float(top - bottom), 0.0), float(middle) if np.isfinite(middle) else 0.0

    def _balanced(self, beta: Array) -> Array:
        """Return beta with 1'beta = 0 where there is a bias.

        The variables inside the box share what is too much by the room they have, so that none leaves a bound; where
        that is not enough, the heavier class is scaled down.
        """
        excess = float(beta.sum())
        if not self._loss.bias or abs(excess) <= 4.0 * np.finfo(float).eps * float(np.abs(beta).sum()):
            return beta
        size, upward = beta * self._y, self._y * excess < 0.0
        room = np.where(upward, self._cost - size, size) * ((size > 0.0) & (size < self._cost))
        total = float(room.sum())
        return beta - excess / total * room if abs(excess) < 0.5 * total else balanced(beta)

    def _near(self, beta: Array, decided: Array, before: Array | None) -> Indices:
        """Return the samples whose variable may still move: all at first, then those not clearly at a bound."""
        if before is None:
            return np.arange(len(beta))
        reach = float(np.quantile(np.abs(decided - before), MOVED))
        slack = 1.0 - self._y * decided  # positive: the variable wants to grow
        size = np.abs(beta)
        at_rest = ((size <= 0.0) & (slack < -reach)) | ((size >= self._cost) & (slack > reach))
        return np.flatnonzero(~at_rest)

    def _settle(self, free: Indices, beta: Array, u: Array, f: Array) -> Array:
        """Solve for the variables that are inside the box, fixing those that meet its sides; beta changes in place.

        Single steps are slow where many variables depend on each other; this ends the search once few are left.
        """
        model, C = self._model, self._cost[free]
        held = model.held
        if not len(held) or _work(len(free), len(held)) > SETTLING:  # without a column there is no curvature
            return u
        roots = np.sqrt(model.w[held])
        X = model.rows[np.ix_(free, held)].astype(np.float64) * roots
        release(model.rows)
        slope, inside = self._y[free] - f[free], np.arange(len(free))
        moved, spent = np.zeros(len(free)), 0.0
        for _ in range(len(free)):
            checkpoint()
            part = X[inside]
            spent += _work(*part.shape)
            if spent > SETTLING:
                break
            step = _newton(part, slope[inside], self._loss.bias)
            image = X @ (step @ part)
            gain, bend = float(step @ slope[inside]), float(step @ image[inside])
            if not gain > 0.0:
                break
            here = np.abs(beta[free[inside]])
            outward = step * self._y[free[inside]]
            room = np.where(
                outward > 0.0, (C[inside] - here) / np.maximum(outward, 1e-300), here / np.maximum(-outward, 1e-300)
            )
            share = min(float(room.min()), gain / max(bend, 1e-300))
            beta[free[inside]] += share * step
            moved[inside] += share * step
            slope -= share * image
            if share < float(room.min()):
                break
            hit = room <= share * (1.0 + 1e-12)
            at = free[inside[hit]]
            ends = np.where(outward[hit] > 0.0, C[inside[hit]], 0.0) * self._y[at]
            moved[inside[hit]] += ends - beta[at]
            beta[at] = ends
            inside = inside[~hit]
            if len(inside) < 2:
                break
        u = u.copy()
        u[held] += (moved @ X) / roots
        return u

    def _sweeps(
        self, near: Indices, beta: Array, g: Array, curvature: tuple[Array, float, float], enough: float
    ) -> float:
        """Step in the variables `near`, chunk by chunk, until little is gained; beta changes in place.

        Returns the bias then.
        """
        model, y, C, (q, rho, bias) = self._model, self._y, self._cost, curvature
        columns = model.w, model.runs
        state = np.array([bias, float(beta.sum()), 0.0])
        first = 0.0
        length = max(PIECE // max(len(model.w), 1), 1)
        for turn in range(SWEEPS):
            state[2] = 0.0
            for start, stop in pieces(model.rows):
                inside = near[slice(*np.searchsorted(near, (start, stop)))] - start
                if len(inside):
                    order, here = self._shuffled(inside), slice(start, stop)
                    box, where = (y[here], C[here], q[here], rho), (g, beta[here], state)
                    g, beta[here], state = at(model.rows, start, stop, swept, order, box, columns, where, length)
            first = max(first, state[2])
            if turn and state[2] <= max(SLACKENED * first, enough):
                break
        return float(state[0] + rho * state[1])

    def _shuffled(self, samples: Indices) -> Indices:
        """Return the samples in blocks of neighbours, the blocks in random order."""
        blocks = [samples[start : start + BLOCK] for start in range(0, len(samples), BLOCK)]
        return np.concatenate([blocks[k] for k in self._rng.permutation(len(blocks))])


def _work(rows: int, columns: int) -> float:
    """Return the multiplications that `_newton` takes."""
    return float(min(rows, columns)) ** 2 * (max(rows, columns) + min(rows, columns) / 3.0)


def _newton(X: Array, slope: Array, balanced: bool) -> Array:
    """Return the step that makes the slopes of some variables, a row of X each, equal.

    Its sum is zero if `balanced`. Where they are more than the columns, K = XX' is singular, and the step is long along
    what K does not see.
    """
    wanted = np.stack([slope, np.ones(len(slope))], axis=1)
    size = float(np.vdot(X, X))  # the trace of K
    if len(X) <= X.shape[1]:
        solved = cho_solve(cholesky(X @ X.T + (1e-12 * size + 1e-300) * np.eye(len(X))), wanted)
    else:
        ridge = 1e-9 * size / X.shape[1] + 1e-300
        inner = cholesky(X.T @ X + ridge * np.eye(X.shape[1]))
        solved = (wanted - X @ cho_solve(inner, X.T @ wanted)) / ridge
    step, ones = solved.T
    if not balanced:
        return step
    step = step - float(step.sum() / ones.sum()) * ones
    return np.asarray(step - step.mean())


def rounding(q: Array, beta: Array) -> float:
    """Return the violation that rounding feigns, as in the inner SVM; `q` (n,) is the diagonal of the kernel."""
    return 0.25 * float(np.finfo(float).eps) * (1.0 + float(np.sqrt(q.max()) * (np.sqrt(q) @ np.abs(beta))))
