"""Kernel weights on the simplex, d >= 0 and 1'd = 1 (SILP, SimpleMKL, Level): r = 0 there, infinity elsewhere.

r*(u) = max_k u_k,      G(x) = 1/2 (sum_k x_k)^2,      d_k = x_k / sum x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.problem.regularizers._projections import onto_simplex
from mklviz.problem.regularizers._regularizer import Constraint, OnSimplex, positive_number
from mklviz.typing import Array


@dataclass(frozen=True)
class Simplex(OnSimplex, Constraint):
    """Weights that are not negative and sum to one."""

    name_: ClassVar[str] = "simplex"
    label: ClassVar[str] = "simplex (ℓ₁)"
    on_simplex: ClassVar[bool] = True
    sparse: ClassVar[bool] = True

    @property
    def determined(self) -> bool:
        """False: all kernels of largest s may share the weight as they like."""
        return False

    def value(self, weights: Array) -> float:
        """Return 0 on the simplex (up to rounding), infinity elsewhere."""
        return 0.0 if self.holds(weights) else float("inf")

    def conjugate(self, slopes: Array) -> float:
        """Return the largest slope."""
        return float(slopes.max())

    def weights_from(self, quad: Array) -> Array:
        """Return equal weights for the kernels of largest s, up to rounding; any others there are optimal as well."""
        largest = quad >= quad.max() * (1.0 - 1e-12)
        return largest / largest.sum()

    def weights_from_norms(self, norms: Array) -> Array:
        """Return x / sum x; equal weights where all norms are zero."""
        total = float(norms.sum())
        return norms / total if total > 0.0 else self.start(len(norms))

    def block(self, norms: Array) -> float:
        """Return 1/2 (sum x)^2."""
        return 0.5 * float(norms.sum()) ** 2

    def norm_power(self, m: int) -> float:
        """Return 1."""
        return 1.0

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> Simplex | None:
        """Return the simplex, for q = 1."""
        return cls() if q == 1.0 else None

    def onto_boundary(self, weights: Array) -> Array:
        """Return weights that sum to one."""
        return weights / weights.sum()


# Kernel weights on the simplex that cost their squares, r(d) = lam ||d||^2 there, infinity elsewhere (SMKL).
#
#     r*(u) = max over the simplex of  u'd - lam ||d||^2,      d = projection of s / (4 lam) onto the simplex
#
# A large price makes all weights about the same; as it falls to zero this becomes the plain simplex.
#
# Reference: Bertsimas, Iglesias, Johnson, Sparse multiple kernel learning: alternating best response and semidefinite
# relaxations, TMLR 2025.


_LOST = 1e32  # ratio of norms and price, or of price and norms, from which on rounding hides the smaller


@dataclass(frozen=True)
class SimplexRidge(OnSimplex):
    """Weights that sum to one and cost lam times their squares.

    Parameters
    ----------
    lam : float
        Price, > 0; a large one makes all weights about the same.
    """

    name_: ClassVar[str] = "simplex-ridge"
    label: ClassVar[str] = "simplex with ridge"
    lam: float = 1.0

    def __post_init__(self) -> None:
        positive_number(self.lam, "lam")

    def value(self, weights: Array) -> float:
        """Return lam ||d||^2 on the simplex (up to rounding), infinity elsewhere."""
        return self.lam * float(weights @ weights) if self.holds(weights) else float("inf")

    def gradient(self, weights: Array) -> Array:
        """Return 2 lam d."""
        return np.asarray(2.0 * self.lam * weights)

    def prox(self, weights: Array, step: float) -> Array:
        """Return the projection of ``x / (1 + 2 step lam)``."""
        return onto_simplex(weights / (1.0 + 2.0 * step * self.lam))

    def conjugate(self, slopes: Array) -> float:
        """Return u'd - lam ||d||^2 at the projection d of ``u / (2 lam)``."""
        best = self.weights_from(2.0 * slopes)
        return float(slopes @ best) - self.lam * float(best @ best)

    def weights_from(self, quad: Array) -> Array:
        """Return the projection of s / (4 lam)."""
        return onto_simplex(quad / (4.0 * self.lam))

    def weights_from_norms(self, norms: Array) -> Array:
        """Return the weights with ``2 lam d_k - x_k^2 / (2 d_k^2)`` equal for all k that sum to one.

        Their sum grows with that common value, which comes of halving an interval that all weights equal bracket.
        """
        m, top = len(norms), float(norms.max())
        if not top > 0.0 or self.lam >= _LOST * top**2:
            return self.start(m)
        shares = norms / top
        price = self.lam / top / top
        if price * _LOST <= 1.0:
            return np.asarray(shares / shares.sum())
        halves = 0.5 * shares**2
        slopes = 2.0 * price / m - halves * m**2
        low, high = float(slopes.min()), float(slopes.max())
        weights = _solve_each(halves, price, high)
        for _ in range(200):
            common = 0.5 * (low + high)
            if common in (low, high):
                break
            weights = _solve_each(halves, price, common)
            low, high = (low, common) if weights.sum() > 1.0 else (common, high)
        return np.asarray(weights / weights.sum())

    def block(self, norms: Array) -> float:
        """Return the minimum over d of 1/2 sum x^2 / d + r(d)."""
        weights = self.weights_from_norms(norms)
        held = norms > 0.0
        return 0.5 * float((norms[held] ** 2 / weights[held]).sum()) + self.lam * float(weights @ weights)


def _solve_each(halves: Array, price: float, common: float) -> Array:
    """Solve ``2 price d - h / d^2 = common`` for d >= 0, for each h >= 0; zero where h is and `common` is negative.

    As ``2 price d^3 - common d^2 = h`` the left side is convex from the root on, so Newton's method descends from an
    upper bound of it without ever overshooting.
    """
    root = np.cbrt(halves / (2.0 * price)) + max(common, 0.0) / (2.0 * price)
    if common < 0.0:
        root = np.minimum(root, np.sqrt(halves / -common))
    for _ in range(100):
        slope = root * (6.0 * price * root - 2.0 * common)
        excess = root**2 * (2.0 * price * root - common) - halves
        step = np.divide(np.maximum(excess, 0.0), slope, out=np.zeros_like(root), where=slope > 0.0)
        root = root - step
        if not (step > 1e-15 * root).any():
            break
    return root
