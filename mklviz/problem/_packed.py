"""Dense kernel matrices, lower triangles packed row by row: half the memory and half the reading of full ones.

Entry (i, j), j <= i, of kernel k stands at ``packed[k, i (i + 1) / 2 + j]``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

# every fast-math licence but "no infinities": the sums below hold no nan or inf by construction
FAST = {"nnan", "nsz", "arcp", "contract", "reassoc", "afn"}
CHUNK = 2048  # entries of the accumulator that stay in the first-level cache


def packed_length(n: int) -> int:
    """Return the number of entries in the lower triangle of an n by n matrix."""
    return n * (n + 1) // 2


@njit(cache=True, nogil=True)
def pack(matrix, out):  # type: ignore[no-untyped-def]
    """Copy the lower triangle of `matrix` into `out`."""
    start = 0
    for i in range(matrix.shape[0]):
        out[start : start + i + 1] = matrix[i, : i + 1]
        start += i + 1


@njit(cache=True, nogil=True, fastmath=FAST)
def _weighted_sum(packed, active, weights, out):  # type: ignore[no-untyped-def]
    """out = sum over active kernels of weight times packed triangle, chunk by chunk."""
    length = packed.shape[1]
    for start in range(0, length, CHUNK):
        stop = min(start + CHUNK, length)
        block = out[start:stop]
        block[:] = 0.0
        for k in active:
            weight = weights[k]
            row = packed[k, start:stop]
            for t in range(block.shape[0]):
                block[t] += weight * row[t]


@njit(cache=True, nogil=True)
def _unpack_add(triangle, out):  # type: ignore[no-untyped-def]
    start = 0
    for i in range(out.shape[0]):
        for j in range(i):
            out[i, j] += triangle[start + j]
            out[j, i] += triangle[start + j]
        out[i, i] += triangle[start + i]
        start += i + 1


@njit(cache=True, nogil=True, fastmath=FAST)
def _quadratic_forms(packed, columns, out):  # type: ignore[no-untyped-def]
    """out_k = sum of v'K_k v over the rows v of `columns`, reading only the entries where v is not zero."""
    for k in range(packed.shape[0]):
        row = packed[k]
        total = 0.0
        for c in range(columns.shape[0]):
            v = columns[c]
            for i in range(v.shape[0]):
                if v[i] != 0.0:
                    start = i * (i + 1) // 2
                    part = 0.0
                    for j in range(i):
                        part += row[start + j] * v[j]
                    total += v[i] * (2.0 * part + v[i] * row[start + i])
        out[k] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _products(packed, which, v, out):  # type: ignore[no-untyped-def]
    """out_r = K_which[r] v, each triangle read once."""
    n = v.shape[0]
    for r in range(which.shape[0]):
        row = packed[which[r]]
        product = out[r]
        product[:] = 0.0
        for i in range(n):
            start = i * (i + 1) // 2
            vi = v[i]
            part = 0.0
            for j in range(i):
                part += row[start + j] * v[j]
                product[j] += row[start + j] * vi
            product[i] += part + row[start + i] * vi


class PackedBlock:
    """Kernels stored as packed triangles."""

    label = "packed"

    def __init__(self, packed: Array, n: int) -> None:
        self.packed = packed
        self.n = n

    @classmethod
    def from_matrices(cls, matrices: Sequence[Array]) -> PackedBlock:
        """Pack full symmetric matrices."""
        n = len(matrices[0])
        packed = np.empty((len(matrices), packed_length(n)))
        for matrix, row in zip(matrices, packed, strict=True):
            pack(np.ascontiguousarray(matrix), row)
        return cls(packed, n)

    @property
    def nbytes(self) -> int:
        return self.packed.nbytes

    def add_combined(self, weights: Array, out: Array) -> None:
        """Add ``sum_k weights_k K_k`` to `out`, touching only kernels with weight."""
        active = np.flatnonzero(weights)
        if len(active):
            total = np.empty(self.packed.shape[1])  # not kept: the runs of a race share this block
            _weighted_sum(self.packed, active, weights, total)
            _unpack_add(total, out)

    def quad(self, v: Array) -> Array:
        out = np.empty(len(self.packed))
        _quadratic_forms(self.packed, np.ascontiguousarray(np.atleast_2d(v.T)), out)
        return out

    def products(self, which: NDArray[np.intp], v: Array) -> Array:
        out = np.empty((len(which), self.n))
        _products(self.packed, which, v, out)
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        active = np.flatnonzero(weights)
        return np.asarray(weights[active] @ self.products(active, v))
