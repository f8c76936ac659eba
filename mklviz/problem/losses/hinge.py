"""Hinge loss, C sum_i [1 - y_i (f_i + b)]_+, with dual variables 0 <= a <= C, y'a = 0 and dual value 1'a."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.problem.losses._loss import Loss, hinge_face, where_slopes_balance
from mklviz.typing import Array


@dataclass(frozen=True)
class Hinge(Loss):
    """Hinge loss of the support vector machine.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    bias : bool, default True
        Whether the function has an intercept.
    """

    name_: ClassVar[str] = "hinge"
    label: ClassVar[str] = "hinge"
    svm: ClassVar[bool] = True
    weighable: ClassVar[bool] = True

    def value(self, decisions: Array, y: Array) -> float:
        """Return C sum_i [1 - y_i decisions_i]_+."""
        return self.total(np.maximum(1.0 - y * decisions, 0.0))

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return a bias of least loss.

        As a function of b each term bends by one at ``y_i - scores_i``; the slope starts at minus the number of
        positive samples, so the n_plus-th smallest bend is a minimiser. With weights they are what is counted.
        """
        bends, weights = y - scores, self.sample_weight
        if weights is not None:
            return where_slopes_balance(bends, weights, float(weights[y > 0.0].sum()))
        n_plus = int((y > 0).sum())
        lower, upper = np.partition(bends, (n_plus - 1, n_plus))[n_plus - 1 : n_plus + 1]
        return 0.5 * float(lower + upper)  # the loss is flat between the two

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        return *hinge_face(self.cost, y, self.null_bias(y)), 0 if self.bias else None

    def box_program(self, y: Array) -> tuple[Array, Array]:
        """Return y twice: ``y'b`` is 1'a."""
        return np.array(y), np.array(y)

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return 1'a."""
        return float(dual.sum())
