"""Gram matrices that stay in their files, mapped into memory: read from disk as they are needed, never held as a whole.

Each is a whole (n, n) matrix of which the lower half is read, a band of rows at a time; the operating system keeps in
memory what there is room for. With c the scales of the normalization, K_ij = c_i c_j G_ij,

    v'K v = (c o v)'G (c o v),        K v = c o G (c o v).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mklviz.context.cancelling import checkpoint
from mklviz.kernels.storage.compensated import forms_of_triangle, products
from mklviz.kernels.storage.packed import PackedBlock
from mklviz.kernels.storage.triangles import TOGETHER, Entries, add_rows, forms, product
from mklviz.lazy import cached_property
from mklviz.typing import Array, Indices

__all__ = ["MappedBlock"]

BAND = 2**16  # entries of the sum that stay in the second-level cache while several matrices are added to it
PIECE = 2**22  # entries read between two checkpoints: some tenths of a second from a slow disk


class MappedBlock:
    """Kernels c_i c_j G_ij, G in files.

    `matrices`: G, all of double or all of single precision, each in C order.
    """

    def __init__(self, matrices: Sequence[Entries], scales: Sequence[Array]) -> None:
        self.n = len(matrices[0])
        self._entries = [np.asarray(matrix).reshape(-1) for matrix in matrices]
        self._scales = list(scales)
        single = matrices[0].dtype == np.float32
        self.label = "memory-mapped from disk" + (" in single precision" if single else "")

    @property
    def nbytes(self) -> int:
        """Memory taken: the scales alone."""
        return sum(scale.nbytes for scale in self._scales)

    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k K_k`` to the lower triangle of `out`, touching only kernels with weight."""
        if fresh:
            out[:] = 0.0
        active = np.flatnonzero(weights).tolist()
        groups = [active[a : a + TOGETHER] for a in range(0, len(active), TOGETHER)]
        for first, last in self._rows(BAND):
            for group in groups:
                checkpoint()
                four = group + group[-1:] * (TOGETHER - len(group))  # the last again, without weight
                padded = np.zeros(TOGETHER)
                padded[: len(group)] = weights[group]
                entries, scales = [self._entries[k] for k in four], [self._scales[k] for k in four]
                add_rows(*entries, *scales, padded, first, last, out)

    def quad(self, v: Array) -> Array:
        out = np.zeros(len(self._entries))
        columns = np.ascontiguousarray(np.atleast_2d(v.T))
        for k, (entries, scale) in enumerate(zip(self._entries, self._scales, strict=True)):
            scaled = columns * scale
            for first, last in self._rows(PIECE):
                checkpoint()
                forms(entries[None, :], self.n, scaled, first, last, out[k : k + 1])
        return out

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        pairs = zip(self._entries, self._scales, strict=True)
        return np.array([float((entries[:: self.n + 1] * scale**2).max()) for entries, scale in pairs])

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.compensated`."""
        out, (scaled, rest) = np.zeros(3), products(self._scales[k], v)
        for first, last in self._rows(PIECE // 8):
            checkpoint()
            forms_of_triangle(self._entries[k], self.n, first, last, scaled, rest, out)
        return float(out[0] + out[1]), float(out[2])

    def products(self, which: Indices, v: Array) -> Array:
        out = np.zeros((len(which), self.n))
        for row, k in zip(out, which, strict=True):
            scaled = v * self._scales[k]
            for first, last in self._rows(PIECE):
                checkpoint()
                product(self._entries[k], self.n, scaled, first, last, row)
            row *= self._scales[k]
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        out = np.zeros(self.n)
        for k in np.flatnonzero(weights):
            out += weights[k] * self.products(np.array([k]), v)[0]
        return out

    def only(self, keep: Indices) -> PackedBlock:
        """Return the kernels on the samples `keep`, in memory."""
        parts = [entries.reshape(self.n, self.n)[np.ix_(keep, keep)] for entries in self._entries]
        scales = [scale[keep] for scale in self._scales]
        return PackedBlock.from_matrices([c[:, None] * part * c for part, c in zip(parts, scales, strict=True)])

    def _rows(self, entries: int) -> Iterator[tuple[int, int]]:
        """Yield bands of rows whose lower triangle has about so many entries each."""
        first = 0
        while first < self.n:
            last = max(first + 1, min(self.n, int((first * first + 2.0 * entries) ** 0.5)))
            yield first, last
            first = last
