"""What a regularizer r(d) of the kernel weights must offer, whatever method moves the weights."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Regularizer(Protocol):
    """A convex function r of the kernel weights d >= 0; a constraint counts as r = 0 inside and infinity outside."""

    name_: ClassVar[str]
    label: ClassVar[str]

    def start(self, m: int) -> Array:
        """Return the (m,) weights every solver starts from."""

    def value(self, weights: Array) -> float:
        """Return r(d)."""

    def gradient(self, weights: Array) -> Array:
        """Return the gradient of r inside its domain, (m,)."""

    def project(self, weights: Array) -> Array:
        """Return the nearest point of r's domain, (m,)."""

    def conjugate(self, slopes: Array) -> float:
        """Return sup over d of slopes'd - r(d)."""

    def dual_scale(self, quad: Array) -> float:
        """Return the largest tau in (0, 1] for which tau * a has a finite bound, given s = quad of a."""

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return how far J + r is from optimal at d, given the gradient of J: 0 at the optimum, relative."""
