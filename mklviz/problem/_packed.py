"""Dense kernel matrices, lower triangles packed row by row: half the memory and half the reading of full ones.

Entry (i, j), j <= i, of kernel k stands at ``packed[k, i (i + 1) / 2 + j]``. Single precision halves both once more;
it rounds every entry, by up to 6e-8 of its size, and what is computed is then exact for the rounded kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mklviz.errors import KernelError
from mklviz.problem._interrupt import checkpoint
from mklviz.problem._triangles import TOGETHER, Entries, add_packed, forms, pack, packed_length, product

__all__ = ["PackedBlock", "check_single", "pack_scaled"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

LARGEST = 1e30  # single precision ends at 3e38
PIECE = 2**27  # entries read between two checkpoints: some hundredths of a second


def check_single(diagonal: Array, name: str) -> None:
    """Raise `KernelError` if single precision cannot hold a kernel of this diagonal to seven digits."""
    size = float(diagonal.max())
    if size > LARGEST or 0.0 < size < 1.0 / LARGEST:
        raise KernelError(
            f"The kernel {name} has entries of size {size:.1g}, too much for single precision: scale it to unit trace,"
            ' or ask for precision="double".'
        )


def pack_scaled(matrix: Entries, scale: Array, out: Entries) -> None:
    """Write the lower triangle of ``scale_i scale_j matrix_ij`` into `out`, rounded where `out` is less precise."""
    view = np.ascontiguousarray(matrix).view()
    view.setflags(write=False)  # one compiled version serves arrays that may be written and others
    pack(view, scale, out)


class PackedBlock:
    """Kernels stored as packed triangles, ``packed`` (m, n (n + 1) / 2), of double or single precision."""

    def __init__(self, packed: Entries, n: int) -> None:
        self.packed = packed
        self.packed.setflags(write=False)
        self.n = n
        self.label = "packed" if packed.dtype == np.float64 else "packed in single precision"

    @classmethod
    def from_matrices(cls, matrices: Sequence[Array]) -> PackedBlock:
        """Pack full symmetric matrices."""
        n = len(matrices[0])
        packed = np.empty((len(matrices), packed_length(n)))
        for matrix, row in zip(matrices, packed, strict=True):
            pack_scaled(matrix, np.ones(n), row)
        return cls(packed, n)

    @property
    def nbytes(self) -> int:
        return self.packed.nbytes

    def add_combined(self, weights: Array, out: Array) -> None:
        """Add ``sum_k weights_k K_k`` to the lower triangle of `out`, touching only kernels with weight."""
        active = np.flatnonzero(weights)
        if not len(active):
            return
        spare = -len(active) % TOGETHER
        padded = np.concatenate([weights[active], np.zeros(spare)])
        active = np.concatenate([active, np.full(spare, active[-1])])
        for first, last in self._bands(len(active)):
            add_packed(self.packed, active, padded, first, last, out)

    def quad(self, v: Array) -> Array:
        out = np.zeros(len(self.packed))
        columns = np.ascontiguousarray(np.atleast_2d(v.T))
        for begin, end in self._pieces(len(out)):
            forms(self.packed[begin:end], 0, columns, 0, self.n, out[begin:end])
        return out

    def products(self, which: Indices, v: Array) -> Array:
        out = np.zeros((len(which), self.n))
        for begin, end in self._pieces(len(which)):
            for row, k in zip(out[begin:end], which[begin:end], strict=True):
                product(self.packed[k], 0, v, 0, self.n, row)
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        active = np.flatnonzero(weights)
        return np.asarray(weights[active] @ self.products(active, v))

    def _pieces(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of kernels with a checkpoint before each."""
        length = max(PIECE // self.packed.shape[1], 1)
        for begin in range(0, count, length):
            checkpoint()
            yield begin, min(begin + length, count)

    def _bands(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows of about equally many entries of `count` kernels, with a checkpoint before each."""
        pieces = -(-count * self.packed.shape[1] // PIECE)
        edges = np.rint(self.n * np.sqrt(np.arange(pieces + 1) / pieces)).astype(int)
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            checkpoint()
            yield first, last
