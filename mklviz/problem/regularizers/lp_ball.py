"""Kernel weights in an lp ball, d >= 0 and ||d||_p <= 1 (lp-norm MKL): r = 0 there, infinity elsewhere.

    r*(u) = ||u||_{p*},   p* = p/(p-1);      G(x) = 1/2 ||x||_q^2,   q = 2p/(p+1)
    d_k = (s_k / ||s||_{p*})^{p*-1} = x_k^{2/(p+1)} / (sum x^q)^{1/p}

Reference: Kloft, Brefeld, Sonnenburg, Zien, lp-norm multiple kernel learning, JMLR 12 (2011), equation 23.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.regularizers._projections import onto_lp_ball
from mklviz.problem.regularizers._regularizer import Constraint, nonnegative, norm
from mklviz.typing import Array


@dataclass(frozen=True)
class LpBall(Constraint):
    """Weights that are not negative, with lp norm at most one.

    Parameters
    ----------
    p : float
        Power, > 1; near 1 few kernels have weight, with a large p all have about the same.
    """

    name_: ClassVar[str] = "lp-ball"
    label: ClassVar[str] = "ℓp-norm ball"
    p: float = 2.0

    def __post_init__(self) -> None:
        if not (is_number(self.p) and self.p > 1):
            raise ProblemError(f"p must be a number above 1, but {self.p!r} was given; p = 1 is the simplex.")

    def start(self, m: int) -> Array:
        """Return equal weights of norm one."""
        return np.full(m, float(m) ** (-1.0 / self.p))

    def value(self, weights: Array) -> float:
        """Return 0 in the ball (up to rounding), infinity elsewhere."""
        inside = nonnegative(weights) and norm(np.maximum(weights, 0.0), self.p) <= 1.0 + 1e-9
        return 0.0 if inside else float("inf")

    def project(self, weights: Array) -> Array:
        """Return the Euclidean projection."""
        return onto_lp_ball(weights, self.p)

    def conjugate(self, slopes: Array) -> float:
        """Return ||slopes||_{p*} over the positive slopes."""
        return norm(np.maximum(slopes, 0.0), self.p / (self.p - 1.0))

    def weights_from(self, quad: Array) -> Array:
        """Return (s / ||s||_{p*})^{p*-1}; equal weights where s is zero."""
        size = norm(quad, self.p / (self.p - 1.0))
        return np.asarray((quad / size) ** (1.0 / (self.p - 1.0))) if size > 0.0 else self.start(len(quad))

    def weights_from_norms(self, norms: Array) -> Array:
        """Return x^{2/(p+1)} / (sum x^q)^{1/p}; equal weights where all norms are zero."""
        top = float(norms.max())
        if top == 0.0:
            return self.start(len(norms))
        weights = (norms / top) ** (2.0 / (self.p + 1.0))
        return np.asarray(weights / norm(weights, self.p))

    def block(self, norms: Array) -> float:
        """Return 1/2 ||x||_q^2."""
        return 0.5 * norm(norms, 2.0 * self.p / (self.p + 1.0)) ** 2

    def norm_power(self, m: int) -> float:
        """Return q = 2p/(p+1)."""
        return 2.0 * self.p / (self.p + 1.0)

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> LpBall | None:
        """Return the ball with p = q/(2-q), for q between 1 and 2."""
        return cls(q / (2.0 - q)) if 1.0 < q < 2.0 else None

    def onto_boundary(self, weights: Array) -> Array:
        """Return weights of norm one."""
        return weights / norm(weights, self.p)

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return how far ``-grad J`` is from the outward normal ``c d^{p-1}``, relative to the steepest slope."""
        size = float(np.abs(gradient).max())
        normal = weights ** (self.p - 1.0)
        length = float(normal @ weights)
        multiplier = -float(gradient @ weights) / length if length > 0.0 else 0.0
        return float(np.abs(gradient + multiplier * normal).max()) / size if size > 0.0 else 0.0
