"""The solvers of mklviz, step by step."""

from __future__ import annotations

from typing import Any

from benchopt import BaseSolver

import mklviz as mv
from mklviz.record.trace import Trace


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
        solver = mv.make_solver(self.method)
        self.trace, steps = Trace(self.method, descends=solver.converges), solver.iterates(self.problem)
        self.trace.append(next(steps), 0.0)
        while callback():
            step = next(steps, None)
            if step is None:
                return
            self.trace.append(step, 0.0)

    def get_result(self) -> dict[str, Any]:
        """Return the solution so far."""
        return {"weights": self.trace.best.weights, "dual": self.trace.best.dual}
