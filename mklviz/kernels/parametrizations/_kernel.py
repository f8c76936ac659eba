"""A kernel k_d(x, z) with m parameters d >= 0 of any meaning, and what methods that follow the gradient ask of it.

    values   k_d(x_i, z_j)                               for two sets of points
    forms    sum_ij P_ij  d k_d(x_i, z_j) / d d_k        for every k:  v'(dK_d/dd_k)v  where P = vv'

Both speak of pairs of points, so that they can be asked tile by tile, and between old points and new ones.

Reference: Varma, Babu, More generality in efficient multiple kernel learning (ICML 2009), section 3; Jain,
Vishwanathan, Varma, SPG-GMKL (KDD 2012), section 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

from mklviz.errors import KernelError
from mklviz.typing import Array

__all__ = ["Array", "ParametricKernel", "names_of"]


class ParametricKernel(ABC):
    """Base class for a kernel with learned parameters, also one of your own.

    Define `names`, `values` and `forms`. `ParametricBank.build` compares them numerically and refuses, with the
    numbers, what is no kernel or does not fit together. They may be called from several threads at once.

    Attributes
    ----------
    label : str
        What people call it.

    Examples
    --------
    >>> class Cauchy(ParametricKernel):  # 1 / (1 + sum_k d_k (x_k - z_k)^2)
    ...     label = "Cauchy kernel"
    ...     def names(self, features):
    ...         return features
    ...     def values(self, left, right, weights):
    ...         return 1.0 / (1.0 + ((left[:, None] - right[None]) ** 2) @ weights)
    ...     def forms(self, left, right, weights, charges):
    ...         slopes = -charges * self.values(left, right, weights) ** 2
    ...         return np.einsum("ij,ijk->k", slopes, (left[:, None] - right[None]) ** 2)
    """

    label: ClassVar[str] = "kernel of your own"

    @abstractmethod
    def names(self, features: Sequence[str]) -> Sequence[str]:
        """Return the names of the m parameters, given those of the points' columns."""

    @abstractmethod
    def values(self, left: Array, right: Array, weights: Array) -> Array:
        """Return ``k_d(left_i, right_j)``, (n_left, n_right), positive semidefinite for every d = weights >= 0.

        Parameters
        ----------
        left : (n_left, features) array
        right : (n_right, features) array
        weights : (m,) array
            The parameters d.
        """

    @abstractmethod
    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        """Return ``sum_ij charges_ij d k_d(left_i, right_j) / d d_k`` for every parameter k, (m,).

        Parameters
        ----------
        left, right, weights
            As in `values`.
        charges : (n_left, n_right) array
        """


def names_of(kernel: ParametricKernel, features: Sequence[str]) -> list[str]:
    """Return the names of a kernel's parameters, or raise `KernelError` unless they are a list."""
    names = kernel.names(features)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise KernelError(
            f"The names of the {kernel.label} must be a list of texts, one for each of its parameters, but"
            f" {names!r:.80} was given: write it as {[names or 'd']!r:.80} where there is one parameter."
        )
    return [str(name) for name in names]
