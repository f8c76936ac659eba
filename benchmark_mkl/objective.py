"""Multiple kernel learning with the hinge loss: over weights d on the simplex and 0 <= a <= C with y'a = 0,

    min_d max_a 1'a - 1/2 (a∘y)' (sum_k d_k K_k) (a∘y)

Whatever a solver returns is judged by mklviz: `value` is the primal objective with the best bias, an upper bound of the
optimum, and `gap` the duality gap that weights and dual variables prove, relative to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from benchopt import BaseObjective

import mklviz as mv


class Objective(BaseObjective):
    """The problem that every solver is given: kernels, labels and C."""

    name = "Multiple kernel learning"
    requirements = ["pip::mklviz"]
    min_benchopt_version = "1.7"
    sampling_strategy = "callback"
    parameters = {"C": [1.0, 100.0]}

    def set_data(self, X: Any, y: Any) -> None:
        """Build the papers' kernels, which no solver is charged for."""
        bank = mv.paper_bank(X)
        self.problem = mv.Problem(bank, y, mv.Hinge(C=self.C), mv.Simplex())

    def get_objective(self) -> dict[str, Any]:
        """Return what a solver may know: the problem, and its kernels as matrices when asked for them."""
        return {"problem": self.problem}

    def evaluate_result(self, weights: Any, dual: Any) -> dict[str, float]:
        """Return the objective, and the gap that the two prove."""
        value = self.problem.objective(weights, dual)
        bound = self.problem.lower_bound(dual)
        return {
            "value": value,
            "gap": (value - bound) / abs(value),
            "kernels": int((weights > 1e-6 * weights.max()).sum()),
        }

    def get_one_result(self) -> dict[str, Any]:
        """Return equal weights and no dual variables, for tests."""
        return {"weights": np.full(self.problem.m, 1.0 / self.problem.m), "dual": np.zeros(self.problem.n)}
