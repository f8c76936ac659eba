"""A Gaussian with a learned width per group of features, k_d(x, z) = exp(-sum_g d_g ||x_g - z_g||^2).

    d k / d d_g = -||x_g - z_g||^2 k

d_g stands for 1 / (2 width_g^2). Alone it is what `ProductBank.build(X, groups)` makes; here it can be a term of a sum.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL (KDD 2012), section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.evaluation.distances import group_names, membership
from mklviz.kernels.families._family import squared_distances
from mklviz.kernels.parametrizations._kernel import ParametricKernel
from mklviz.typing import Array

_NEAR = 0.5  # values above this are of points so close that the squares of their differences may cancel
_FEW = 4  # such pairs per point, up to which summing them costs less than the matrix product


@dataclass(frozen=True)
class LearnedGaussian(ParametricKernel):
    """A Gaussian kernel with a learned width for every feature or group of features.

    Parameters
    ----------
    groups : sequence of sequences of int, optional
        The columns that share one width; every column has its own by default.
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
        roots, centre = np.sqrt(scales[used]), right[:, used].mean(0)  # near the origin less is lost
        distances = squared_distances((left[:, used] - centre) * roots, (right[:, used] - centre) * roots)
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
