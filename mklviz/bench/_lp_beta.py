"""LP-beta: one support vector machine for each kernel, then a linear program that weighs their decisions.

    min over beta, xi, rho   -rho + 1/(nu n) sum_i xi_i
    such that                y_i sum_k beta_k o_ik + xi_i >= rho,   xi >= 0,   beta >= 0,   sum_k beta_k = 1

o_ik is the decision on sample i of a machine with kernel k that has not seen it, and nu, between 0 and 1, bounds the
share of samples below the margin rho. A new point's class is the sign of sum_k beta_k f_k(x), with machines f_k that
have seen all samples. Here all machines have the C that suits the mean of the kernels best; the paper chooses one for
each.

Reference: Gehler, Nowozin, On feature combination for multiclass object classification, ICCV 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity

from mklviz.bench._fixed import FixedWeights, decisions_left_out, equal_weights, unit
from mklviz.typing import Array

__all__ = ["LpBeta", "largest_margin"]


def largest_margin(decisions: Array, signs: Array, nu: float) -> Array:
    """Return the weights (m,) of decisions (n, m) that solve the linear program, for labels -1 and +1."""
    n, m = decisions.shape
    price = np.concatenate([np.zeros(m), np.full(n, 1.0 / (nu * n)), [-1.0]])
    below = hstack([csr_array(-signs[:, None] * decisions), -identity(n), np.ones((n, 1))], format="csr")
    total = np.concatenate([np.ones(m), np.zeros(n + 1)])[None, :]
    bounds = [(0.0, None)] * (m + n) + [(None, None)]
    solution = linprog(price, below, np.zeros(n), total, [1.0], bounds, method="highs")
    return np.maximum(solution.x[:m], 0.0)


class LpBeta:
    """Machines of single kernels and their weights; C and `nus` are chosen by cross-validation on the training part."""

    def __init__(self, kernels: str, Cs: Sequence[float], nus: Sequence[float], cv: Any) -> None:
        self.kernels, self.Cs, self.nus, self.cv = kernels, Cs, nus, cv

    def fit(self, X: Array, y: Array) -> LpBeta:
        """Learn from samples and two classes."""
        from sklearn.svm import SVC

        mean = FixedWeights(self.kernels, equal_weights, self.Cs, self.cv).fit(X, y)
        self.bank, self.classes, C = mean.bank, np.unique(y), mean.machine.best_params_["C"]
        signs = np.where(y == self.classes[1], 1.0, -1.0)
        decisions = decisions_left_out(self.bank, signs, C, self.cv)
        self.beta = largest_margin(decisions, signs, self._best_nu(decisions, signs))
        self.machines = {
            int(k): SVC(C=C, kernel="precomputed").fit(self.bank.combine(unit(self.bank, k)), signs)
            for k in np.flatnonzero(self.beta)
        }
        return self

    def _best_nu(self, decisions: Array, signs: Array) -> float:
        """Return the nu whose weights, of some folds, are right most often in the fold left out."""
        folds = list(self.cv.split(decisions, signs))

        def right(nu: float) -> int:
            margins = (
                signs[test] * (decisions[test] @ largest_margin(decisions[train], signs[train], nu))
                for train, test in folds
            )
            return sum(int((margin > 0.0).sum()) for margin in margins)

        return max(self.nus, key=right)

    def predict(self, X: Array) -> Array:
        """Return the classes of new points."""
        cross, total = self.bank.cross(X), np.zeros(len(X))
        for k, machine in self.machines.items():
            total += self.beta[k] * machine.decision_function(cross.combine(unit(self.bank, k)))
        return self.classes[(total > 0.0).astype(int)]
