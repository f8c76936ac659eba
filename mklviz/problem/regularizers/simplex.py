"""Kernel weights on the simplex, d >= 0 and 1'd = 1 (SILP, SimpleMKL, Level): r = 0 there, infinity elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Simplex:
    """Weights that are not negative and sum to one (row A of the table of formulations)."""

    name_: ClassVar[str] = "simplex"
    label: ClassVar[str] = "simplex (ℓ₁)"

    def start(self, m: int) -> Array:
        """Return equal weights 1/m."""
        return np.full(m, 1.0 / m)

    def value(self, weights: Array) -> float:
        """Return 0 on the simplex (up to rounding), infinity elsewhere."""
        inside = weights.min() >= -1e-12 and abs(weights.sum() - 1.0) <= 1e-9
        return 0.0 if inside else float("inf")

    def gradient(self, weights: Array) -> Array:
        """Return zero."""
        return np.zeros_like(weights)

    def project(self, weights: Array) -> Array:
        """Return the Euclidean projection: subtract one threshold, clip at zero (by sorting)."""
        weights = weights - weights.max()  # the same projection, and exact however far away the point is
        sorted_down = np.sort(weights)[::-1]
        excess = np.cumsum(sorted_down) - 1.0
        counts = np.arange(1, len(weights) + 1)
        last = np.flatnonzero(sorted_down * counts > excess)[-1]
        projected = np.maximum(weights - excess[last] / counts[last], 0.0)
        return np.asarray(projected / projected.sum())  # rounding in a long sum

    def conjugate(self, slopes: Array) -> float:
        """Return the largest slope."""
        return float(slopes.max())

    def dual_scale(self, quad: Array) -> float:
        """Return 1: every dual point has a bound."""
        return 1.0

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return (largest slope with weight - smallest slope) / largest slope: all must be equal, none smaller."""
        size = float(np.abs(gradient).max())
        return 0.0 if size == 0.0 else float(gradient[weights > 0].max() - gradient.min()) / size
