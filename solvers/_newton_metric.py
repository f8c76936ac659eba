"""K_d as Newton's model reads it: between a few points, and times what stands at a few points.

Where kernels come by rows or by factors no matrix is formed: a step asks for K_d between its own points and for one
product, which costs what reading the samples once does.
"""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np

from mklviz.contract import Array
from mklviz.kernels import Bank, FactorBank, RowBank
from mklviz.kernels.storage.disk import release
from mklviz.typing import Indices

SIZED_BY = 256  # samples whose mean diagonal entry stands for that of all, where no matrix is formed


class Metric(Protocol):
    """A kernel on all samples; `size`: what it is measured by, the mean of its diagonal."""

    size: float

    def block(self, points: Indices) -> Array:
        """Return the kernel between the points, (p, p), which may be written to."""

    def image(self, points: Indices, z: Array, at: Indices) -> Array:
        """Return the entries `at` of the kernel times a vector that is z (p,) at the points and else zero."""


class MatrixMetric:
    """A kernel that is at hand, (n, n)."""

    def __init__(self, kernel: Array) -> None:
        self.kernel, self.size = kernel, float(np.trace(kernel)) / len(kernel)

    def block(self, points: Indices) -> Array:
        return self.kernel[np.ix_(points, points)]

    def image(self, points: Indices, z: Array, at: Indices) -> Array:
        return self.kernel[np.ix_(at, points)] @ z


class BankMetric:
    """The kernel that a bank makes at some weights, by rows or by factors."""

    def __init__(self, bank: Bank, weights: Array) -> None:
        self._bank, self._weights = bank, weights
        some = np.unique(np.random.default_rng(0).integers(bank.n_samples, size=SIZED_BY))
        self.size = float(np.trace(self.block(some))) / len(some)

    def block(self, points: Indices) -> Array:
        if self._bank.access == "rows":
            kernel = cast(RowBank, self._bank).kernel(self._weights).only(points)
            return kernel.rows(np.arange(len(points))).astype(np.float64)
        factors, w = cast(FactorBank, self._bank).factors(self._weights)
        held, rows = np.flatnonzero(w), factors.T
        X = rows[np.ix_(points, held)].astype(np.float64)
        release(rows)
        return np.asarray((X * w[held]) @ X.T)

    def image(self, points: Indices, z: Array, at: Indices) -> Array:
        v = np.zeros(self._bank.n_samples)
        v[points] = z
        return self._bank.apply(self._weights, v)[at]
