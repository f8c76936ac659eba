"""Squared and logistic losses at fixed kernel weights.

    squared     (K + I/C) beta + b 1 = y,  1'beta = 0                       one Cholesky factorisation
                beta = R (I + R K R)^{-1} R (y - b 1),  R = C^{1/2} diagonal,   where samples have weights
    logistic    (I + W K) beta + W b 1 = W (f + b) + beta(f),  1'beta = 0    Newton's method, f = K beta

In the second W holds the curvatures C sigma (1 - sigma) at the decisions f + b and beta(f) = -C l'(y, f + b), which is
feasible at every f: the solution is where beta(f) = beta. The systems are solved through I + W^1/2 K W^1/2, so that
no curvature is divided by.

Reference: Rasmussen, Williams, Gaussian processes for machine learning (2006), algorithm 3.1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve

from mklviz.context import checkpoint
from mklviz.errors import KernelError
from mklviz.inner.blocked import Factor, cholesky, scaled_copy
from mklviz.inner.conjugates import balanced
from mklviz.inner.factors import FactorModel
from mklviz.inner.interface import Inner, refuse_not_finite
from mklviz.inner.sweeps import PIECE
from mklviz.kernels.storage.passes import Factors, added, each, pieces
from mklviz.lazy import Later
from mklviz.problem import Logistic, Loss, Squared
from mklviz.typing import Array

special = Later("scipy.special")  # loaded with the loss

_REFINEMENTS = 5  # of the linear system, where C is so large that one solve is not exact
_MOST_STEPS = 200  # Newton steps, of which some ten are usual
_PATIENCE = 20  # Newton steps without a smaller violation: rounding decides
_SUFFICIENT = 1e-4  # share of the linear decrease that a step must reach
_SHORTEST = 1e-10  # share of a Newton step below which rounding has taken over


class SquaredInner(Inner):
    """Ridge regression by a linear system, which needs no start."""

    def solve(self, K: Array, tol: float, warm: bool) -> None:
        """Solve the linear system, refined until it holds to `tol`."""
        checkpoint()
        loss, y, n = self._loss, self._y, len(self._y)
        solved = self._system(K)
        ones = solved(np.ones(n)) if loss.bias else np.zeros(n)
        beta, residual = np.zeros(n), y
        for _ in range(_REFINEMENTS):
            step = solved(residual)
            if loss.bias:
                step -= step.sum() / ones.sum() * ones
            beta = _centred(loss, beta + step)
            scores = K @ beta
            residual = y - scores - loss.shares(beta)
            if loss.bias:
                residual -= np.average(residual, weights=loss.sample_weight)
            felt = residual if loss.sample_weight is None else residual[loss.sample_weight > 0.0]
            self.violation = 4.0 * float(np.abs(felt).max()) / float(np.ptp(y))
            if self.violation <= tol:
                break
        self.signed, self.scores = beta, scores
        self.value = loss.dual_value(beta, y) - 0.5 * float(beta @ scores)

    def _system(self, K: Array) -> Callable[[Array], Array]:
        """Return what solves ``(K + I/C) x = right``; with weights, x is zero for samples that have none."""
        loss = self._loss
        if loss.sample_weight is None:
            factor = _factor(K, 1.0 / loss.C)
            return lambda right: cho_solve(factor, right)
        roots = np.sqrt(loss.cost)
        scaled = _factor(K, 1.0, roots)
        return lambda right: roots * cho_solve(scaled, roots * right)


def _centred(loss: Loss, beta: Array) -> Array:
    """Return beta of the squared loss, which is off its sum of zero where there is a bias, with that sum."""
    if not loss.bias:
        return beta
    weights = loss.sample_weight
    return np.asarray(beta - (beta.mean() if weights is None else beta.sum() * weights / weights.sum()))


def _implied_by(loss: Loss, y: Array, decisions: Array) -> Array:
    """Return beta = -C l'(y, decisions) of the logistic loss, whose sum rounding leaves at zero."""
    beta = loss.cost * y * special.expit(-y * decisions)
    return balanced(beta) if loss.bias else np.asarray(beta)


class MatrixModel:
    """A kernel matrix that is asked as factors are, see `FactorModel`; the u of beta is beta itself."""

    def take(self, K: Array) -> None:
        self.K = K

    def project(self, beta: Array) -> Array:
        return beta

    def scores(self, u: Array) -> Array:
        return np.asarray(self.K @ u)

    def inner(self, u: Array, f: Array, other: Array) -> float:
        return float(f @ other)


class NewtonInner(Inner):
    """A smooth loss by damped Newton steps in x, of which f = K beta is an image; `unit`: half the range of targets."""

    unit = 1.0

    def __init__(self, loss: Loss, y: Array, model: Any) -> None:
        super().__init__(loss, y)
        self._model = model

    def solve(self, K: Any, tol: float, warm: bool) -> None:
        """Take damped Newton steps until ``K beta(f)`` and f agree, up to the bias, to `tol`."""
        loss, y = self._loss, self._y
        self._model.take(K)
        x, f, value = self._begin(warm)
        best, idle = np.inf, 0
        for _ in range(_MOST_STEPS):
            checkpoint()
            decisions = f + (loss.best_bias(f, y) if loss.bias else 0.0)
            implied = self._implied(decisions)
            wanted = self._model.project(implied)
            scores = self._model.scores(wanted)
            difference = f - scores
            refuse_not_finite(difference)
            violation = float(np.ptp(difference) if loss.bias else 2.0 * np.abs(difference).max())
            idle = 0 if violation < best else idle + 1
            if violation < best:
                best, self.signed, self.scores = violation, implied, scores
            if violation <= tol * self.unit or idle >= _PATIENCE:
                break
            step = self._step(x, wanted, decisions, difference)
            image = self._model.scores(step)
            share, trial = self._search(x, f, step, image, self._model.inner(step, image, x - wanted), value)
            if share == 0.0:
                break
            x, f, value = x + share * step, f + share * image, trial
        self.violation = best / self.unit
        self.value = self._dual_objective(self.signed, self.scores)
        self._end(x, tol)

    def _begin(self, warm: bool) -> tuple[Array, Array, float]:
        """Return x, f and the objective to begin with: at the last beta, or at zero."""
        x = self._model.project(self._start if warm else np.zeros_like(self._y))
        f = self._model.scores(x) if warm else np.zeros_like(self._y)
        refuse_not_finite(f)
        return x, f, self._objective(x, f)

    def _dual_objective(self, signed: Array, scores: Array) -> float:
        dual = self._loss.dual_from_signed(signed, self._y)
        return float(self._loss.dual_value(dual, self._y)) - 0.5 * float(signed @ scores)

    def _objective(self, x: Array, f: Array) -> float:
        """Return 1/2 beta'K beta plus the loss at the best bias."""
        return 0.5 * self._model.inner(x, f, x) + float(self._loss.primal(f, self._y)[0])

    def _search(self, x: Array, f: Array, step: Array, image: Array, slope: float, value: float) -> tuple[float, float]:
        """Halve the step until the objective falls enough; returns the share taken, 0 where none is, and the value."""
        share, rounding = 1.0, 1e-15 * abs(value)
        while share >= _SHORTEST:
            trial = self._objective(x + share * step, f + share * image)
            if trial <= value + _SUFFICIENT * share * slope + rounding:
                return share, trial
            share *= 0.5
        return 0.0, value

    @abstractmethod
    def _implied(self, decisions: Array) -> Array:
        """Return beta = -C l'(y, decisions), balanced where there is a bias: exactly, whatever rounding left."""

    @abstractmethod
    def _step(self, x: Array, wanted: Array, decisions: Array, difference: Array) -> Array:
        """Return the Newton step from x, whose image less that of `wanted` is `difference`."""

    def _end(self, x: Array, tol: float) -> None:
        """Take note of where the solve has ended, for the next to start from."""
        self._start = self.signed


class LogisticInner(NewtonInner):
    """Kernel logistic regression on a matrix, whose x is beta itself."""

    def __init__(self, loss: Logistic, y: Array) -> None:
        super().__init__(loss, y, MatrixModel())

    def _begin(self, warm: bool) -> tuple[Array, Array, float]:
        """Begin at zero where that is better: where K has grown a lot the last beta is so much too large that Newton's
        method may not find back.
        """
        return min(super()._begin(warm), super()._begin(False), key=itemgetter(2))

    def _implied(self, decisions: Array) -> Array:
        return _implied_by(self._loss, self._y, decisions)

    def _step(self, x: Array, wanted: Array, decisions: Array, difference: Array) -> Array:
        """Return the step: (I + W K) step + W b 1 = beta(f) - beta, whose image is K times the right side.

        Solving for the step, not for the next beta, leaves it the digits that count where W K is large.
        """
        residual = wanted - x
        roots = np.sqrt(self._loss.cost * special.expit(decisions) * special.expit(-decisions))
        factor = _factor(self._model.K, 1.0, roots)
        step = residual + roots * cho_solve(factor, roots * difference)
        if self._loss.bias:
            ones = roots * cho_solve(factor, roots)
            total = float(ones.sum())
            if total > 0.0:
                step -= (x + step).sum() / total * ones
        return np.asarray(step)

    def _end(self, x: Array, tol: float) -> None:
        """Take the Newton iterate instead where its gap is smaller: K times beta(f) has the rounding of f times C K."""
        self._start = x
        if self.violation <= tol:
            return
        size = np.clip(self._y * x, 0.0, self._loss.cost)
        signed = balanced(self._y * size) if self._loss.bias else self._y * size
        scores = self._model.scores(signed)
        value = self._dual_objective(signed, scores)
        if self._objective(signed, scores) - value < self._objective(self.signed, self.scores) - self.value:
            self.signed, self.scores, self.value = signed, scores, value


def _factor(K: Array, ridge: float, scale: Array | None = None) -> Factor:
    """Return the Cholesky factor of K, scaled from both sides, + ridge I; more where rounding makes K indefinite."""
    diagonal = np.diag(K) if scale is None else np.diag(K) * scale**2
    refuse_not_finite(K.sum())
    added = ridge
    for _ in range(20):
        try:
            return cholesky(scaled_copy(K, scale, added))
        except LinAlgError:
            added = max(10.0 * (added - ridge), 1e-15 * float(diagonal.sum())) + ridge
    raise KernelError("A kernel matrix is not positive semidefinite; check the kernels.")


# The same where K_d = Z diag(w) Z' has few columns R; see `mklviz.inner.factors`.
#
#     squared, logistic      Newton's method in R dimensions,  (I + X'cX) step = X'beta(f) - theta,   X = Z diag(w)^1/2
#
# with the curvatures c of the loss at f, whatever the loss.
#
# Reference: Chang, Hsieh, Lin, Coordinate descent method for large-scale L2-loss linear SVM, JMLR 9 (2008).

SAMPLED = 50_000  # samples from which the curvature of the logistic loss is taken, where there are more


class SmoothFactors(NewtonInner):
    """A smooth loss on factors, whose x is u = Z'beta."""

    def __init__(self, loss: Loss, y: Array) -> None:
        super().__init__(loss, y, FactorModel())

    def _step(self, x: Array, wanted: Array, decisions: Array, difference: Array) -> Array:
        """Return the Newton step of u: its system is symmetric in theta = w^1/2 u."""
        held, w = self._model.held, self._model.w
        roots = np.sqrt(w[held])
        curved, sums, total = self._curvature(decisions)
        if self._loss.bias:
            curved = curved - np.outer(sums, sums) / max(total, 1e-300)
        system = np.eye(len(held)) + roots[:, None] * curved * roots
        step = np.zeros_like(x)
        step[held] = cho_solve(cholesky(system), roots * (wanted - x)[held]) / roots
        return step

    def projected(self) -> Array:
        """Return ``Z'beta`` of the last solve in the columns with weight, (R,)."""
        return self._model.project(self.signed)

    @abstractmethod
    def _curvature(self, decided: Array) -> tuple[Array, Array, float]:
        """Return ``Z'cZ``, ``Z'c`` and 1'c for the curvatures c of the loss, in the columns with weight."""


class RidgeFactors(SmoothFactors):
    """Ridge regression."""

    def __init__(self, loss: Squared, y: Array) -> None:
        super().__init__(loss, y)
        self.unit = 0.5 * float(np.ptp(y))
        self._gram: tuple[Any, Array, Array] | None = None

    def _implied(self, decisions: Array) -> Array:
        return _centred(self._loss, self._loss.cost * (self._y - decisions))

    def _curvature(self, decided: Array) -> tuple[Array, Array, float]:
        """Return what C times the samples' weights gives: the products are computed once for all d."""
        C, held, rows, weights = self._loss.C, self._model.held, self._model.rows, self._loss.sample_weight
        if self._gram is None or self._gram[0] is not rows:
            counts = np.ones(len(rows)) if weights is None else weights
            self._gram = (rows, *_weighted_gram(rows, counts, slice(None)))
        _, gram, sums = self._gram
        count = len(self._y) if weights is None else float(weights.sum())
        return C * gram[np.ix_(held, held)], C * sums[held], C * count


class LogisticFactors(SmoothFactors):
    """Logistic regression."""

    def __init__(self, loss: Logistic, y: Array) -> None:
        super().__init__(loss, y)
        self._rng, self.sampled = np.random.default_rng(0), SAMPLED

    def _implied(self, decisions: Array) -> Array:
        return _implied_by(self._loss, self._y, decisions)

    def _curvature(self, decided: Array) -> tuple[Array, Array, float]:
        cost, held, rows, n = self._loss.cost, self._model.held, self._model.rows, len(self._y)
        c = cost * special.expit(decided) * special.expit(-decided)
        sampled = n > self.sampled
        if sampled:  # the steps are a little less exact, and ten times cheaper; where they end is not changed
            some = self._rng.permutation(n)[: self.sampled]
            c, every = np.zeros(n), c
            c[some] = every[some] * (n / self.sampled)
        columns = slice(None) if len(held) == rows.shape[1] else held
        return *_weighted_gram(rows, c, columns, sampled), float(c.sum())


def _weighted_gram(rows: Factors, c: Array, columns: Any, sampled: bool = False) -> tuple[Array, Array]:
    """Return ``Z'cZ`` and ``Z'c`` of these columns; `sampled`: most of c is zero."""
    size = rows.shape[1] if isinstance(columns, slice) else len(columns)
    length = max(PIECE // max(size**2 // 64, size, 1), 64)
    both = added(each(rows, partial(_gram_of, columns, size, length, sampled), c))
    return both[:-1], both[-1]


def _gram_of(columns: Any, size: int, length: int, sampled: bool, rows: Factors, c: Array) -> Array:
    """Return ``Z'cZ`` of a chunk, and ``Z'c`` below it, (size + 1, size), summed in float64."""
    both = np.zeros((size + 1, size))
    if sampled:
        kept = np.flatnonzero(c)
        rows, c = rows[kept], c[kept]
    for start, stop in pieces(rows, length):
        part = rows[start:stop][:, columns]
        scaled = part * c[start:stop, None].astype(part.dtype)
        both[:-1] += scaled.T @ part
        both[-1] += scaled.sum(0, dtype=np.float64)
    return both
