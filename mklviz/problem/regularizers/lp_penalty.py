"""Half the squared lp norm of the kernel weights, r(d) = sigma/2 ||d||_p^2 for d >= 0 (SPG-GMKL and SMO-MKL programs).

    r*(u) = ||u||_{p*}^2 / (2 sigma),   p* = p/(p-1);      d_k = ||u||_{p*}/sigma (u_k / ||u||_{p*})^{p*-1},   u = s/2
    G(x) = 3/2 2^{-2/3} sigma^{1/3} N^{4/3},   N = ||x||_q,   q = 2p/(p+1)

References: Vishwanathan, Sun, Theera-Ampornpunt, Varma, Multiple kernel learning and the SMO algorithm, NIPS 2010;
Jain, Vishwanathan, Varma, SPG-GMKL, KDD 2012, released program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.regularizers._projections import squared_norm_prox
from mklviz.problem.regularizers._regularizer import Penalty, nonnegative, norm, positive_number
from mklviz.typing import Array


@dataclass(frozen=True)
class LpPenalty(Penalty):
    """Weights d >= 0 that cost half their squared lp norm, times sigma.

    Parameters
    ----------
    p : float
        Power, >= 1; near 1 few kernels have weight.
    sigma : float
        Price, > 0.
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
    def determined(self) -> bool:
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
