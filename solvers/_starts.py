"""Where a descent on W(d) begins: at equal weights, or at random ones.

A problem that is convex has one minimum, so the start only costs time; with a product of kernels another start may end
in another minimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import param

from mklviz.contract import Array, Solver
from mklviz.inner.scale import usual_weights
from mklviz.problem import Problem

__all__ = ["RandomStart"]


class RandomStart(Solver):
    """A solver that can start at random weights."""

    random_start = param.Integer(
        default=0,
        bounds=(0, None),
        label="Random start",
        doc=(
            "0: all weights equal. 1, 2, …: random weights of the same sum, others for each number; with a product of"
            " kernels another start may lead to another minimum."
        ),
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._named = "name" in options
        self._rename()

    @property
    def setting(self) -> str:
        """The solver's name as its options other than the start would have it."""
        return self.label

    @param.depends("random_start", watch=True)
    def _rename(self) -> None:
        """Carry the start in the name, so that several can race each other."""
        if not self._named:
            with param.edit_constant(self):
                self.name = self.setting + (f", start {self.random_start}" if self.random_start else "")

    def first_weights(self, problem: Problem) -> Array:
        """Return the weights to begin with, (m,), in the domain of the regularizer."""
        equal = usual_weights(problem)
        if not self.random_start:
            return equal
        # exponential draws over their sum are uniform on the simplex
        drawn = np.random.default_rng([self.seed, self.random_start]).exponential(size=problem.m)
        return problem.regularizer.project(drawn * float(equal.sum() / drawn.sum()))
