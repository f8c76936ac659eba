"""Gaussian kernels of several widths on many subsets of features, computed whenever they are asked for, never stored.

    f_k = exp(-g_k D_ij) - 1,    f_{k+1} from f_k by squarings,    D_ij = sum over the subset's features (x_if - x_jf)^2
    v'K_k v = (1'v)^2 + 2 sum_{i<j} v_i v_j f_k(i, j),             sum_k d_k K_k(i, j) = 1'd + sum_k d_k f_k(i, j)

With widths that halve from one to the next every g is four times the last, so one exponential and two squarings per
width serve all of them. Pairs of samples are visited in chunks that stay in the cache; for v'K_k v only pairs of
samples with v_i, v_j != 0, the support vectors. Slopes are computed in pieces of subsets and sums of kernels in pieces
of pairs, so each number has one piece that adds it up in one order, whichever thread computes which piece.

Every kernel value is right to about 1e-15, one; so where values are far below that they are lost beside their diagonal.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL: Generalized multiple kernel learning with a million kernels (KDD 2012),
section 5.4, which computes kernels when needed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from math import fsum

import numpy as np

from mklviz.context import checkpoint, in_pieces, slices
from mklviz.kernels.storage.gaussian_sums import CHUNK, ROWS, SMALL, differences, pairs, scatter, sum_forms, sum_kernels
from mklviz.kernels.storage.triangles import dots, products, sums_at
from mklviz.typing import Array, Indices, Integers

PIECE = 20_000_000  # pairs times subsets between two checkpoints, about a twentieth of a second
FEWEST = 64  # subsets in a piece: their chunks' squared differences are computed anew for each piece


class StreamedGaussians:
    """Gaussian kernels of every width on every subset, kernel ``s W + k`` being subset s and width k.

    `points` (n, d): samples; `subsets`: columns of each subset; `widths`: in any order; sorted, each is the next one
    times the same power of the root of two; `size`: factor of every kernel: 1 / n for unit trace.
    """

    label = "on the fly"

    def __init__(self, points: Array, subsets: Sequence[tuple[int, ...]], widths: Sequence[float], size: float) -> None:
        self._points, self._size = points, size
        nothing = points.shape[1]  # the number of a feature in which no points differ
        padded = [columns + (nothing,) * (-len(columns) % ROWS) for columns in subsets]
        self._starts = np.concatenate([[0], np.cumsum([len(columns) for columns in padded])])
        self._features = np.fromiter((f for columns in padded for f in columns), np.int64, int(self._starts[-1]))
        self._order = np.argsort(widths)[::-1]
        self._values = np.asarray(widths, dtype=np.float64)
        descending = self._values[self._order]
        ratio = descending[0] / descending[1] if len(widths) > 1 else 1.0
        self._steps = round(2.0 * float(np.log2(ratio)))
        self._factor = -0.5 / descending[0] ** 2 / 2.0**self._steps  # of a width more, where every series begins
        self._halvings = self._halve(np.ptp(points, axis=0))

    def __len__(self) -> int:
        return len(self._halvings) * len(self._order)

    @property
    def nbytes(self) -> int:
        """Memory taken: the subsets' columns and little else."""
        return self._features.nbytes + self._starts.nbytes + self._halvings.nbytes

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self._halvings), len(self._order)

    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k K_k`` to `out`; subsets without weight cost nothing."""
        if fresh:
            out[:] = 0.0
        chunks = _Chunks(self._points)

        def add(k: int, total: Array) -> None:
            first, second = chunks.indices(k)
            scatter(total, first, second, self._size, out)

        self._combine(weights, chunks, self._halvings, add)
        out[np.diag_indices_from(out)] += self._size * float(weights.sum())

    def only(self, keep: Integers) -> StreamedGaussians:
        """Return the kernels on the samples `keep`."""
        block = copy(self)
        block._points = self._points[keep]
        return block

    def between(self, weights: Array, new: Array, points: Array) -> Array:
        """Return ``sum_k weights_k K_k`` between new points and `points`, (n_new, n_points)."""
        reach = np.maximum(new.max(0), points.max(0)) - np.minimum(new.min(0), points.min(0))
        chunks, out = _Chunks(new, points), np.empty(len(new) * len(points))

        def write(k: int, total: Array) -> None:
            start, stop = chunks.bounds(k)
            np.multiply(total, self._size, out=out[start:stop])

        self._combine(weights, chunks, self._halve(reach), write)
        return out.reshape(len(new), len(points))

    def _combine(self, weights: Array, chunks: _Chunks, halvings: Integers, take: Callable[[int, Array], None]) -> None:
        """Hand ``sum_k weights_k K_k``, the factor of all kernels left out, to `take`, chunk by chunk of pairs."""
        every = weights.reshape(self._shape)
        used = np.flatnonzero(every.any(axis=1))
        ordered = np.ascontiguousarray(every[used][:, self._order])
        starts, features = self._only(used)
        everything, halved = float(weights.sum()), halvings[used]

        def add(k: int) -> None:
            squares = chunks.squares(k)
            total = np.full(squares.shape[1], everything)
            for some in slices(len(used), max(PIECE // len(total), 1)):
                subsets = some.start, some.stop
                sum_kernels(squares, starts, features, *subsets, self._factor, halved, ordered, self._steps, total)
            take(k, total)

        in_pieces(add, len(chunks), f"adding {np.count_nonzero(weights):,} kernels")

    def quad(self, v: Array) -> Array:
        """Return ``v'K_k v``, (m,), summed over the columns of v where it has several."""
        columns = v.reshape(len(v), -1)
        support = np.flatnonzero(columns.any(axis=1))
        rows = columns[support]
        chunks = _Chunks(self._points[support])
        total = np.zeros(self._shape)
        pieces = list(slices(len(total), max(PIECE // max(chunks.count, 1), FEWEST)))

        def add(piece: int) -> None:
            some = pieces[piece]
            for k in range(len(chunks)):
                checkpoint()
                first, second = chunks.indices(k)
                twice = 2.0 * np.einsum("tc,tc->t", rows[first], rows[second])
                subsets = self._starts, self._features, some.start, some.stop, self._factor, self._halvings
                sum_forms(chunks.squares(k), twice, *subsets, self._shape[1], self._steps, total)

        in_pieces(add, len(pieces), f"computing the slopes of {len(self):,} kernels")
        out = np.empty(self._shape)
        out[:, self._order] = self._size * (total + float((rows.sum(axis=0) ** 2).sum()))
        return out.ravel()

    @property
    def largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        return np.full(len(self), self._size)

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.triangles`."""
        support = np.flatnonzero(v)
        charges, chunks = v[support], _Chunks(self._points[support])
        total, beside, size = np.zeros(1), np.zeros(1), np.zeros(1)
        for c in range(len(chunks)):
            checkpoint()
            first, second = chunks.indices(c)
            values = np.zeros((1, len(first)))
            self._add_one(k, chunks.squares(c), values[0])
            dots(values, *products(2.0 * charges[first], charges[second]), total, beside, size)
        charge, rest = (float(part[0]) for part in sums_at(np.zeros(len(charges), np.int32), charges, 1))
        square, left = (float(part[0]) for part in products(np.array([charge]), np.array([charge])))
        form = fsum((square, left, 2.0 * charge * rest, float(total[0]), float(beside[0])))
        return self._size * form, self._size * (float(np.abs(charges).sum()) ** 2 - float(size[0]))

    def _add_one(self, k: int, squares: Array, total: Array) -> None:
        """Add kernel k less one, its factor left out, to the sums of a chunk of pairs."""
        s, width = divmod(k, len(self._order))
        starts, features = self._only(np.array([s]))
        unit = np.zeros((1, len(self._order)))
        unit[0, np.argsort(self._order)[width]] = 1.0
        sum_kernels(
            squares, starts, features, 0, 1, self._factor, self._halvings[s : s + 1], unit, self._steps, total
        )  # fmt: skip

    def products(self, which: Indices, v: Array) -> Array:
        """Return ``K_k v`` for the kernels in `which`, (len(which), n)."""
        out = np.full((len(which), len(v)), v.sum())
        chunks = _Chunks(self._points)
        for c in range(len(chunks)):
            checkpoint()
            first, second = chunks.indices(c)
            squares = chunks.squares(c)
            for row, k in zip(out, which.tolist(), strict=True):
                total = np.zeros(len(first))
                self._add_one(k, squares, total)
                row += np.bincount(first, total * v[second], len(v)) + np.bincount(second, total * v[first], len(v))
        return self._size * out

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        combined = np.zeros((len(v), len(v)))
        self.add_combined(weights, combined)
        return np.asarray(combined @ v)

    def _halve(self, reach: Array) -> Integers:
        """Return how often each subset's first exponent is halved to be small, where features differ by `reach`."""
        exponents = -self._factor * np.add.reduceat(np.append(reach**2, 0.0)[self._features], self._starts[:-1])
        return np.maximum(np.ceil(np.log2(np.maximum(exponents, 1e-300) / SMALL)), 0.0).astype(np.int64)

    def _only(self, used: Indices) -> tuple[Integers, Integers]:
        """Return starts and features of the subsets `used`."""
        lengths = np.diff(self._starts)[used]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        positions = np.repeat(self._starts[used] - starts[:-1], lengths) + np.arange(starts[-1])
        return starts, self._features[positions]


class _Chunks:
    """Pairs of points in chunks of about one size; without `columns` the pairs of different rows, each once."""

    def __init__(self, rows: Array, columns: Array | None = None) -> None:
        self._left = np.ascontiguousarray(rows.T)
        self._right = self._left if columns is None else np.ascontiguousarray(columns.T)
        self._each_once = columns is None
        self.count = len(rows) * (len(rows) - 1) // 2 if columns is None else len(rows) * len(columns)
        self._edges = np.linspace(0, self.count, -(-self.count // CHUNK) + 1).astype(np.int64)

    def __len__(self) -> int:
        return len(self._edges) - 1

    def bounds(self, k: int) -> tuple[int, int]:
        """Return where chunk k starts and stops among all pairs."""
        return int(self._edges[k]), int(self._edges[k + 1])

    def indices(self, k: int) -> tuple[Integers, Integers]:
        """Return the first and the second point of each pair of chunk k."""
        start, stop = self.bounds(k)
        if not self._each_once:
            return np.divmod(np.arange(start, stop), self._right.shape[1])
        first, second = np.empty(stop - start, np.int64), np.empty(stop - start, np.int64)
        pairs(start, first, second)
        return first, second

    def squares(self, k: int) -> Array:
        """Return the squared differences of the pairs of chunk k along every feature, (features + 1, pairs).

        The last row is zero.
        """
        first, second = self.indices(k)
        out = np.empty((len(self._left) + 1, len(first)))
        differences(self._left, self._right, first, second, out)
        return out
