"""A power of each kernel weight, r(d) = amount/p sum_k (unit d_k)^p for d >= 0, however it is parametrised.

r*(u) = amount/p* sum_k (u_k / (amount unit))^{p*},   p* = p/(p-1)
unit d_k = (u_k / (amount unit))^{1/(p-1)} = (unit x_k^2 / (2 amount))^{1/(p+1)}
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.problem.regularizers._projections import power_prox
from mklviz.problem.regularizers._regularizer import Penalty, nonnegative
from mklviz.typing import Array

# A price per unit of kernel weight, r(d) = price 1'd for d >= 0, however the price is named.
#
# r*(u) = 0 where u_k <= price, infinity elsewhere
# G(x) = sqrt(2 price) sum_k x_k,      d_k = x_k / sqrt(2 price)


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


_LARGEST = 1e100  # a term of the conjugate beyond this is out of all proportion, and squares must not overflow


class SeparablePower(Penalty):
    """Weights d >= 0 each of which costs a power of itself."""

    steep: ClassVar[bool] = True

    @property
    @abstractmethod
    def power(self) -> float:
        """p > 1."""

    @property
    @abstractmethod
    def amount(self) -> float:
        """What a weight of ``1 / unit`` costs, times p."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """What a weight is multiplied by before its power is taken."""

    def value(self, weights: Array) -> float:
        """Return amount/p sum (unit d)^p, infinity where a weight is negative or the power overflows."""
        if not nonnegative(weights):
            return float("inf")
        with np.errstate(over="ignore"):
            return self.amount / self.power * float(((self.unit * np.maximum(weights, 0.0)) ** self.power).sum())

    def gradient(self, weights: Array) -> Array:
        """Return amount unit (unit d)^{p-1}."""
        with np.errstate(over="ignore"):
            return np.asarray(self.amount * self.unit * (self.unit * weights) ** (self.power - 1.0))

    def prox(self, weights: Array, step: float) -> Array:
        """Return the weights with ``d + step amount unit^p d^{p-1} = x``."""
        log_price = np.log(step) + np.log(self.amount) + self.power * np.log(self.unit)
        return power_prox(weights, self.power, float(log_price))

    def _shares(self, slopes: Array) -> Array:
        return np.maximum(slopes, 0.0) / (self.amount * self.unit)

    def conjugate(self, slopes: Array) -> float:
        """Return amount/p* sum (u / (amount unit))^{p*} over the positive slopes."""
        conjugate_power = self.power / (self.power - 1.0)
        with np.errstate(over="ignore"):
            return self.amount / conjugate_power * float((self._shares(slopes) ** conjugate_power).sum())

    def dual_scale(self, quad: Array) -> float:
        """Return 1 unless the power in the conjugate would overflow, as it may for p near 1."""
        largest = float(self._shares(0.5 * quad).max())
        allowed = _LARGEST ** ((self.power - 1.0) / self.power)
        return 1.0 if largest <= allowed else float(np.sqrt(allowed / largest))

    def weights_from(self, quad: Array) -> Array:
        """Return the weights at which the gradient of r is s/2."""
        with np.errstate(over="ignore"):
            return np.asarray(self._shares(0.5 * quad) ** (1.0 / (self.power - 1.0)) / self.unit)

    def weights_from_norms(self, norms: Array) -> Array:
        """Return (unit x^2 / (2 amount))^{1/(p+1)} / unit."""
        return np.asarray((0.5 * self.unit / self.amount * norms**2) ** (1.0 / (self.power + 1.0)) / self.unit)

    def block(self, norms: Array) -> float:
        """Return amount (1 + 1/p) sum (unit d)^p at the best weights for these norms."""
        best = self.unit * self.weights_from_norms(norms)
        return self.amount * (1.0 + 1.0 / self.power) * float((best**self.power).sum())
