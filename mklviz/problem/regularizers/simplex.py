"""Kernel weights on the simplex, d >= 0 and 1'd = 1 (SILP, SimpleMKL, Level): r = 0 there, infinity elsewhere.

r*(u) = max_k u_k,      G(x) = 1/2 (sum_k x_k)^2,      d_k = x_k / sum x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklviz.problem.regularizers._regularizer import Constraint, OnSimplex
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
