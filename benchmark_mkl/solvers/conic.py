"""The problem as a whole, by a conic solver: max 1'a - t with 1/2 (a∘y)' K_k (a∘y) <= t for every kernel.

Its multipliers are the weights (Lanckriet et al. 2004). It takes no steps that could be watched, so it is a point.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Clarabel, through CVXPY."""

    name = "Conic"
    requirements = ["pip::cvxpy", "pip::clarabel"]
    sampling_strategy = "run_once"

    def set_objective(self, problem: Any) -> None:
        """Take labels and C, and a factor of every kernel."""
        self.problem = problem
        self.factors = [_factor(problem.bank.combine(row)) for row in np.eye(problem.m)]

    def run(self, _: Any) -> None:
        """Solve it."""
        y, C = self.problem.y, self.problem.loss.C
        a, t = cp.Variable(self.problem.n), cp.Variable()
        below = [cp.sum_squares(factor.T @ cp.multiply(a, y)) / 2 <= t for factor in self.factors]
        cp.Problem(cp.Maximize(cp.sum(a) - t), [*below, a >= 0, a <= C, y @ a == 0]).solve(solver="CLARABEL")
        weights = np.maximum([np.asarray(limit.dual_value).item() for limit in below], 0.0)
        self.weights, self.dual = weights / weights.sum(), np.clip(a.value, 0.0, C)

    def get_result(self) -> dict[str, Any]:
        """Return the multipliers and the dual variables."""
        return {"weights": self.weights, "dual": self.dual}


def _factor(gram: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
