"""Linear penalty on the kernel weights, r(d) = sigma 1'd for d >= 0 (the l1 form of generalized MKL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mklviz.errors import ProblemError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class L1Penalty:
    """Weights d >= 0 that cost sigma each (row C of the table of formulations).

    Parameters
    ----------
    sigma : float
        Price of one unit of weight, > 0.
    """

    name_: ClassVar[str] = "l1-penalty"
    label: ClassVar[str] = "linear penalty"
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ProblemError(f"sigma must be a positive number, but {self.sigma!r} was given.")

    def start(self, m: int) -> Array:
        """Return equal weights 1/m."""
        return np.full(m, 1.0 / m)

    def value(self, weights: Array) -> float:
        """Return sigma 1'd, infinity where a weight is negative."""
        return self.sigma * float(weights.sum()) if weights.min() >= -1e-12 else float("inf")

    def gradient(self, weights: Array) -> Array:
        """Return sigma in every entry."""
        return np.full_like(weights, self.sigma)

    def project(self, weights: Array) -> Array:
        """Return the weights with negative entries set to zero."""
        return np.maximum(weights, 0.0)

    def conjugate(self, slopes: Array) -> float:
        """Return 0 where no slope exceeds sigma (up to rounding), infinity elsewhere."""
        return 0.0 if slopes.max() <= self.sigma * (1.0 + 1e-12) else float("inf")

    def dual_scale(self, quad: Array) -> float:
        """Return min(1, sqrt(2 sigma / max s)): the dual constraint is s_k <= 2 sigma."""
        largest = float(quad.max())
        return 1.0 if largest <= 2.0 * self.sigma else float(np.sqrt(2.0 * self.sigma / largest))

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return the largest violation of ``gradient + sigma = 0`` (>= 0 where d is zero), relative to sigma."""
        slopes = gradient + self.sigma
        return float(np.where(weights > 0, np.abs(slopes), np.maximum(-slopes, 0.0)).max()) / self.sigma
