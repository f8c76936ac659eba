"""A squared group norm plus a block 1-norm, lam/2 ||x||_p^2 + alpha sum_k x_k over the norms x_k = ||f_k|| (UFO-MKL).

    D = D_loss - 1/(2 lam) || [sqrt(s) - alpha]_+ ||_q^2,   1/p + 1/q = 1
    d_k = ||v||_q^{2-q} v_k^{q-1} / (lam sqrt(s_k)),   v = [sqrt(s) - alpha]_+

The paper has no bias and takes C = 1/n; alpha = 0 is the OBSCURE problem and lp-norm multiple kernel learning.

Reference: Orabona, Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011, equation 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.numbers import is_number
from mklviz.problem.regularizers._regularizer import Penalty, norm, positive_number
from mklviz.typing import Array


@dataclass(frozen=True)
class GroupSquaredPlusL1(Penalty):
    """Functions that cost half their squared group norm, times lam, and alpha times the sum of norms.

    Parameters
    ----------
    lam : float
        Price of the squared group norm, > 0.
    alpha : float
        Price of the sum of norms, >= 0; a larger one leaves fewer kernels.
    p : float, optional
        Power of the group norm, 1 < p <= 2; the paper's q/(q-1) with q = max(2, 2 log m) where not given.
    """

    name_: ClassVar[str] = "group-squared"
    label: ClassVar[str] = "squared group norm + block ℓ₁"
    price_name: ClassVar[str] = "alpha"
    smooth: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    proximal: ClassVar[bool] = False
    lam: float = 1.0
    alpha: float = 0.0
    p: float | None = None

    def __post_init__(self) -> None:
        positive_number(self.lam, "lam")
        if not (is_number(self.alpha) and self.alpha >= 0):
            raise ProblemError(f"alpha must be a number not below zero, but {self.alpha!r} was given.")
        if self.p is not None and not (is_number(self.p) and 1.0 < self.p <= 2.0):
            raise ProblemError(f"p must lie above 1 and not above 2, but {self.p!r} was given.")

    def dual_power(self, m: int) -> float:
        """Return q = p / (p - 1) for m kernels."""
        return max(2.0, 2.0 * float(np.log(m))) if self.p is None else self.p / (self.p - 1.0)

    def power(self, m: int) -> float:
        """Return p for m kernels."""
        q = self.dual_power(m)
        return q / (q - 1.0)

    def value(self, weights: Array) -> float:
        """Raise `UnsupportedProblem`: the price is one of norms, see `cost`."""
        self._no_formula("a price of weights")

    def gradient(self, weights: Array) -> Array:
        """Raise `UnsupportedProblem`, like `value`."""
        self._no_formula("a price of weights")

    def _no_formula(self, what: str) -> NoReturn:
        raise UnsupportedProblem(f"The {self.label} prices the norms of the functions, not the kernel weights.")

    def conjugate(self, slopes: Array) -> float:
        """Return ||[sqrt(2u) - alpha]_+||_q^2 / (2 lam) over the positive slopes u."""
        excess = np.maximum(np.sqrt(2.0 * np.maximum(slopes, 0.0)) - self.alpha, 0.0)
        return 0.5 * norm(excess, self.dual_power(len(slopes))) ** 2 / self.lam

    def weights_from(self, quad: Array) -> Array:
        """Return ||v||_q (v / ||v||_q)^{q-1} / (lam sqrt(s))."""
        roots = np.sqrt(quad)
        excess = np.maximum(roots - self.alpha, 0.0)
        q = self.dual_power(len(quad))
        size = norm(excess, q)
        weights = np.zeros_like(quad)
        held = excess > 0.0
        weights[held] = size * (excess[held] / size) ** (q - 1.0) / (self.lam * roots[held])
        return weights

    def weights_from_norms(self, norms: Array) -> Array:
        """Return x_k divided by the slope of the price in x_k."""
        p = self.power(len(norms))
        size = norm(norms, p)
        weights = np.zeros_like(norms)
        held = norms > 0.0
        weights[held] = norms[held] / (self.lam * size * (norms[held] / size) ** (p - 1.0) + self.alpha)
        return weights

    def block(self, norms: Array) -> float:
        """Return lam/2 ||x||_p^2 + alpha sum x."""
        return 0.5 * self.lam * norm(norms, self.power(len(norms))) ** 2 + self.alpha * float(norms.sum())

    def cost(self, weights: Array, quad: Array) -> float:
        """Return the block form at the norms d sqrt(s); infinity where a weight is negative."""
        return self.block(weights * np.sqrt(quad)) if weights.min() >= 0.0 else float("inf")

    def norm_power(self, m: int) -> float | None:
        """Return p, if alpha is zero."""
        return self.power(m) if self.alpha == 0.0 else None

    def norm_slope(self, size: float) -> float:
        """Return lam N."""
        return self.lam * size

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> GroupSquaredPlusL1 | None:
        """Return the price slope / N of the squared norm alone, for q above 1."""
        return cls(slope / size, 0.0, q) if 1.0 < q <= 2.0 else None

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return the largest distance of a weight from what s asks for, relative to the largest weight."""
        wanted = self.weights_from(np.maximum(-2.0 * gradient, 0.0))
        size = max(float(wanted.max()), float(weights.max()))
        return float(np.abs(weights - wanted).max()) / size if size > 0.0 else 0.0
