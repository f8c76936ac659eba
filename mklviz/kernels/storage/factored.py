"""Kernels of low rank, K_k = Z_k'Z_k: a kernel on one feature has 8 to 40 rows at full precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from mklviz.compiled import njit
from mklviz.context import checkpoint, in_pieces
from mklviz.kernels.families import KernelFamily
from mklviz.kernels.storage.triangles import squared_length
from mklviz.lazy import cached_property
from mklviz.typing import Array, Indices, Single

# Factors of kernels of low rank, K = Z'Z, by pivoted Cholesky decomposition that evaluates only the columns it picks.
#
# Points that are alike in the features a kernel sees are one point to it: with u different ones the rank is at most u,
# and the factor is found on them and repeated. On one feature a kernel has 8 to 40 rows at full precision.
#
# Reference: Fine, Scheinberg, Efficient SVM training using low-rank kernel representations (JMLR 2001).

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


def pivoted_cholesky(diagonal: Array, column: Callable[[int], Array], counts: Array, max_rank: int) -> Array | None:
    """Return Z (rank, u) with ``Z'Z = K``, or None if `max_rank` rows are not enough.

    `diagonal` (u,): diagonal of K; `column`: ``column(p)`` returns column p of K, (u,); `counts` (u,): weights of the
    points in the trace; `max_rank`: rows to stop at.
    """
    residual = diagonal.astype(np.float64)
    allowed = PRECISION * counts @ residual
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
        pivot = 0
        for j in range(1, count):
            pivot = j if residual[j] > residual[pivot] else pivot
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


TOGETHER = 64  # columns whose forms are computed at a time
BAND = 128  # rows of a kernel that are multiplied at a time in single precision


def column_groups(v: Array) -> Iterator[Array]:
    """Yield the columns of v, so many together that nothing is long, and ask between whether they are still wanted."""
    yield v[:, :TOGETHER] if v.ndim == 2 else v
    for first in range(TOGETHER, v.shape[1] if v.ndim == 2 else 0, TOGETHER):
        checkpoint()
        yield v[:, first : first + TOGETHER]


def add_gram(rows: Array, out: Array) -> None:
    """Add ``Z'Z`` to the lower triangle of `out` (n, n), with Z (rank, n)."""
    # half the work of a product, in place: the upper triangle in Fortran's order is the lower one in C's
    product = blas.dsyrk(1.0, rows.T, beta=1.0, c=out.T, lower=0, overwrite_c=1)
    if not np.shares_memory(product, out):  # where `out` is not in C order
        out[:] = product.T


def add_gram_rounded(rows: Single, unit: float, out: Array) -> None:
    """Add ``unit Z'Z``, multiplied in single precision, to the lower triangle of `out`, in half of `add_gram`'s time.

    Entries are right to about 1e-6 of the largest. What stands above the diagonal is overwritten.
    """
    n = len(out)

    def add(k: int) -> None:
        first, last = k * BAND, min((k + 1) * BAND, n)
        band = rows[:, first:last].T @ rows[:, :last]
        out[first:last, :last] += np.multiply(band, unit, dtype=np.float64)

    in_pieces(add, -(-n // BAND), f"multiplying {len(rows):,} rows of factors")


class FactoredBlock:
    """Kernels stored by their factors, stacked into one (total rank, n) array."""

    label = "factored"

    def __init__(self, factors: Sequence[Array]) -> None:
        self.ranks = np.array([len(factor) for factor in factors])
        self.starts = np.concatenate([[0], np.cumsum(self.ranks)])
        self.stacked = np.ascontiguousarray(np.concatenate(factors))

    @property
    def nbytes(self) -> int:
        return self.stacked.nbytes

    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k Z_k'Z_k`` to the lower triangle of `out`, touching only kernels with weight."""
        if fresh:
            out[:] = 0.0
        scaled = self.factor(weights)
        if len(scaled):
            add_gram(scaled, out)

    def add_combined_rounded(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Do the same in single precision, see `add_gram_rounded`."""
        if fresh:
            out[:] = 0.0
        rows, used = self._with_weight(weights)
        roots = np.sqrt(used)
        unit = float((roots * self._largest[rows]).max(initial=0.0))
        if unit > 0.0:  # entries are brought to one: single precision ends at 1e38, kernels need not
            scaled = np.empty((len(rows), len(out)), np.float32)
            np.multiply(self._kept(rows), (roots / unit)[:, None], out=scaled, casting="same_kind")
            add_gram_rounded(scaled, unit**2, out)

    def factor(self, weights: Array) -> Array:
        """Return Z (rank, n) with ``Z'Z = sum_k weights_k K_k``, of the kernels with weight only."""
        rows, used = self._with_weight(weights)
        if len(rows) == len(self.stacked):
            return self.stacked * np.sqrt(used)[:, None]
        scaled = self.stacked.take(rows, axis=0)  # scaled in place, it is written once less
        scaled *= np.sqrt(used)[:, None]
        return scaled

    def _with_weight(self, weights: Array) -> tuple[Indices, Array]:
        """Return which rows belong to kernels with weight, and the weight of each."""
        row_weights = np.repeat(weights, self.ranks)
        rows = np.flatnonzero(row_weights)
        return rows, row_weights[rows]

    def _kept(self, rows: Indices) -> Array:
        return self.stacked if len(rows) == len(self.stacked) else self.stacked.take(rows, axis=0)

    @cached_property
    def _largest(self) -> Array:
        """The largest entry of each row, without its sign."""
        return np.maximum(self.stacked.max(axis=1), -self.stacked.min(axis=1))

    def quad(self, v: Array) -> Array:
        squares = np.zeros(len(self.stacked))
        for columns in column_groups(v):
            projected = self.stacked @ columns
            projected *= projected
            squares += projected if projected.ndim == 1 else projected.sum(axis=1)
        return np.asarray(np.add.reduceat(squares, self.starts[:-1]))

    @cached_property
    def largest(self) -> Array:
        """No less than the largest entry of each kernel's diagonal, (m,)."""
        return np.asarray(np.add.reduceat(self._largest**2, self.starts[:-1]))

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``|Z_k v|^2``, and 0: as a sum of squares it needs no kernel known better than its factors are."""
        return squared_length(self.stacked[self.starts[k] : self.starts[k + 1]], v, np.zeros(len(v))), 0.0

    def products(self, which: Indices, v: Array) -> Array:
        out = np.empty((len(which), self.stacked.shape[1]))
        for row, k in zip(out, which, strict=True):
            factor = self.stacked[self.starts[k] : self.starts[k + 1]]
            np.matmul(factor @ v, factor, out=row)
        return out

    def only(self, keep: Indices) -> FactoredBlock:
        """Return the kernels on the samples `keep`."""
        return FactoredBlock(np.split(self.stacked[:, keep], self.starts[1:-1]))

    def apply(self, weights: Array, v: Array) -> Array:
        rows, used = self._with_weight(weights)
        kept_rows = self._kept(rows)
        return np.asarray((used * (kept_rows @ v)) @ kept_rows)
