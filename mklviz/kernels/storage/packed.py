"""Dense kernel matrices, lower triangles packed row by row: half the memory and half the reading of full ones.

Entry (i, j), j <= i, of kernel k stands at ``packed[k, i (i + 1) / 2 + j]``. Single precision halves both once more;
it rounds every entry, by up to 6e-8 of its size, and what is computed is then exact for the rounded kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mklviz.context import checkpoint, in_pieces, slices
from mklviz.errors import KernelError
from mklviz.kernels.storage.triangles import (
    TOGETHER,
    Entries,
    add_packed,
    forms,
    forms_of_triangle,
    pack,
    packed_length,
    product,
)
from mklviz.lazy import cached_property
from mklviz.typing import Array, Indices

PACKED_SINGLE = "packed in single precision"
ROUNDED = "Entries in single precision agree with the kernels to 6e-8 of their size; sums are of double precision."
LARGEST = 1e30  # single precision ends at 3e38
FEW = 16  # columns; more are multiplied with each other first
PIECE = 2**23  # entries of one piece of work: some thousandths of a second


def check_single(diagonal: Array, name: str) -> None:
    """Raise `KernelError` if single precision cannot hold a kernel of this diagonal to seven digits."""
    size = float(diagonal.max())
    if size > LARGEST or 0.0 < size < 1.0 / LARGEST:
        raise KernelError(
            f"The kernel {name} has entries of size {size:.1g}, too much for single precision: scale it to unit trace,"
            ' or ask for precision="double".'
        )


def pack_scaled(entries: Entries, scale: Array, out: Entries) -> None:
    """Write the lower triangle of ``scale_i scale_j K_ij`` into `out`, rounded where `out` is less precise.

    `entries`: K (n, n), or its triangle, packed already.
    """
    view = np.ascontiguousarray(entries).reshape(-1)
    view.setflags(write=False)  # one compiled version serves arrays that may be written and others
    pack(view, len(scale) if entries.ndim == 2 else 0, scale, out)


class PackedBlock:
    """Kernels stored as packed triangles, ``packed`` (m, n (n + 1) / 2), of double or single precision."""

    def __init__(self, packed: Entries, n: int) -> None:
        self.packed = packed
        self.packed.setflags(write=False)
        self.n = n
        self.label = "packed" if packed.dtype == np.float64 else PACKED_SINGLE

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

    def __sizeof__(self) -> int:
        """Memory taken, by which a Dask worker decides when to spill."""
        return object.__sizeof__(self) + self.nbytes

    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k K_k`` to the lower triangle of `out`, touching only kernels with weight."""
        active = np.flatnonzero(weights)
        spare = -len(active) % TOGETHER
        padded = np.concatenate([weights[active], np.zeros(spare)])
        active = np.concatenate([active, np.full(spare, active[-1] if len(active) else 0)])
        bands = -(-len(active) * self.packed.shape[1] // PIECE) or 1
        edges = np.rint(self.n * np.sqrt(np.arange(bands + 1) / bands)).astype(int).tolist()  # of equal areas

        def add(k: int) -> None:
            add_packed(self.packed, active, padded, edges[k], edges[k + 1], fresh, out)

        _in_pieces(add, bands, "adding", len(active) - spare)

    def quad(self, v: Array) -> Array:
        out = np.zeros(len(self.packed))
        length = self._together
        if v.ndim == 2 and v.shape[1] > FEW:
            charges = _charges(v)

            def multiply(k: int) -> None:
                which = slice(k * length, (k + 1) * length)
                np.dot(self.packed[which], charges, out=out[which])

            _in_pieces(multiply, -(-len(out) // length), "computing the slopes of", len(out))
            return out
        columns = np.ascontiguousarray(np.atleast_2d(v.T))

        def add(k: int) -> None:
            which = slice(k * length, (k + 1) * length)
            forms(self.packed[which], 0, columns, 0, self.n, out[which])

        _in_pieces(add, -(-len(out) // length), "computing the slopes of", len(out))
        return out

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        indices = np.arange(self.n)
        return np.asarray(self.packed[:, indices * (indices + 3) // 2].max(axis=1), dtype=np.float64)

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.triangles`."""
        out, rest = np.zeros(3), np.zeros(self.n)
        for some in slices(self.n, max(PIECE // self.n // 8, 1)):
            forms_of_triangle(self.packed[k], 0, some.start, some.stop, v, rest, out)
        return float(out[0] + out[1]), float(out[2])

    def products(self, which: Indices, v: Array) -> Array:
        out, v = np.zeros((len(which), self.n)), np.ascontiguousarray(v)  # one compiled version
        length = self._together

        def add(k: int) -> None:
            for r in range(k * length, min((k + 1) * length, len(which))):
                product(self.packed[which[r]], 0, v, 0, self.n, out[r])

        _in_pieces(add, -(-len(which) // length), "multiplying with", len(which))
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        active = np.flatnonzero(weights)
        return np.asarray(weights[active] @ self.products(active, v))

    def only(self, keep: Indices) -> PackedBlock:
        """Return the kernels on the samples `keep`, ascending."""
        i, j = np.tril_indices(len(keep))
        indices = keep[i] * (keep[i] + 1) // 2 + keep[j]
        return PackedBlock(np.take(self.packed, indices, axis=1), len(keep))

    @property
    def _together(self) -> int:
        """Kernels of one piece."""
        return max(PIECE // self.packed.shape[1], 1)


def _charges(v: Array) -> Array:
    """Return the packed triangle whose product with that of a symmetric K is ``sum_c v_c'K v_c``."""
    n = len(v)
    triangle = np.empty(packed_length(n))
    for some in slices(n, max(2**29 // n**2, 1)):
        for i, row in enumerate(2.0 * (v[some] @ v[: some.stop].T), some.start):
            row[i] *= 0.5
            triangle[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] = row[: i + 1]
    return triangle


def _in_pieces(piece: Callable[[int], None], pieces: int, doing: str, kernels: int) -> None:
    if pieces > 1:
        in_pieces(piece, pieces, f"{doing} {kernels:,} kernels")
    elif pieces:
        checkpoint()
        piece(0)
