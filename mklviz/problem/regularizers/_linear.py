"""A price per unit of kernel weight, r(d) = price 1'd for d >= 0, however the price is named.

r*(u) = 0 where u_k <= price, infinity elsewhere
G(x) = sqrt(2 price) sum_k x_k,      d_k = x_k / sqrt(2 price)
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.problem.regularizers._regularizer import Array, Penalty, nonnegative

__all__ = ["LinearPenalty"]


class LinearPenalty(Penalty):
    """Weights d >= 0 that cost `price` each."""

    linear: ClassVar[bool] = True
    sparse: ClassVar[bool] = True

    @property
    def determined(self) -> bool:
        """False: s says which kernels may have weight, not how much."""
        return False

    @property
    @abstractmethod
    def price(self) -> float:
        """What one unit of weight costs."""

    def value(self, weights: Array) -> float:
        """Return price 1'd, infinity where a weight is negative."""
        return self.price * float(weights.sum()) if nonnegative(weights) else float("inf")

    def gradient(self, weights: Array) -> Array:
        """Return the price in every entry."""
        return np.full_like(weights, self.price)

    def prox(self, weights: Array, step: float) -> Array:
        """Return [x - step price]_+."""
        return np.maximum(weights - step * self.price, 0.0)

    def conjugate(self, slopes: Array) -> float:
        """Return 0 where no slope exceeds the price (up to rounding), infinity elsewhere."""
        return 0.0 if slopes.max() <= self.price * (1.0 + 1e-12) else float("inf")

    def dual_scale(self, quad: Array) -> float:
        """Return min(1, sqrt(2 price / max s)): the dual constraint is s_k <= 2 price."""
        largest = float(quad.max())
        return 1.0 if largest <= 2.0 * self.price else float(np.sqrt(2.0 * self.price / largest))

    def weights_from(self, quad: Array) -> Array:
        """Raise `ProblemError`: s says which kernels may have weight, not how much."""
        raise ProblemError(f"With the {self.label} the dual variables do not determine the kernel weights.")

    def weights_from_norms(self, norms: Array) -> Array:
        """Return x / sqrt(2 price)."""
        return norms / np.sqrt(2.0 * self.price)

    def block(self, norms: Array) -> float:
        """Return sqrt(2 price) sum x."""
        return float(np.sqrt(2.0 * self.price)) * float(norms.sum())

    def norm_power(self, m: int) -> float:
        """Return 1."""
        return 1.0

    def norm_slope(self, size: float) -> float:
        """Return sqrt(2 price), whatever the size."""
        return float(np.sqrt(2.0 * self.price))
