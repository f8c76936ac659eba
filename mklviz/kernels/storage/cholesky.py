"""Factors of kernels of low rank, K = Z'Z, by pivoted Cholesky decomposition that evaluates only the columns it picks.

Points that are alike in the features a kernel sees are one point to it: with u different ones the rank is at most u,
and the factor is found on them and repeated. On one feature a kernel has 8 to 40 rows at full precision.

Reference: Fine, Scheinberg, Efficient SVM training using low-rank kernel representations (JMLR 2001).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mklviz.compiled import njit
from mklviz.kernels.families import KernelFamily
from mklviz.typing import Array, Indices

__all__ = ["PRECISION", "Distinct", "low_rank", "pivoted_cholesky"]

# Residual trace, relative to the trace, at which a factor counts as exact: errors stay near rounding
PRECISION = 1e-14
# Entries of a factor that rounding drops in every product, relative to the largest: as zeros they spare processors the
# many times slower arithmetic with numbers near the end of their range, where products of such entries lie
NOTHING = 0.5 * np.finfo(float).eps
SHAPES = {"exp square": 0, "exp size": 1, "power": 2}


@dataclass(frozen=True)
class Distinct:
    """The different points among those that a kernel sees."""

    points: Array  # (u, d)
    inverse: Indices  # (n,): index of each sample's point
    counts: Array  # (u,): how many samples each of them is

    @classmethod
    def of(cls, points: Array) -> Distinct:
        """Find the different rows of `points`."""
        if points.shape[1] == 1:
            distinct, inverse, counts = np.unique(points[:, 0], return_inverse=True, return_counts=True)
            return cls(distinct[:, None], inverse.reshape(-1), counts.astype(np.float64))
        distinct, inverse, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
        return cls(distinct, inverse.reshape(-1), counts.astype(np.float64))


def low_rank(family: KernelFamily, value: float, distinct: Distinct, max_rank: int) -> Array | None:
    """Return Z (rank, u) with ``Z'Z = K`` on the different points, or None if `max_rank` rows are not enough."""
    factor = _decomposed(family, value, distinct, max_rank)
    if factor is not None:
        factor[np.abs(factor) < NOTHING * np.abs(factor).max()] = 0.0
    return factor


def _decomposed(family: KernelFamily, value: float, distinct: Distinct, max_rank: int) -> Array | None:
    points = distinct.points
    formula = family.on_one_feature(value) if points.shape[1] == 1 else None
    if formula is None:

        def column(pivot: int) -> Array:
            return family.profile(family.base(points, points[pivot : pivot + 1]), value)[:, 0]

        return pivoted_cholesky(family.diagonal(points, value), column, distinct.counts, max_rank)
    shape, a, b = formula
    rows = np.empty((min(max_rank, len(points)), len(points)))
    rank = _factor(points[:, 0].copy(), distinct.counts, SHAPES[shape], a, b, PRECISION, rows)
    return None if rank < 0 else rows[:rank].copy()


def pivoted_cholesky(
    diagonal: Array, column: Callable[[int], Array], counts: Array, max_rank: int, precision: float = PRECISION
) -> Array | None:
    """Return Z (rank, u) with ``Z'Z = K``, or None if `max_rank` rows are not enough.

    `diagonal` (u,): diagonal of K; `column`: ``column(p)`` returns column p of K, (u,); `counts` (u,): weights of the
    points in the trace; `max_rank`: rows to stop at; `precision`: residual trace allowed, relative to the trace of K.
    """
    residual = diagonal.astype(np.float64)
    allowed = precision * counts @ residual
    factor = np.zeros((min(max_rank, len(residual)), len(residual)))
    for rank in range(len(factor)):
        pivot = int(residual.argmax())
        if counts @ residual <= allowed or residual[pivot] <= 0.0:
            return factor[: max(rank, 1)].copy()
        row = column(pivot) - factor[:rank, pivot] @ factor[:rank]
        row /= np.sqrt(residual[pivot])
        factor[rank] = row
        residual = np.maximum(residual - row**2, 0.0)
        residual[pivot] = 0.0
    return factor if counts @ residual <= allowed else None


@njit(cache=True, nogil=True)
def _evaluate(x: Array, z: float, shape: int, a: float, b: float, out: Array) -> None:
    """out_j = k(x_j, z)."""
    if shape == 0:
        for j in range(x.shape[0]):
            out[j] = np.exp(a * (x[j] - z) ** 2)
    elif shape == 1:
        for j in range(x.shape[0]):
            out[j] = np.exp(a * abs(x[j] - z))
    else:
        for j in range(x.shape[0]):
            factor, power = a + x[j] * z, 1.0
            for _ in range(int(b)):
                power *= factor
            out[j] = power


@njit(cache=True, nogil=True, fastmath={"nsz", "contract", "reassoc"})
def _factor(x: Array, counts: Array, shape: int, a: float, b: float, precision: float, rows: Array) -> int:
    """Write the factor of the kernel on the numbers `x` and return its rank; -1 if there are too few rows for it."""
    count = x.shape[0]
    residual, value = np.empty(count), np.empty(1)
    for j in range(count):
        _evaluate(x[j : j + 1], x[j], shape, a, b, value)
        residual[j] = value[0]
    left = 0.0
    for j in range(count):
        left += counts[j] * residual[j]
    allowed = precision * left
    for rank in range(rows.shape[0] + 1):
        pivot = np.argmax(residual)
        if left <= allowed or residual[pivot] <= 0.0:
            rows[: 1 - min(rank, 1)] = 0.0  # of a kernel of zeros, one row of them
            return max(rank, 1)
        if rank == rows.shape[0]:
            return -1
        row = rows[rank]
        _evaluate(x, x[pivot], shape, a, b, row)
        for t in range(rank):
            earlier, scale = rows[t], rows[t, pivot]
            for j in range(count):
                row[j] -= scale * earlier[j]
        root, left = np.sqrt(residual[pivot]), 0.0
        for j in range(count):
            row[j] /= root
            residual[j] = max(residual[j] - row[j] * row[j], 0.0)
        residual[pivot] = 0.0
        for j in range(count):
            left += counts[j] * residual[j]
    return -1
