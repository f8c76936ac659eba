"""Squared loss, C/2 sum_i (y_i - f_i - b)^2: dual variables 1'beta = 0, dual value y'beta - ||beta||^2 / (2C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.problem.losses._loss import Loss
from mklviz.typing import Array


@dataclass(frozen=True)
class Squared(Loss):
    """Squared loss of ridge regression.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    bias : bool, default True
        Whether the function has an intercept.
    """

    name_: ClassVar[str] = "squared"
    label: ClassVar[str] = "squared"
    regression: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    weighable: ClassVar[bool] = True

    @property
    def box(self) -> tuple[float | Array, float | Array]:
        """No bounds, but for samples without weight."""
        if self.sample_weight is None:
            return -np.inf, np.inf
        side = np.where(self.sample_weight > 0.0, np.inf, 0.0)
        return -side, side

    @property
    def bounded(self) -> bool:
        """No."""
        return False

    def value(self, decisions: Array, y: Array) -> float:
        """Return C/2 sum_i (y_i - decisions_i)^2."""
        residuals = y - decisions
        if self.sample_weight is not None:
            return 0.5 * self.total(residuals**2)
        return 0.5 * self.C * float(residuals @ residuals)

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return the mean residual."""
        return float(np.average(y - scores, weights=self.sample_weight))

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        point = self.cost * (y - self.null_bias(y))
        return point, point, None

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return y'beta - ||beta||^2 / (2C)."""
        if self.sample_weight is not None:
            return float(y @ dual) - 0.5 * float(dual @ self.shares(dual))
        return float(y @ dual) - 0.5 * float(dual @ dual) / self.C
