"""Methods in two stages: kernel weights by a criterion of their own, then one SVM with them.

They do not look at the objective, so they are a point beside the curves of those that do: with its objective, its gap
and its score on test data. The end of such a run serves as a start for others.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.contract import Array, End, Facts, Iterate, Solver
from mklviz.inner.oracle import SvmOracle, needs_hinge, refuse, tolerance_option
from mklviz.numbers import counted
from mklviz.problem import Problem
from mklviz.solvers._words import needs_simplex, objective_change, start_sentence


@dataclass(frozen=True, kw_only=True)
class TwoStageFacts(Facts):
    """What is known of the step."""

    criterion: float = math.nan  # what the first stage has optimised, at its weights


class TwoStage(Solver):
    """A solver whose weights are chosen once."""

    by: ClassVar[str] = ""  # what the weights are chosen by, after that word
    converges = False

    svm_tolerance = tolerance_option(" in the second stage.")

    @abstractmethod
    def weigh(self, problem: Problem) -> tuple[Array, TwoStageFacts]:
        """Return the weights (m,), which sum to one, and what is known of them."""

    def supports(self, problem: Problem) -> str:
        """Return "" for SVMs with intercept and weights on the simplex."""
        return needs_simplex(problem, self.label) or needs_hinge(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then the SVM at the weights that the first stage has found."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance)
        begun = oracle.begin(start)
        yield oracle.iterate(begun, 0.0, TwoStageFacts())
        weights, facts = self.weigh(problem)
        point = oracle.solve(weights)
        end = End(f"{self.label} chooses the weights once, by {self.by}, and does not look at the objective.")
        step = float(np.abs(weights - begun.weights).sum())
        yield oracle.iterate(point, step, facts, end)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell what the weights were chosen by."""
        if before is None:
            return start_sentence(after)
        used = counted(float(after.active), "kernel")
        return f"Weights were chosen once, by {self.by}: {used} have weight. {objective_change(before, after)}"
