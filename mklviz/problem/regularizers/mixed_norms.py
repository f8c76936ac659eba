"""A block 1-norm beside a squared norm of the blocks: the elastic net, and the squared group norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.numbers import is_number
from mklviz.problem.regularizers._regularizer import Penalty, nonnegative, norm, positive_number
from mklviz.typing import Array

# Elastic net of block norms, sum_k l1 ||f_k|| + l2/2 ||f_k||^2 (SpicyMKL).
#
#     r(d) = 1/2 sum_k l1^2 d_k / (1 - l2 d_k),   0 <= d_k < 1/l2
#     r*(s/2) = 1/(2 l2) sum_k [sqrt(s_k) - l1]_+^2;      d_k = [1 - l1/sqrt(s_k)]_+ / l2 = x_k / (l1 + l2 x_k)
#
# Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), section 3.4.2.


_INSIDE = 1.0 - 1e-9  # largest share of 1/l2 that a weight may take


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """Functions that cost l1 times their norm and l2/2 times its square.

    Parameters
    ----------
    l1 : float
        Price of the norms, > 0.
    l2 : float
        Price of the squared norms, > 0; without it this is the block 1-norm.

    Examples
    --------
    >>> float(mv.ElasticNet(l1=1.0, l2=2.0).block(np.array([1.0, 0.5])))  # of the norms of two functions
    2.75
    """

    name_: ClassVar[str] = "elastic-net"
    label: ClassVar[str] = "elastic net"
    price_name: ClassVar[str] = "l1"
    sparse: ClassVar[bool] = True
    l1: float = 1.0
    l2: float = 1.0

    def __post_init__(self) -> None:
        positive_number(self.l1, "l1")
        positive_number(self.l2, "l2")

    def start(self, m: int) -> Array:
        """Return equal weights: 1/m, or half of what is allowed."""
        return np.full(m, min(1.0 / m, 0.5 / self.l2))

    def value(self, weights: Array) -> float:
        """Return 1/2 sum l1^2 d / (1 - l2 d), infinity outside 0 <= d < 1/l2."""
        room = 1.0 - self.l2 * weights
        if not nonnegative(weights) or not room.min() > 0.0:
            return float("inf")
        return 0.5 * self.l1**2 * float((weights / room).sum())

    def gradient(self, weights: Array) -> Array:
        """Return 1/2 l1^2 / (1 - l2 d)^2."""
        return np.asarray(0.5 * self.l1**2 / (1.0 - self.l2 * weights) ** 2)

    def project(self, weights: Array) -> Array:
        """Return the weights clipped to the box, a billionth of its width away from its upper end."""
        return np.clip(weights, 0.0, _INSIDE / self.l2)

    def prox(self, weights: Array, step: float) -> Array:
        """Return (1 - u) / l2 with ``u^3 + (l2 x - 1) u^2 = step l1^2 l2 / 2``, 0 < u <= 1."""
        slack = self.l2 * weights - 1.0
        wanted = 0.5 * step * self.l1**2 * self.l2
        held = 1.0 + slack > wanted
        room = np.ones_like(weights)
        room[held] = _cubic_root(slack[held], wanted)
        return np.minimum((1.0 - room) / self.l2, _INSIDE / self.l2)

    def conjugate(self, slopes: Array) -> float:
        """Return 1/(2 l2) sum [sqrt(2u) - l1]_+^2 over the positive slopes u."""
        excess = np.maximum(np.sqrt(2.0 * np.maximum(slopes, 0.0)) - self.l1, 0.0)
        return 0.5 / self.l2 * float(excess @ excess)

    def weights_from(self, quad: Array) -> Array:
        """Return [1 - l1 / sqrt(s)]_+ / l2."""
        roots = np.maximum(np.sqrt(quad), self.l1)
        return np.minimum((1.0 - self.l1 / roots) / self.l2, _INSIDE / self.l2)

    def weights_from_norms(self, norms: Array) -> Array:
        """Return x / (l1 + l2 x)."""
        return np.minimum(norms / (self.l1 + self.l2 * norms), _INSIDE / self.l2)

    def block(self, norms: Array) -> float:
        """Return sum l1 x + l2/2 x^2."""
        return float((self.l1 * norms + 0.5 * self.l2 * norms**2).sum())


def _cubic_root(slack: Array, wanted: float) -> Array:
    """Solve ``u^3 + a u^2 = wanted`` for u in (0, 1] by Newton's method from 1, which never overshoots."""
    root = np.ones_like(slack)
    for _ in range(200):
        step = (root**2 * (root + slack) - wanted) / (root * (3.0 * root + 2.0 * slack))
        root = root - step
        if not (np.abs(step) > 1e-15 * root).any():
            break
    return root


# A squared group norm plus a block 1-norm, lam/2 ||x||_p^2 + alpha sum_k x_k over the norms x_k = ||f_k|| (UFO-MKL).
#
#     D = D_loss - 1/(2 lam) || [sqrt(s) - alpha]_+ ||_q^2,   1/p + 1/q = 1
#     d_k = ||v||_q^{2-q} v_k^{q-1} / (lam sqrt(s_k)),   v = [sqrt(s) - alpha]_+
#
# The paper has no bias and takes C = 1/n; alpha = 0 is the OBSCURE problem and lp-norm multiple kernel learning.
#
# Reference: Orabona, Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011, equation 4.


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

    Examples
    --------
    >>> float(mv.GroupSquaredPlusL1(lam=2.0, alpha=1.0).block(np.array([1.0, 0.5])))  # of the norms of two functions
    2.75
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
