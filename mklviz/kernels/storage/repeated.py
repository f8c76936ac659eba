"""Kernels that see few different points, K = P'Z'Z P: their factors on those points, and which of them each sample is.

With P the (u, n) matrix of zeros and ones that repeats u points as n samples, P v adds up v over samples that are
alike, so that

    v'K_k v = |Z_k (P v)|^2,        sum_k d_k K_k = P' (sum_k d_k Z_k'Z_k) P

cost u and u^2 where n and n^2 were. Kernels on one feature share their P.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.kernels.storage.factored import Distinct, add_gram, column_groups
from mklviz.kernels.storage.triangles import squared_length, sums_at
from mklviz.lazy import cached_property
from mklviz.typing import Array, Indices

Inverse = NDArray[np.int32]

FEW_ROWS = 12  # up to which repeating rows of a factor costs less than repeating entries of its kernel


@njit(cache=True, nogil=True)
def _widest(sizes: Indices) -> int:
    widest = 0
    for g in range(sizes.shape[0]):
        widest = max(widest, sizes[g])
    return widest


@njit(cache=True, nogil=True, fastmath={"nsz", "contract", "reassoc"})
def _forms(
    entries: Array,
    begins: Indices,
    rows: Indices,
    sizes: Indices,
    inverse: Inverse,
    kernels: Indices,
    columns: Array,
    out: Array,
) -> None:
    """out_k += |Z_k P v|^2 over the rows v of `columns`; rows[g] to rows[g + 1] are those of the points of group g."""
    sums = np.empty(_widest(sizes))  # on some of the samples there may be more different points than samples
    for g in range(sizes.shape[0]):
        for c in range(columns.shape[0]):
            v = columns[c]
            sums[: sizes[g]] = 0.0
            for i in range(v.shape[0]):
                sums[inverse[g, i]] += v[i]
            for r in range(rows[g], rows[g + 1]):
                start = np.uint64(begins[g] + (r - rows[g]) * sizes[g])
                total = 0.0
                for j in range(sizes[g]):
                    total += entries[start + np.uint64(j)] * sums[j]
                out[kernels[r]] += total * total


@njit(cache=True, nogil=True)
def _products(
    entries: Array,
    begins: Indices,
    rows: Indices,
    sizes: Indices,
    inverse: Inverse,
    kernels: Indices,
    at: Indices,
    v: Array,
    out: Array,
) -> None:
    """Write ``P'Z_k'Z_k P v`` to out[at[k]] where at[k] is no less than zero; groups as for `_forms`."""
    sums, product = np.empty(_widest(sizes)), np.empty(_widest(sizes))
    for g in range(sizes.shape[0]):
        size, r = sizes[g], rows[g]
        sums[:size] = 0.0
        for i in range(v.shape[0]):
            sums[inverse[g, i]] += v[i]
        while r < rows[g + 1]:
            k = kernels[r]
            if at[k] < 0:
                r += 1
                continue
            product[:size] = 0.0
            while r < rows[g + 1] and kernels[r] == k:
                row = entries[begins[g] + (r - rows[g]) * size :][:size]
                total = 0.0
                for j in range(size):
                    total += row[j] * sums[j]
                for j in range(size):
                    product[j] += total * row[j]
                r += 1
            for i in range(v.shape[0]):
                out[at[k], i] = product[inverse[g, i]]


@njit(cache=True, nogil=True)
def _repeat(kernel: Array, inverse: Inverse, out: Array) -> None:
    """Add P' K P to the lower triangle of `out`."""
    for i in range(out.shape[0]):
        row, sums = kernel[inverse[i]], out[i]
        for j in range(i + 1):
            sums[j] += row[inverse[j]]


@njit(cache=True, nogil=True)
def _repeat_rows(
    entries: Array, begins: Indices, rows: Indices, sizes: Indices, inverse: Inverse, groups: Indices, roots: Array
) -> Array:
    """Return the rows of Z P of some groups that have weight, times their roots."""
    count = at = 0
    for g in groups:
        for r in range(rows[g], rows[g + 1]):
            count += roots[r] != 0.0
    out = np.empty((count, inverse.shape[1]))
    for g in groups:
        for r in range(rows[g], rows[g + 1]):
            if roots[r] != 0.0:
                row = entries[begins[g] + (r - rows[g]) * sizes[g] :][: sizes[g]]
                for i in range(inverse.shape[1]):
                    out[at, i] = roots[r] * row[inverse[g, i]]
                at += 1
    return out


class RepeatedBlock:
    """Kernels by their factors on few different points.

    `factors`: Z, one per kernel; `distinct`: the different points of each kernel; those of one subset of features are
    one object.
    """

    label = "factored"

    def __init__(self, factors: Sequence[Array], distinct: Sequence[Distinct]) -> None:
        members: dict[int, list[int]] = {}
        for k, points in enumerate(distinct):
            members.setdefault(id(points), []).append(k)
        groups = list(members.values())
        order = [k for group in groups for k in group]
        ranks = [len(factors[k]) for k in order]
        self._kernels = np.repeat(order, ranks)
        self._sizes = np.array([len(distinct[group[0]].points) for group in groups])
        heights = [sum(len(factors[k]) for k in group) for group in groups]
        self._rows = np.concatenate([[0], np.cumsum(heights)])
        self._begins = np.concatenate([[0], np.cumsum(heights * self._sizes)])
        self._entries = np.concatenate([np.ravel(factors[k]) for k in order])
        self._inverse = np.array([distinct[group[0]].inverse for group in groups], dtype=np.int32)
        self._count = len(factors)

    @property
    def nbytes(self) -> int:
        return self._entries.nbytes + self._inverse.nbytes

    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k K_k`` to the lower triangle of `out`, touching only kernels with weight."""
        if fresh:
            out[:] = 0.0
        roots = np.sqrt(weights[self._kernels])
        used = np.add.reduceat(roots != 0.0, self._rows[:-1], dtype=np.int64)
        for g in np.flatnonzero(used > FEW_ROWS).tolist():
            of_group = roots[self._rows[g] : self._rows[g + 1]]
            which = np.flatnonzero(of_group)
            scaled = self._group(g).take(which, axis=0)
            scaled *= of_group[which, None]
            _repeat(scaled.T @ scaled, self._inverse[g], out)
        few = np.flatnonzero((used > 0) & (used <= FEW_ROWS))
        if len(few):
            add_gram(self._repeated_rows(few, roots), out)

    def factor(self, weights: Array) -> Array:
        """Return Z (rank, n) with ``Z'Z = sum_k weights_k K_k``, of the kernels with weight only."""
        return self._repeated_rows(np.arange(len(self._inverse)), np.sqrt(weights[self._kernels]))

    def _repeated_rows(self, groups: Indices, roots: Array) -> Array:
        arrays = self._entries, self._begins, self._rows, self._sizes, self._inverse
        return np.asarray(_repeat_rows(*arrays, groups, roots))

    def only(self, keep: Indices) -> RepeatedBlock:
        """Return the kernels on the samples `keep`."""
        block = copy(self)
        block._inverse = np.ascontiguousarray(self._inverse[:, keep])
        return block

    def _scaled(self, weights: Array) -> Iterator[tuple[Array, Inverse]]:
        """Yield, group by group, the rows of kernels with weight on the different points, and which each sample is."""
        roots = np.sqrt(weights[self._kernels])
        for g, inverse in enumerate(self._inverse):
            used = roots[self._rows[g] : self._rows[g + 1]]
            which = np.flatnonzero(used)
            if len(which):
                yield self._group(g)[which] * used[which, None], inverse

    def _group(self, g: int) -> Array:
        return self._entries[self._begins[g] : self._begins[g + 1]].reshape(-1, self._sizes[g])

    def quad(self, v: Array) -> Array:
        out = np.zeros(self._count)
        for some in column_groups(v):
            columns = np.ascontiguousarray(np.atleast_2d(some.T))
            _forms(self._entries, self._begins, self._rows, self._sizes, self._inverse, self._kernels, columns, out)
        return out

    @cached_property
    def largest(self) -> Array:
        """No less than the largest entry of each kernel's diagonal, (m,)."""
        heights = np.concatenate([np.square(self._group(g)).max(axis=1) for g in range(len(self._sizes))])
        return np.bincount(self._kernels, heights, self._count).astype(np.float64, copy=False)

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``|Z_k P v|^2``, and 0: as a sum of squares it needs no kernel known better than its factors are."""
        rows = np.flatnonzero(self._kernels == k)
        g = int(np.searchsorted(self._rows, rows[0], side="right")) - 1
        sums, rest = sums_at(self._inverse[g], v, int(self._sizes[g]))
        return squared_length(self._group(g)[rows - self._rows[g]], sums, rest), 0.0

    def products(self, which: Indices, v: Array) -> Array:
        """Return ``K_k v`` for the kernels in `which`, (len(which), n)."""
        named, back = np.unique(which, return_inverse=True)
        out = np.zeros((len(named), len(v)))
        at = np.full(self._count, -1)
        at[named] = np.arange(len(named))
        v = np.ascontiguousarray(v)
        _products(self._entries, self._begins, self._rows, self._sizes, self._inverse, self._kernels, at, v, out)
        return np.asarray(out[back])

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        out = np.zeros(len(v))
        for scaled, inverse in self._scaled(weights):
            sums = np.bincount(inverse, v, scaled.shape[1])
            out += ((scaled @ sums) @ scaled)[inverse]
        return out
