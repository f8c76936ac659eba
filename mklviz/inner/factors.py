"""The problem at fixed kernel weights where K_d = Z diag(w) Z' has few columns R: nothing of size n by n is formed.

    hinge, one-class     dual coordinate steps on the samples that matter, between exact looks at all of them

"Solved to `tol`" means what `mklviz.inner.Inner` says; beta is feasible and the scores are K_d beta as the
stored factors give it.

Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale linear SVM,
ICML 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from mklviz.context import checkpoint
from mklviz.inner.blocked import cholesky
from mklviz.inner.conjugates import summing
from mklviz.inner.interface import Inner
from mklviz.inner.svm import box_of, violation_unit
from mklviz.inner.sweeps import DualVariables, Sweeps, bounds_there, known_there
from mklviz.kernels.storage.disk import release
from mklviz.kernels.storage.passes import Factors, decisions, projections, runs_of
from mklviz.problem import Loss
from mklviz.typing import Array, Indices, Integers

Given = tuple[Factors, Array]  # (Z', w): a column per sample

SWEEPS = 10  # over the samples that matter, between two looks at all
SLACKENED = 0.1  # of the first sweep's gain, at which another look at all samples is due
LOOKS = 1000
PATIENCE = 20  # looks without a smaller violation or a visibly larger value: rounding decides
GAP_SHARE = 0.1  # of `tol`, times the value: a duality gap that small ends a solve, whatever single samples violate
VISIBLE = 1e-13  # gain between two looks that counts as progress, relative to the value
BIAS_CURVATURE = 10.0  # of the augmented Lagrangian, in units of a slope that is large over the sum of all C
MOVED = 0.95  # share of the scores that moved by less than what still counts as near the margin
SETTLING = 3e8  # multiplications spent on solving for all variables inside the box together, between two looks


class FactorModel:
    """The factors of one solve, a row per sample: columns without weight are never read."""

    def __init__(self) -> None:
        self._given: Factors | None = None
        self.rows: Factors = np.empty((0, 0))
        self._known: tuple[Integers, Array, Array] | None = None  # the last runs and beta, and their Z'beta

    def take(self, given: Given) -> None:
        """Use these factors from now on."""
        Z, w = given
        if Z is not self._given:
            self._given, self.rows = Z, np.ascontiguousarray(Z.T) if isinstance(Z, np.ndarray) else Z.T
            self._known = None
        self.w = np.ascontiguousarray(w, dtype=np.float64)
        self.runs = runs_of(self.w)

    def project(self, beta: Array) -> Array:
        """Return ``Z'beta`` in the columns with weight, (R,): at hand where the last solve ended at this beta."""
        known = self._known
        if known is None or not (np.array_equal(known[0], self.runs) and np.array_equal(known[1], beta)):
            known = self._known = self.runs, beta.copy(), projections(self.rows, beta, self.runs)
        return known[2]

    def scores(self, u: Array) -> Array:
        """Return ``Z diag(w) u``, (n,)."""
        return decisions(self.rows, self.w * u, self.runs)

    def inner(self, u: Array, f: Array, other: Array) -> float:
        """Return ``beta'K gamma`` for the u of beta, its scores f, and the u of gamma."""
        return float((self.w * u) @ other)

    @property
    def held(self) -> Indices:
        """The columns with weight."""
        return np.flatnonzero(self.w)


class BoxFactors(Inner):
    """The support vector machine, also of one class."""

    def __init__(self, loss: Loss, y: Array) -> None:
        super().__init__(loss, y)
        self._linear, self._low, self._high = (one[: len(y)] for one in box_of(loss, y))
        self._sum = loss.dual_sum(y)
        self._room = float((self._high - self._low).sum())
        self._model = FactorModel()
        self._rng = np.random.default_rng(0)
        self._offset = 0.0
        self._bounds: tuple[Factors, list[Any]] | None = None  # rows, and the linear terms and bounds beside them

    def solve(self, K: Given, tol: float, warm: bool) -> None:
        """Step in single variables until the optimality conditions hold to `tol`, or the duality gap is as small."""
        model, y = self._model, self._y
        model.take(K)
        terms = self._linear, self._low, self._high
        if self._bounds is None or self._bounds[0] is not model.rows:
            self._bounds = model.rows, bounds_there(model.rows, *terms)
        there, q = known_there(*self._bounds, model.w, model.runs)
        variables = DualVariables(*terms, q)
        beta = self._balanced(np.clip(self._start if warm else np.zeros_like(y), self._low, self._high))
        unit = violation_unit(self._loss, y, beta, lambda: model.scores(model.project(beta)))
        rho = float(q.mean()) + BIAS_CURVATURE * unit / self._room if self._loss.bias else 0.0
        bias = self._offset if warm else None
        # what steps along slopes of a tenth of tol would gain
        enough = 0.005 * (tol * unit) ** 2 * float((1.0 / q).sum())
        self.violation, value, idle, before = np.inf, -np.inf, 0, None
        for _ in range(LOOKS):
            checkpoint()
            beta = self._balanced(beta)
            u = model.project(beta)
            f = model.scores(u)
            violation, middle = self._measure(beta, f)
            violation /= unit
            last, value = value, float(beta @ self._linear) - 0.5 * float(u @ (model.w * u))
            idle = 0 if violation < self.violation or value > last + VISIBLE * abs(value) else idle + 1
            gap = self._loss.primal(f, y)[0] + 0.5 * float(u @ (model.w * u)) - value
            unseen = rounding(q, beta, self._linear)
            solved = violation <= max(tol, unseen / unit) or gap + unseen * self._room <= GAP_SHARE * tol * abs(value)
            if violation < self.violation or solved:
                self.violation, self.signed, self.scores, self.value = violation, beta.copy(), f, value
            if solved or idle >= PATIENCE:
                break
            bias = middle if bias is None else bias
            near = self._near(beta, f + bias, before)
            before = f + bias
            free = np.flatnonzero((beta > self._low) & (beta < self._high))
            if len(free):
                u = self._settle(free, beta, u, f)
            columns, excess = (model.w, model.runs), float(beta.sum()) - self._sum
            sweeps = Sweeps(model.rows, columns, variables, there, near, beta, model.w * u, rho, bias, excess)
            self._swept(sweeps, enough)
            sweeps.write(beta)
            bias = sweeps.bias
        self._start, self._offset = self.signed, 0.0 if bias is None else bias

    def projected(self) -> Array:
        """Return ``Z'beta`` of the last solve in the columns with weight, (R,)."""
        return self._model.project(self.signed)

    def _measure(self, beta: Array, f: Array) -> tuple[float, float]:
        """Return the violation of the optimality conditions, and the bias in the middle of what they leave."""
        slopes = self._linear - f
        top = slopes[beta < self._high].max(initial=-np.inf)
        bottom = slopes[beta > self._low].min(initial=np.inf)
        if not self._loss.bias:
            top, bottom = max(top, 0.0), min(bottom, 0.0)
        middle = 0.5 * (top + bottom)
        return max(float(top - bottom), 0.0), float(middle) if np.isfinite(middle) else 0.0

    def _balanced(self, beta: Array) -> Array:
        """Return beta with the sum that a bias asks for, mostly 0.

        The variables inside the box share what is too much by the room they have, so that none leaves a bound; where
        that is not enough, `summing` moves all.
        """
        excess = float(beta.sum()) - self._sum
        if not self._loss.bias or abs(excess) <= 4.0 * np.finfo(float).eps * float(np.abs(beta).sum()):
            return beta
        below, above = beta - self._low, self._high - beta
        room = np.where(excess > 0.0, below, above) * ((below > 0.0) & (above > 0.0))
        total = float(room.sum())
        if abs(excess) < 0.5 * total:
            return beta - excess / total * room
        return summing(beta, self._low, self._high, self._sum)

    def _near(self, beta: Array, decided: Array, before: Array | None) -> Indices:
        """Return the samples whose variable may still move: all at first, then those not clearly at a bound."""
        if before is None:
            return np.arange(len(beta))
        reach = float(np.quantile(np.abs(decided - before), MOVED))
        slope = self._linear - decided
        at_rest = ((beta <= self._low) & (slope < -reach)) | ((beta >= self._high) & (slope > reach))
        return np.flatnonzero(~at_rest)

    def _settle(self, free: Indices, beta: Array, u: Array, f: Array) -> Array:
        """Solve for the variables that are inside the box, fixing those that meet its sides; beta changes in place.

        Single steps are slow where many variables depend on each other; this ends the search once few are left.
        """
        model, low, high = self._model, self._low[free], self._high[free]
        held = model.held
        if not len(held) or _work(len(free), len(held)) > SETTLING:  # without a column there is no curvature
            return u
        roots = np.sqrt(model.w[held])
        X = model.rows[np.ix_(free, held)].astype(np.float64) * roots
        release(model.rows)
        slope, inside = self._linear[free] - f[free], np.arange(len(free))
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
            here, below, above = beta[free[inside]], low[inside], high[inside]
            with np.errstate(over="ignore"):  # an infinite room
                up, down = (above - here) / np.maximum(step, 1e-300), (here - below) / np.maximum(-step, 1e-300)
            room = np.where(step > 0.0, up, down)
            share = min(float(room.min()), gain / max(bend, 1e-300))
            beta[free[inside]] += share * step
            moved[inside] += share * step
            slope -= share * image
            if share < float(room.min()):
                break
            hit = room <= share * (1.0 + 1e-12)
            at = free[inside[hit]]
            ends = np.where(step > 0.0, above, below)[hit]
            moved[inside[hit]] += ends - beta[at]
            beta[at] = ends
            inside = inside[~hit]
            if len(inside) < 2:
                break
        u = u.copy()
        u[held] += (moved @ X) / roots
        return u

    def _swept(self, sweeps: Sweeps, enough: float) -> None:
        """Sweep until little is gained."""
        first = 0.0
        for turn in range(SWEEPS):
            gain = sweeps.sweep(self._rng)
            first = max(first, gain)
            if turn and gain <= max(SLACKENED * first, enough):
                break


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


def rounding(q: Array, beta: Array, linear: Array) -> float:
    """Return the violation that rounding feigns, as in the inner SVM; `q` (n,) is the diagonal of the kernel."""
    size = float(np.abs(linear).max()) + float(np.sqrt(q.max()) * (np.sqrt(q) @ np.abs(beta)))
    return 0.25 * float(np.finfo(float).eps) * size
