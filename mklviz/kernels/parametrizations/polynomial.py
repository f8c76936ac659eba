"""A polynomial of weighted features, k_d(x, z) = (d_0 + sum_k d_k x_k z_k)^p: learning d weighs the features.

    d k / d d_0 = p b^(p-1),    d k / d d_k = p b^(p-1) x_k z_k,    b = d_0 + sum_k d_k x_k z_k

Powers and products of kernels are kernels (Schur), so this is one for every whole p >= 1 and d >= 0.

Reference: Varma, Babu, More generality in efficient multiple kernel learning (ICML 2009), section 3; Cortes, Mohri,
Rostamizadeh, Learning non-linear combinations of kernels (NIPS 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.errors import KernelError
from mklviz.kernels.parametrizations._kernel import ParametricKernel
from mklviz.numbers import is_number
from mklviz.typing import Array


@dataclass(frozen=True)
class LearnedPolynomial(ParametricKernel):
    """A polynomial with a learned weight for its constant and for every feature.

    Parameters
    ----------
    degree : int
        p >= 1.
    """

    degree: int = 2

    def __post_init__(self) -> None:
        if not is_number(self.degree) or self.degree != int(self.degree) or self.degree < 1:
            raise KernelError(
                f"The degree of a polynomial must be a whole number from 1 on, but is {self.degree!r:.80}."
            )
        object.__setattr__(self, "degree", int(self.degree))

    @property
    def label(self) -> str:  # type: ignore[override]
        """Such as "polynomial of degree 2"."""
        return f"polynomial of degree {self.degree}"

    def names(self, features: Sequence[str]) -> list[str]:
        """Return "constant" and the names of the features."""
        return ["constant", *features]

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        """Return ``(d_0 + sum_k d_k left_ik right_jk)^p``."""
        return _power(_base(left, right, weights), self.degree)

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        """Return the charged sums of the derivatives: one matrix product for all features."""
        inner = _power(_base(left, right, weights), self.degree - 1)
        inner *= self.degree
        inner *= charges
        return np.append(inner.sum(), ((inner.T @ left) * right).sum(0))


def _base(left: Array, right: Array, weights: Array) -> Array:
    used = np.flatnonzero(weights[1:])  # most are zero where few features matter
    scaled = left[:, used] * weights[1:][used]
    base = scaled @ right[:, used].T
    base += weights[0]
    return np.asarray(base)


def _power(base: Array, degree: int) -> Array:
    """Return ``base^degree`` by products, which are far quicker than powers of floats."""
    if degree <= 1:
        return np.ones_like(base) if degree == 0 else base.copy()
    power = _power(base, degree // 2)
    power *= power
    if degree % 2:
        power *= base
    return power
