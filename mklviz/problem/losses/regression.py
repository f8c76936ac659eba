"""Losses of regression: squared and epsilon-insensitive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.losses._loss import ON_KINK, Loss, where_slopes_balance
from mklviz.typing import Array

# Squared loss, C/2 sum_i (y_i - f_i - b)^2: dual variables 1'beta = 0, dual value y'beta - ||beta||^2 / (2C).


@dataclass(frozen=True)
class Squared(Loss):
    """Squared loss of ridge regression.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    bias : bool, default True
        Whether the function has an intercept.

    Examples
    --------
    >>> mv.Squared(C=2.0).value(np.array([1.0, 2.0]), np.array([1.0, 5.0]))
    9.0
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

    def value(self, decisions: Array, y: Array) -> float:
        """Return C/2 sum_i (y_i - decisions_i)^2."""
        return 0.5 * self.total((y - decisions) ** 2)

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return the mean residual."""
        return float(np.average(y - scores, weights=self.sample_weight))

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        point = self.cost * (y - self.null_bias(y))
        return point, point, None

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return y'beta - ||beta||^2 / (2C)."""
        return float(y @ dual) - 0.5 * float(dual @ self.shares(dual))


# Epsilon-insensitive loss, C sum_i [|y_i - f_i - b| - epsilon]_+, with dual variables -C <= beta <= C, 1'beta = 0 and
# dual value y'beta - epsilon ||beta||_1.


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """Loss of support vector regression: errors up to epsilon cost nothing, larger ones their excess.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    epsilon : float
        Error that costs nothing, in units of the targets, >= 0.
    bias : bool, default True
        Whether the function has an intercept.

    Examples
    --------
    >>> round(mv.EpsilonInsensitive(C=2.0, epsilon=0.5).value(np.array([1.2, 2.0]), np.array([1.0, 5.0])), 6)
    5.0
    """

    name_: ClassVar[str] = "epsilon-insensitive"
    label: ClassVar[str] = "ε-insensitive"
    regression: ClassVar[bool] = True
    weighable: ClassVar[bool] = True
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_number(self.epsilon) and self.epsilon >= 0):
            raise ProblemError(f"epsilon must be a number not below zero, but {self.epsilon!r} was given.")

    @property
    def box(self) -> tuple[float | Array, float | Array]:
        """Minus the cost of an error, and the cost."""
        return -self.cost, self.cost

    def value(self, decisions: Array, y: Array) -> float:
        """Return ``C sum_i [|y_i - decisions_i| - epsilon]_+``."""
        return self.total(np.maximum(np.abs(y - decisions) - self.epsilon, 0.0))

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return a bias of least loss.

        As a function of b each term bends by one at ``residual - epsilon`` and at ``residual + epsilon``; the slope
        starts at -n, so the n-th smallest of the 2n bends is a minimiser. With weights they are what is counted.
        """
        residuals, n = y - scores, len(y)
        bends = np.concatenate([residuals - self.epsilon, residuals + self.epsilon])
        if self.sample_weight is not None:
            return where_slopes_balance(bends, np.tile(self.sample_weight, 2), float(self.sample_weight.sum()))
        lower, upper = np.partition(bends, (n - 1, n))[n - 1 : n + 1]
        return 0.5 * float(lower + upper)  # the loss is flat between the two

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        residuals = y - self.null_bias(y)
        close = ON_KINK * float(np.abs(residuals).max() + self.epsilon) + 1e-15 * float(np.abs(y).max())
        lower = (residuals > self.epsilon + close) * 1.0 - (residuals <= close - self.epsilon)
        upper = (residuals >= self.epsilon - close) * 1.0 - (residuals < -self.epsilon - close)
        return np.asarray(self.cost * lower), np.asarray(self.cost * upper), 0 if self.bias else None

    def null_face(self, lower: Array, upper: Array, y: Array) -> tuple[Loss, Array]:
        """Return the loss with epsilon 1, or 0 where both kinks of a sample meet, and targets that are their signs."""
        both = bool(((lower < 0.0) & (upper > 0.0)).any())
        ends = np.sign(lower) + np.sign(upper)
        return replace(self, epsilon=0.0 if both else 1.0), ends

    def full_dual(self, y: Array) -> Array:
        """Return signed dual variables in proportion to the targets, the largest of size C where all count alike."""
        signed = self.centred(y)
        signed = signed / np.abs(signed).max()
        return np.asarray(self.cost * signed)

    def box_program(self, y: Array) -> tuple[Array, Array]:
        """Return ``y - epsilon`` for b+ >= 0 and ``y + epsilon`` for b- <= 0."""
        return np.concatenate([y - self.epsilon, y + self.epsilon]), np.repeat([1.0, -1.0], len(y))

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return y'beta - epsilon ||beta||_1."""
        return float(y @ dual) - self.epsilon * float(np.abs(dual).sum())
