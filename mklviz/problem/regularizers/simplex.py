"""Kernel weights on the simplex, d >= 0 and 1'd = 1 (SILP, SimpleMKL, Level): r = 0 there, infinity elsewhere.

r*(u) = max_k u_k,      G(x) = 1/2 (sum_k x_k)^2,      d_k = x_k / sum x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.lazy import Later
from mklviz.problem.regularizers._projections import onto_simplex
from mklviz.problem.regularizers._regularizer import Constraint, OnSimplex, positive_number
from mklviz.typing import Array


@dataclass(frozen=True)
class Simplex(OnSimplex, Constraint):
    """Weights that are not negative and sum to one.

    Examples
    --------
    >>> mv.Simplex().project(np.array([0.5, 1.5, -2.0])).round(3).tolist()
    [0.0, 1.0, 0.0]
    """

    name_: ClassVar[str] = "simplex"
    label: ClassVar[str] = "simplex (ℓ₁)"
    on_simplex: ClassVar[bool] = True
    determined: ClassVar[bool] = False  # all kernels of largest s may share the weight as they like
    sparse: ClassVar[bool] = True

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

    Examples
    --------
    >>> float(mv.SimplexRidge(lam=2.0).value(np.array([0.5, 0.5])))
    1.0
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
        weights = _solved_squares(halves, price, high)
        for _ in range(200):
            common = 0.5 * (low + high)
            if common in (low, high):
                break
            weights = _solved_squares(halves, price, common)
            low, high = (low, common) if weights.sum() > 1.0 else (common, high)
        return np.asarray(weights / weights.sum())

    def block(self, norms: Array) -> float:
        """Return the minimum over d of 1/2 sum x^2 / d + r(d)."""
        weights = self.weights_from_norms(norms)
        held = norms > 0.0
        return 0.5 * float((norms[held] ** 2 / weights[held]).sum()) + self.lam * float(weights @ weights)


def _solved_squares(halves: Array, price: float, common: float) -> Array:
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


# Kernel weights on the simplex with their negative entropy, r(d) = lam sum_k d_k log d_k.
#
#     r*(u) = lam log sum_k exp(u_k / lam),      d = softmax(s / (2 lam))
#
# The weights are never zero, but may be so small that the curvature lam / d_k stops every gradient method. So the
# gradient is taken at 1e-5 / m at least, which is also the least weight a projection gives: that leaves a relative gap
# of about 1e-6. `prox`, `weights_from` and `weights_from_norms` know no such limit.


special = Later("scipy.special")

_STEEP = 100.0  # log x^2 / (2 lam) of a norm from which on the entropy adds less than rounding, e^-100 of the pull


@dataclass(frozen=True)
class Entropy(OnSimplex):
    """Weights that sum to one and cost lam times their negative entropy.

    Parameters
    ----------
    lam : float
        Price, > 0; a large one makes all weights about the same.

    Examples
    --------
    >>> round(float(mv.Entropy(lam=1.0).value(np.array([0.5, 0.5]))), 3)
    -0.693
    """

    name_: ClassVar[str] = "entropy"
    label: ClassVar[str] = "entropy"
    floor: ClassVar[float] = 1e-5
    lam: float = 1.0

    def __post_init__(self) -> None:
        positive_number(self.lam, "lam")
        special.load()

    def value(self, weights: Array) -> float:
        """Return lam sum d log d on the simplex (up to rounding), infinity elsewhere."""
        if not self.holds(weights):
            return float("inf")
        held = np.maximum(weights, 0.0)
        return self.lam * float(special.xlogy(held, held).sum())

    def gradient(self, weights: Array) -> Array:
        """Return lam (1 + log d)."""
        return np.asarray(self.lam * (1.0 + np.log(np.maximum(weights, self.floor / len(weights)))))

    def prox(self, weights: Array, step: float) -> Array:
        """Return the weights with ``d_k + step lam log d_k - x_k`` equal for all k that sum to one.

        Each is a convex decreasing function of that common value: Newton's method climbs from where the largest
        weight alone is one, without ever overshooting.
        """
        price = step * self.lam
        common, shape = float(weights.max()) - 1.0, -np.log(price)
        nearest = weights
        for _ in range(200):
            nearest = price * np.real(special.wrightomega((weights - common) / price + shape))
            excess = float(nearest.sum()) - 1.0
            ahead = common + excess / float((nearest / (nearest + price)).sum())
            if excess <= 1e-15 or ahead == common:
                break
            common = ahead
        return np.asarray(nearest / nearest.sum())

    def conjugate(self, slopes: Array) -> float:
        """Return lam log sum exp(u / lam)."""
        return self.lam * float(special.logsumexp(slopes / self.lam))

    def weights_from(self, quad: Array) -> Array:
        """Return softmax(s / (2 lam))."""
        return np.asarray(special.softmax(0.5 * quad / self.lam))

    def weights_from_norms(self, norms: Array) -> Array:
        """Return the weights with ``lam log d_k - x_k^2 / (2 d_k^2)`` equal for all k that sum to one.

        The outer unknown is that common value; both it and each log d_k are solved for by Newton's method on increasing
        functions, inside a shrinking interval. Where norms are so large that the entropy is lost beside them, weights
        are proportional to the norms.
        """
        with np.errstate(divide="ignore"):  # a norm of zero has no pull, however small its weight
            log_halves = 2.0 * np.log(norms) - np.log(2.0 * self.lam)
        if log_halves.max() > _STEEP:  # and where norms are larger still, their squares are no numbers
            shares = norms / norms.max()
            return np.asarray(shares / shares.sum())
        # all weights at most (at least) 1/m: their common value brackets the one that is sought
        equal = -np.log(len(norms))
        pulls = np.exp(log_halves - 2.0 * equal)
        low, high = float(equal - pulls.max()), float(equal - pulls.min())
        logs = np.full_like(norms, equal)
        common = 0.5 * (low + high)
        for _ in range(200):
            logs = _solved_logs(log_halves, common)
            weights = np.exp(logs)
            excess = float(weights.sum()) - 1.0
            low, high = (low, common) if excess > 0.0 else (common, high)
            slope = float((weights / (1.0 + 2.0 * np.exp(log_halves - 2.0 * logs))).sum())
            wanted = common - excess / slope if slope > 0.0 else np.inf
            wanted = wanted if low < wanted < high else 0.5 * (low + high)
            if abs(excess) <= 1e-15 or wanted == common or high - low <= 1e-15 * abs(high):
                break
            common = wanted
        return np.asarray(np.exp(logs) / np.exp(logs).sum())

    def block(self, norms: Array) -> float:
        """Return the minimum over d of 1/2 sum x^2 / d + r(d)."""
        weights = self.weights_from_norms(norms)
        held = np.maximum(weights, 1e-300)
        return 0.5 * float((norms**2 / held).sum()) + self.value(weights)


def _solved_logs(log_halves: Array, common: float) -> Array:
    """Solve ``t - h exp(-2t) = common`` for t, for each h >= 0, given log h.

    With ``u = h exp(-2t)`` that is ``2u exp(2u) = 2h exp(-2 common)``. Where u is large, that sum for t cancels.
    """
    u = 0.5 * np.real(special.wrightomega(log_halves + np.log(2.0) - 2.0 * common))
    return np.where(u > 1.0, 0.5 * (log_halves - np.log(np.maximum(u, 1.0))), common + u)
