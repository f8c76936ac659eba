"""Plain rivals: the level method, SILP and the closed form, by common tools: SVC, numpy, linprog and a QP solver.

    c = 1'a - s/2,    s_k = b'K_k b,    b = y ∘ a       the cut that an SVM at the weights d gives
    lower bound       min over the simplex of max_j c_j'd, a linear program
    SILP              d goes where that minimum lies
    Level             d goes to the nearest point where no cut exceeds 0.8 upper + 0.2 lower
    closed form       d_k goes where it is proportional to the norm of the function f_k, d_k sqrt(s_k)

Nothing is kept from one step to the next: the kernels are one (m, n, n) array, every SVM, linear and quadratic program
starts from scratch.

References: Xu, Jin, King, Lyu, NIPS 2008, algorithm 2; Sonnenburg, Rätsch, Schäfer, Schölkopf, JMLR 7 (2006).
"""

from __future__ import annotations

from typing import Any

import daqp
import numpy as np
from benchopt import BaseSolver
from scipy.optimize import linprog
from sklearn.svm import SVC

LAMBDA = 0.8
FAR = 1e30  # no bound


class Solver(BaseSolver):
    """Cutting planes or the closed form, from scratch in every step."""

    name = "plain"
    requirements = ["pip::scikit-learn", "pip::daqp"]
    parameters = {"method": ["level", "silp", "closed-form"]}

    def set_objective(self, problem: Any) -> None:
        """Take labels and C, and every kernel as a matrix of its own."""
        self.y, self.C = problem.y, problem.loss.C
        self.grams = np.stack([problem.bank.combine(row) for row in np.eye(problem.m)])

    def run(self, callback: Any) -> None:
        """Take steps until benchopt has seen enough."""
        self.weights = np.full(len(self.grams), 1.0 / len(self.grams))
        self.cuts: list[Any] = []
        self.upper, self.lower = np.inf, -np.inf
        s = self._solve()
        while callback():
            if self.method == "closed-form":
                norms = self.weights * np.sqrt(np.maximum(s, 0.0))
                self.weights = norms / norms.sum()
            else:
                self._cut()
            s = self._solve()

    def _cut(self) -> None:
        """Go where the cuts so far say."""
        cuts = np.array(self.cuts)
        minimum, lowest = _minimum(cuts)
        self.lower = max(self.lower, minimum)
        level = LAMBDA * self.upper + (1.0 - LAMBDA) * self.lower
        self.weights = lowest if self.method == "silp" else _projection(self.weights, cuts, level)

    def _solve(self) -> Any:
        """Solve the SVM at the weights, add its cut and the values of primal and dual, and return s."""
        K = np.tensordot(self.weights, self.grams, axes=1)
        svm = SVC(C=self.C, kernel="precomputed", tol=1e-6).fit(K, self.y)
        b = np.zeros(len(self.y))
        b[svm.support_] = svm.dual_coef_[0]
        self.dual = np.abs(b)
        s, scores, total = (self.grams @ b) @ b, K @ b, float(self.dual.sum())
        hinge = np.maximum(1.0 - self.y * (scores + svm.intercept_[0]), 0.0)
        self.cuts.append(total - 0.5 * s)
        self.upper = min(self.upper, 0.5 * float(b @ scores) + self.C * float(hinge.sum()))
        self.lower = max(self.lower, total - 0.5 * float(s.max()))
        return s

    def get_result(self) -> dict[str, Any]:
        """Return weights and dual variables of the last SVM."""
        return {"weights": self.weights, "dual": self.dual}


def _minimum(cuts: Any) -> tuple[float, Any]:
    """Return ``min over the simplex of max_j c_j'd`` and the minimizer."""
    J, m = cuts.shape
    cost, upper = np.append(np.zeros(m), 1.0), np.hstack([cuts, -np.ones((J, 1))])
    bounds = [(0.0, None)] * m + [(None, None)]
    total = np.append(np.ones(m), 0.0)[None]
    solution = linprog(cost, upper, np.zeros(J), total, [1.0], bounds, method="highs")
    d = np.maximum(solution.x[:m], 0.0)
    return float(solution.fun), d / d.sum()


def _projection(d0: Any, cuts: Any, level: float) -> Any:
    """Return the point of the simplex nearest to d0 where no cut exceeds the level."""
    J, m = cuts.shape
    rows = cuts - level
    rows /= np.abs(rows).max(axis=1, keepdims=True)
    A = np.ascontiguousarray(np.vstack([rows, np.ones(m)]))
    upper = np.concatenate([np.full(m, FAR), np.zeros(J), [1.0]])
    lower = np.concatenate([np.zeros(m), np.full(J, -FAR), [1.0]])
    kinds = np.zeros(m + J + 1, dtype=np.int32)
    kinds[-1] = 5  # an equality
    d = np.maximum(daqp.solve(np.eye(m), -d0, A, upper, lower, kinds)[0], 0.0)
    return d / d.sum()
