"""The solvers of mklviz, step by step."""

from __future__ import annotations

from typing import Any

from benchopt import BaseSolver

import mklviz as mv


class Solver(BaseSolver):
    """One of mklviz's methods."""

    name = "mklviz"
    requirements = ["pip::mklviz"]
    parameters = {"method": ["silp", "level", "spg", "newton", "closed-form"]}

    def set_objective(self, problem: Any) -> None:
        """Take the problem."""
        self.problem = problem

    def warm_up(self) -> None:
        """Compile, which happens once after an installation."""
        self.run_once()

    def run(self, callback: Any) -> None:
        """Take steps until benchopt has seen enough, or the method has come to its end."""
        steps = mv.make_solver(self.method).iterates(self.problem)
        self.best = next(steps)
        while callback():
            step = next(steps, None)
            if step is None:
                return
            if step.objective < self.best.objective:
                self.best = step

    def get_result(self) -> dict[str, Any]:
        """Return the best step so far."""
        return {"weights": self.best.weights, "dual": self.best.dual}
