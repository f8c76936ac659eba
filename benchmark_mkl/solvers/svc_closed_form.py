"""A plain rival: scikit-learn's SVC on the combined kernel, and the closed formula for the weights.

d_k is proportional to the norm of the function f_k, ||f_k|| = d_k sqrt((a∘y)' K_k (a∘y)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from benchopt import BaseSolver
from sklearn.svm import SVC


class Solver(BaseSolver):
    """Alternate between an SVM and the weights."""

    name = "SVC and closed form"
    requirements = ["pip::scikit-learn"]

    def set_objective(self, problem: Any) -> None:
        """Take labels and C, and every kernel as a matrix of its own."""
        self.y, self.C = problem.y, problem.loss.C
        self.grams = np.stack([problem.bank.combine(row) for row in np.eye(problem.m)])

    def run(self, callback: Any) -> None:
        """Alternate until benchopt has seen enough."""
        self.weights = np.full(len(self.grams), 1.0 / len(self.grams))
        self._solve()
        while callback():
            signed = self.dual * self.y
            norms = self.weights * np.sqrt(np.maximum(np.einsum("i,kij,j->k", signed, self.grams, signed), 0.0))
            self.weights = norms / norms.sum()
            self._solve()

    def _solve(self) -> None:
        combined = np.tensordot(self.weights, self.grams, 1)
        svm = SVC(C=self.C, kernel="precomputed", tol=1e-6).fit(combined, self.y)
        self.dual = np.zeros(len(self.y))
        self.dual[svm.support_] = np.abs(svm.dual_coef_[0])

    def get_result(self) -> dict[str, Any]:
        """Return weights and dual variables of the last SVM."""
        return {"weights": self.weights, "dual": self.dual}
