"""Kernel weights on the simplex with their negative entropy, r(d) = lam sum_k d_k log d_k.

    r*(u) = lam log sum_k exp(u_k / lam),      d = softmax(s / (2 lam))

The weights are never zero, but may be so small that the curvature lam / d_k stops every gradient method. So the
gradient is taken at 1e-5 / m at least, which is also the least weight a projection gives: that leaves a relative gap
of about 1e-6. `prox`, `weights_from` and `weights_from_norms` know no such limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.lazy import Later
from mklviz.problem.regularizers._projections import onto_simplex
from mklviz.problem.regularizers._regularizer import OnSimplex, positive_number
from mklviz.typing import Array

special = Later("scipy.special")

_STEEP = 100.0  # log x^2 / (2 lam) of a norm from which on the entropy adds less than rounding, e^-100 of the pull
_FLOOR = 1e-5  # least weight, as a share of 1/m


@dataclass(frozen=True)
class Entropy(OnSimplex):
    """Weights that sum to one and cost lam times their negative entropy.

    Parameters
    ----------
    lam : float
        Price, > 0; a large one makes all weights about the same.
    """

    name_: ClassVar[str] = "entropy"
    label: ClassVar[str] = "entropy"
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
        return np.asarray(self.lam * (1.0 + np.log(np.maximum(weights, _FLOOR / len(weights)))))

    def project(self, weights: Array) -> Array:
        """Return the nearest point of the simplex with no weight below the least."""
        m = len(weights)
        floor, rest = _FLOOR / m, 1.0 - _FLOOR
        return floor + rest * onto_simplex((weights - floor) / rest)

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
            logs = _solve_each(log_halves, common)
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

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return (largest slope with weight - smallest slope) / steepest slope of J: all must be equal."""
        size = float(np.abs(gradient).max())
        slopes = gradient + self.gradient(weights)
        held = weights > 2.0 * _FLOOR / len(weights)
        return float(slopes[held].max() - slopes.min()) / size if size > 0.0 and held.any() else 0.0


def _solve_each(log_halves: Array, common: float) -> Array:
    """Solve ``t - h exp(-2t) = common`` for t, for each h >= 0, given log h.

    The left side is increasing and concave: from a point where it is too small Newton's method climbs without ever
    overshooting. Such a point is ``common`` or, where h is large, the t at which ``h exp(-2t)`` alone is right.
    """
    alone = 0.5 * (log_halves - np.log(2.0 * max(abs(common), 1.0)))
    logs = np.maximum(common, np.minimum(alone, 0.0))
    for _ in range(100):
        pull = np.exp(log_halves - 2.0 * logs)
        step = (logs - pull - common) / (1.0 + 2.0 * pull)
        logs = logs - step
        if float(np.abs(step).max()) <= 1e-15 * max(1.0, float(np.abs(logs).max())):
            break
    return logs
