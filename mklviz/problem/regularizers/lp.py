"""The lp norm of the kernel weights: bounded, or half its square as a penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.regularizers._projections import onto_lp_ball, squared_norm_prox
from mklviz.problem.regularizers._regularizer import Constraint, Penalty, nonnegative, norm, positive_number
from mklviz.typing import Array

# Kernel weights in an lp ball, d >= 0 and ||d||_p <= 1 (lp-norm MKL): r = 0 there, infinity elsewhere.
#
#     r*(u) = ||u||_{p*},   p* = p/(p-1);      G(x) = 1/2 ||x||_q^2,   q = 2p/(p+1)
#     d_k = (s_k / ||s||_{p*})^{p*-1} = x_k^{2/(p+1)} / (sum x^q)^{1/p}
#
# Reference: Kloft, Brefeld, Sonnenburg, Zien, lp-norm multiple kernel learning, JMLR 12 (2011), equation 23.


@dataclass(frozen=True)
class LpBall(Constraint):
    """Weights that are not negative, with lp norm at most one.

    Parameters
    ----------
    p : float
        Power, > 1; near 1 few kernels have weight, with a large p all have about the same.

    Examples
    --------
    >>> mv.LpBall(p=2.0).project(np.array([3.0, 4.0])).round(3).tolist()
    [0.6, 0.8]
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


# Half the squared lp norm of the kernel weights, r(d) = sigma/2 ||d||_p^2 for d >= 0 (SPG-GMKL and SMO-MKL programs).
#
#     r*(u) = ||u||_{p*}^2 / (2 sigma),   p* = p/(p-1);      d_k = ||u||_{p*}/sigma (u_k / ||u||_{p*})^{p*-1},   u = s/2
#     G(x) = 3/2 2^{-2/3} sigma^{1/3} N^{4/3},   N = ||x||_q,   q = 2p/(p+1)
#
# References: Vishwanathan, Sun, Theera-Ampornpunt, Varma, Multiple kernel learning and the SMO algorithm, NIPS 2010;
# Jain, Vishwanathan, Varma, SPG-GMKL, KDD 2012, released program.


@dataclass(frozen=True)
class LpPenalty(Penalty):
    """Weights d >= 0 that cost half their squared lp norm, times sigma.

    Parameters
    ----------
    p : float
        Power, >= 1; near 1 few kernels have weight.
    sigma : float
        Price, > 0.

    Examples
    --------
    >>> float(mv.LpPenalty(p=2.0, sigma=2.0).value(np.array([3.0, 4.0])))
    25.0
    """

    name_: ClassVar[str] = "lp-penalty"
    label: ClassVar[str] = "squared ℓp-norm penalty"
    p: float = 2.0
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not (is_number(self.p) and self.p >= 1):
            raise ProblemError(f"p must be a number not below 1, but {self.p!r} was given.")
        positive_number(self.sigma, "sigma")

    @property
    def determined(self) -> bool:  # type: ignore[override]
        """Whether p > 1; for p = 1 all kernels of largest s may share the weight as they like."""
        return self.p > 1.0

    @property
    def conjugate_power(self) -> float:
        """p* = p / (p - 1), infinity for p = 1."""
        return self.p / (self.p - 1.0) if self.p > 1.0 else float("inf")

    def value(self, weights: Array) -> float:
        """Return sigma/2 ||d||_p^2, infinity where a weight is negative."""
        if not nonnegative(weights):
            return float("inf")
        return 0.5 * self.sigma * norm(np.maximum(weights, 0.0), self.p) ** 2

    def gradient(self, weights: Array) -> Array:
        """Return sigma ||d||_p (d / ||d||_p)^{p-1}, zero at zero."""
        size = norm(weights, self.p)
        if size == 0.0:
            return np.zeros_like(weights)
        return np.asarray(self.sigma * size * (weights / size) ** (self.p - 1.0))

    def prox(self, weights: Array, step: float) -> Array:
        """Return the weights with ``d + step sigma ||d||_p^{2-p} d^{p-1} = x``."""
        return squared_norm_prox(weights, self.p, step * self.sigma)

    def conjugate(self, slopes: Array) -> float:
        """Return ||slopes||_{p*}^2 / (2 sigma) over the positive slopes."""
        return 0.5 * norm(np.maximum(slopes, 0.0), self.conjugate_power) ** 2 / self.sigma

    def weights_from(self, quad: Array) -> Array:
        """Return the weights at which the gradient of r is s/2; for p = 1, equal ones for the kernels of largest s."""
        slopes = 0.5 * quad
        size = norm(slopes, self.conjugate_power)
        if size == 0.0:
            return np.zeros_like(quad)
        if self.p == 1.0:
            largest = slopes >= size * (1.0 - 1e-12)
            return largest * (size / self.sigma / largest.sum())
        return np.asarray(size / self.sigma * (slopes / size) ** (1.0 / (self.p - 1.0)))

    def weights_from_norms(self, norms: Array) -> Array:
        """Return t x^{2/(p+1)} / (sum x^q)^{1/p} with t = (N^2 / (2 sigma))^{1/3}, the norm of the weights."""
        size = norm(norms, 2.0 * self.p / (self.p + 1.0))
        if size == 0.0:
            return np.zeros_like(norms)
        weights = (norms / norms.max()) ** (2.0 / (self.p + 1.0))
        return np.asarray((0.5 * size**2 / self.sigma) ** (1.0 / 3.0) / norm(weights, self.p) * weights)

    def block(self, norms: Array) -> float:
        """Return 3/2 2^{-2/3} sigma^{1/3} N^{4/3}."""
        size = norm(norms, 2.0 * self.p / (self.p + 1.0))
        return 1.5 * (0.25 * self.sigma * size**4) ** (1.0 / 3.0)

    def norm_power(self, m: int) -> float:
        """Return q = 2p/(p+1)."""
        return 2.0 * self.p / (self.p + 1.0)

    def norm_slope(self, size: float) -> float:
        """Return (2 sigma N)^{1/3}."""
        return float((2.0 * self.sigma * size) ** (1.0 / 3.0))

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> LpPenalty | None:
        """Return the penalty with p = q/(2-q) and sigma = slope^3 / (2N), for q below 2."""
        return cls(q / (2.0 - q), slope**3 / (2.0 * size)) if q < 2.0 else None
