"""Kernels with learned parameters: Gaussian and polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import KernelError
from mklviz.kernels.evaluation.distances import group_names, membership
from mklviz.kernels.families._family import squared_distances
from mklviz.kernels.parametrizations._kernel import ParametricKernel
from mklviz.numbers import is_number
from mklviz.typing import Array

# A Gaussian with a learned width per group of features, k_d(x, z) = exp(-sum_g d_g ||x_g - z_g||^2).
#
#     d k / d d_g = -||x_g - z_g||^2 k
#
# d_g stands for 1 / (2 width_g^2). Alone it is what `ProductBank.build(X, groups)` makes; here it can be a term of a
# sum.
#
# Reference: Jain, Vishwanathan, Varma, SPG-GMKL (KDD 2012), section 5.


_NEAR = 0.5  # values above this are of points so close that the squares of their differences may cancel
_FEW = 4  # such pairs per point, up to which summing them costs less than the matrix product


@dataclass(frozen=True)
class LearnedGaussian(ParametricKernel):
    """A Gaussian kernel with a learned width for every feature or group of features.

    Parameters
    ----------
    groups : sequence of sequences of int, optional
        The columns that share one width; every column has its own by default.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> len(mv.ParametricBank.build(train.X, mv.LearnedGaussian(groups=[[0, 1], [2]])))  # widths
    2
    """

    label: ClassVar[str] = "Gaussian"
    groups: Sequence[Sequence[int]] | None = None

    def names(self, features: Sequence[str]) -> list[str]:
        """Return what the distances are taken in, or raise `KernelError` for a column that is not there."""
        membership(self.groups, len(features))
        return group_names(self.groups, features)

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        """Return ``exp(-sum_g d_g ||left_ig - right_jg||^2)``."""
        scales = weights @ membership(self.groups, left.shape[1])
        used = np.flatnonzero(scales)
        distances = squared_distances(left[:, used], right[:, used], np.sqrt(scales[used]))
        np.negative(distances, out=distances)
        return np.asarray(np.exp(distances, out=distances))

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        """Return the charged sums of the derivatives: one matrix product for all features.

        ``x^2 + z^2 - 2 x z`` cancels where points are close, and where the kernel is narrow these pairs are all that
        counts; so where there are few, they are summed as they are.
        """
        charged = self.values(left, right, weights)
        near = np.flatnonzero(charged > _NEAR)
        charged *= charges
        centre = right.mean(0)
        x, z = left - centre, right - centre
        per_feature = np.zeros(left.shape[1])
        if len(near) <= _FEW * min(len(x), len(z)):
            i, j = np.divmod(near, len(z))
            per_feature += charged[i, j] @ (x[i] - z[j]) ** 2
            charged[i, j] = 0.0
        per_feature += charged.sum(1) @ x**2 + charged.sum(0) @ z**2 - 2.0 * (x * (charged @ z)).sum(0)
        return np.asarray(-(membership(self.groups, left.shape[1]) @ per_feature))


# A polynomial of weighted features, k_d(x, z) = (d_0 + sum_k d_k x_k z_k)^p: learning d weighs the features.
#
#     d k / d d_0 = p b^(p-1),    d k / d d_k = p b^(p-1) x_k z_k,    b = d_0 + sum_k d_k x_k z_k
#
# Powers and products of kernels are kernels (Schur), so this is one for every whole p >= 1 and d >= 0.
#
# Reference: Varma, Babu, More generality in efficient multiple kernel learning (ICML 2009), section 3; Cortes, Mohri,
# Rostamizadeh, Learning non-linear combinations of kernels (NIPS 2009).


@dataclass(frozen=True)
class LearnedPolynomial(ParametricKernel):
    """A polynomial with a learned weight for its constant and for every feature.

    Parameters
    ----------
    degree : int
        p >= 1.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> len(mv.ParametricBank.build(train.X, mv.LearnedPolynomial(degree=3)))  # a constant and 13 features
    14
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
