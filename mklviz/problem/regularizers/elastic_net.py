"""Elastic net of block norms, sum_k l1 ||f_k|| + l2/2 ||f_k||^2 (SpicyMKL).

    r(d) = 1/2 sum_k l1^2 d_k / (1 - l2 d_k),   0 <= d_k < 1/l2
    r*(s/2) = 1/(2 l2) sum_k [sqrt(s_k) - l1]_+^2;      d_k = [1 - l1/sqrt(s_k)]_+ / l2 = x_k / (l1 + l2 x_k)

Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), section 3.4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.problem.regularizers._regularizer import Penalty, nonnegative, positive_number
from mklviz.typing import Array

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
