"""A sum of parametric kernels, k_d(x, z) = sum_t k_d(t)(x, z) where d(t) are the parameters of term t."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklviz.kernels.parametrizations._asked import asked_forms, asked_values
from mklviz.kernels.parametrizations._kernel import Array, ParametricKernel, names_of

__all__ = ["SumOfKernels"]


class SumOfKernels(ParametricKernel):
    """The sum of kernels, each with parameters of its own."""

    def __init__(self, kernels: Sequence[ParametricKernel], features: Sequence[str]) -> None:
        self.kernels = tuple(kernels)
        self.label = " + ".join(kernel.label for kernel in self.kernels)  # type: ignore[misc]
        self._ends = np.cumsum([len(names_of(kernel, features)) for kernel in self.kernels])

    def names(self, features: Sequence[str]) -> list[str]:
        """Return the terms' names with their labels, and with their places where labels are alike."""
        labels = [kernel.label for kernel in self.kernels]
        titles = [f"{label}, term {k}" if labels.count(label) > 1 else label for k, label in enumerate(labels, start=1)]
        terms = zip(titles, self.kernels, strict=True)
        return [f"{name} ({title})" for title, kernel in terms for name in names_of(kernel, features)]

    def _split(self, weights: Array) -> list[Array]:
        return np.split(weights, self._ends[:-1])

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        """Return the sum of the terms' values."""
        total = np.zeros((len(left), len(right)))
        for kernel, some in zip(self.kernels, self._split(weights), strict=True):
            total += asked_values(kernel, left, right, some)
        return total

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        """Return the charged sums of all terms' derivatives, one term after the other."""
        pairs = zip(self.kernels, self._split(weights), strict=True)
        return np.concatenate([asked_forms(kernel, left, right, some, charges.copy()) for kernel, some in pairs])
