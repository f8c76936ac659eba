"""Smooth losses at fixed kernel weights where K_d = Z diag(w) Z' has few columns R; see `mklviz.inner.factors`.

    squared, logistic      Newton's method in R dimensions,  (I + X'cX) step = X'beta(f) - theta,   X = Z diag(w)^1/2

with the curvatures c of the loss at f, whatever the loss.

Reference: Chang, Hsieh, Lin, Coordinate descent method for large-scale L2-loss linear SVM, JMLR 9 (2008).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from mklviz.context import checkpoint
from mklviz.inner.balance import balanced
from mklviz.inner.blocked import cholesky
from mklviz.inner.factors import PATIENCE, PIECE, FactorModel, Given
from mklviz.kernels.storage.passes import Factors
from mklviz.lazy import Later
from mklviz.problem import Logistic, Loss, Squared
from mklviz.typing import Array

__all__ = ["LogisticFactors", "RidgeFactors", "SmoothFactors"]

special = Later("scipy.special")  # loaded with the loss

SAMPLED = 50_000  # samples from which the curvature of the logistic loss is taken, where there are more
NEWTON_STEPS = 100
SUFFICIENT = 1e-4
SHORTEST = 1e-8


class SmoothFactors(ABC):
    """A smooth loss; `unit` is half the range of its targets. See `mklviz.inner.choice.Inner`."""

    def __init__(self, loss: Loss, y: Array, unit: float) -> None:
        self._loss, self._y, self._unit = loss, y, unit
        self._model = FactorModel()
        self._start = np.zeros_like(y)
        self.signed, self.scores = np.zeros_like(y), np.zeros_like(y)
        self.value, self.violation = 0.0, np.inf

    def set_dual(self, signed: Array) -> None:
        """Start the next warm solve from `signed`."""
        self._start = signed.copy()

    def solve(self, K: Given, tol: float, warm: bool) -> None:
        """Take damped Newton steps until ``K beta(f)`` and f agree, up to the bias, to `tol`."""
        model, loss, y = self._model, self._loss, self._y
        model.take(K)
        u = model.project(self._start) if warm else np.zeros(len(model.w))
        f = model.scores(u)
        best, idle = np.inf, 0
        for _ in range(NEWTON_STEPS):
            checkpoint()
            bias = loss.best_bias(f, y) if loss.bias else 0.0
            implied = self._implied(f + bias)
            wanted = model.project(implied)
            scores = model.scores(wanted)
            difference = f - scores
            violation = float(np.ptp(difference) if loss.bias else 2.0 * np.abs(difference).max())
            idle = 0 if violation < best else idle + 1
            if violation < best:
                best, self.signed, self.scores = violation, implied, scores
            if violation <= tol * self._unit or idle >= PATIENCE:
                break
            step = self._step(u, wanted, f + bias)
            share = self._search(u, f, step, move := model.scores(step), wanted)
            if share == 0.0:
                break
            u, f = u + share * step, f + share * move
        self._start, self.violation = self.signed, best / self._unit
        dual = loss.dual_from_signed(self.signed, y)
        self.value = loss.dual_value(dual, y) - 0.5 * float(self.signed @ self.scores)

    @abstractmethod
    def _implied(self, decided: Array) -> Array:
        """Return beta = -C l'(y, decided), balanced where there is a bias: exactly, whatever rounding left."""

    def _step(self, u: Array, wanted: Array, decided: Array) -> Array:
        """Return the Newton step of u: its system is symmetric in theta = w^1/2 u."""
        held, w = self._model.held, self._model.w
        roots = np.sqrt(w[held])
        curved, sums, total = self._curvature(decided)
        if self._loss.bias:
            curved = curved - np.outer(sums, sums) / max(total, 1e-300)
        system = np.eye(len(held)) + roots[:, None] * curved * roots
        step = np.zeros_like(u)
        step[held] = cho_solve(cholesky(system), roots * (wanted - u)[held]) / roots
        return step

    def _search(self, u: Array, f: Array, step: Array, move: Array, wanted: Array) -> float:
        """Return the share of the step, halved until the objective falls enough; 0 where none does."""
        w, loss, y = self._model.w, self._loss, self._y

        def value(share: float) -> float:
            moved = u + share * step
            return 0.5 * float(moved @ (w * moved)) + loss.primal(f + share * move, y)[0]

        here = value(0.0)
        slope = float((w * step) @ (u - wanted))
        share = 1.0
        while share >= SHORTEST:
            if value(share) <= here + SUFFICIENT * share * slope + 1e-15 * abs(here):
                return share
            share *= 0.5
        return 0.0

    @abstractmethod
    def _curvature(self, decided: Array) -> tuple[Array, Array, float]:
        """Return ``Z'cZ``, ``Z'c`` and 1'c for the curvatures c of the loss, in the columns with weight."""


class RidgeFactors(SmoothFactors):
    """Ridge regression."""

    def __init__(self, loss: Squared, y: Array) -> None:
        super().__init__(loss, y, 0.5 * float(np.ptp(y)))
        self._gram: tuple[Any, Array, Array] | None = None

    def _implied(self, decided: Array) -> Array:
        beta, weights = self._loss.cost * (self._y - decided), self._loss.sample_weight
        if self._loss.bias:
            beta = beta - (beta.mean() if weights is None else beta.sum() * weights / weights.sum())
        return np.asarray(beta)

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
        super().__init__(loss, y, 1.0)
        self._rng = np.random.default_rng(0)

    def _implied(self, decided: Array) -> Array:
        beta = self._loss.cost * self._y * special.expit(-self._y * decided)
        return balanced(beta) if self._loss.bias else np.asarray(beta)

    def _curvature(self, decided: Array) -> tuple[Array, Array, float]:
        cost, held, rows, n = self._loss.cost, self._model.held, self._model.rows, len(self._y)
        if n > SAMPLED:  # the steps are a little less exact, and ten times cheaper; where they end is not changed
            some = np.sort(self._rng.permutation(n)[:SAMPLED])
            rows, decided = rows[some], decided[some]
            cost = cost if self._loss.sample_weight is None else np.asarray(cost)[some]
        c = cost * n / len(rows) * special.expit(decided) * special.expit(-decided)
        columns = slice(None) if len(held) == rows.shape[1] else held
        return *_weighted_gram(rows, c, columns), float(c.sum())


def _weighted_gram(rows: Factors, c: Array, columns: Any) -> tuple[Array, Array]:
    """Return ``Z'cZ`` and ``Z'c`` of these columns, summed over chunks in float64."""
    size = rows.shape[1] if isinstance(columns, slice) else len(columns)
    gram, sums = np.zeros((size, size)), np.zeros(size)
    length = max(PIECE // max(size**2 // 64, size, 1), 64)
    for start in range(0, len(rows), length):
        checkpoint()
        part = rows[start : start + length][:, columns]
        scaled = part * c[start : start + length, None].astype(part.dtype)
        gram += scaled.T @ part
        sums += scaled.sum(0, dtype=np.float64)
    return gram, sums
