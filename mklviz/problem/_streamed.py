"""Gaussian kernels of several widths on many subsets of features, computed whenever they are asked for, never stored.

    e = exp(-g_0 D_ij),    exp(-g_k D_ij) = e^(g_k / g_0),    D_ij = sum over the subset's features (x_if - x_jf)^2

With widths that halve from one to the next every g is four times the last, so one exponential and two squarings per
width serve all of them, and that exponential is a Taylor polynomial squared a few times itself: nothing but products
and sums, which the processor does four or eight at a time. Pairs of samples are visited in chunks that stay in the
cache; for v'K_k v only pairs of samples with v_i, v_j != 0, the support vectors.

The relative error of a kernel value grows with its squarings, to about 1e-12 where the value is below 1e-40.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL: Generalized multiple kernel learning with a million kernels (KDD 2012),
section 5.4, which computes kernels when needed as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mklviz.problem._interrupt import checkpoint

__all__ = ["StreamedGaussians"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# every fast-math licence but those that deny nan and infinity
FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}
CHUNK = 1024  # pairs visited together: their squared differences along all features stay in the second-level cache
PIECE = 20_000_000  # pairs times subsets between two checkpoints, about a tenth of a second
SMALL = 0.5  # exponents below this are left to the Taylor polynomial, whose error is 0.5^14 / 14! = 7e-16


@njit(cache=True, nogil=True)
def _pairs(start, first, second):  # type: ignore[no-untyped-def]
    """Write the pairs (i, j), j < i, number start, start + 1, ... in the order of a packed triangle."""
    i = int((1.0 + (1.0 + 8.0 * start) ** 0.5) / 2.0)
    while i * (i - 1) // 2 > start:
        i -= 1
    while (i + 1) * i // 2 <= start:
        i += 1
    j = start - i * (i - 1) // 2
    for t in range(first.shape[0]):
        first[t], second[t] = i, j
        j += 1
        if j == i:
            i, j = i + 1, 0


@njit(cache=True, nogil=True, fastmath=FAST)
def _differences(left, right, first, second, squares):  # type: ignore[no-untyped-def]
    """squares[f, t] = (feature f of point first[t] of `left` - of point second[t] of `right`)^2."""
    for f in range(left.shape[0]):
        for t in range(first.shape[0]):
            difference = left[f, first[t]] - right[f, second[t]]
            squares[f, t] = difference * difference


@njit(cache=True, nogil=True, fastmath=FAST)
def _widest(squares, features, count, factor, halvings, e):  # type: ignore[no-untyped-def]
    """e = exp(factor * sum of squares over `features`) for the first `count` pairs, by Taylor and squarings."""
    row = squares[features[0]]
    for t in range(count):
        e[t] = row[t]
    for f in features[1:]:
        row = squares[f]
        for t in range(count):
            e[t] += row[t]
    scale = factor / 2.0**halvings
    for t in range(count):
        x = scale * e[t]
        p = 1.0 + x / 13.0
        for k in range(12, 0, -1):
            p = 1.0 + p * x / k
        e[t] = p
    for _ in range(halvings):
        for t in range(count):
            e[t] *= e[t]


@njit(cache=True, nogil=True, fastmath=FAST)
def _narrow(e, steps):  # type: ignore[no-untyped-def]
    """Square every entry `steps` times, two at once: each pass over memory costs more than a product."""
    for _ in range(steps // 2):
        for t in range(e.shape[0]):
            square = e[t] * e[t]
            e[t] = square * square
    if steps % 2 == 1:
        for t in range(e.shape[0]):
            e[t] *= e[t]


@njit(cache=True, nogil=True, fastmath=FAST)
def _sum_forms(squares, pairs, starts, features, begin, end, factor, halvings, widths, steps, out):  # type: ignore[no-untyped-def]
    """out[s, k] += sum over the pairs t of pairs[t] e^(2^(steps k)) for the subsets s from begin to end."""
    count = pairs.shape[0]
    e = np.empty(count)
    for s in range(begin, end):
        _widest(squares, features[starts[s] : starts[s + 1]], count, factor, halvings[s], e)
        for k in range(widths):
            if k > 0:
                _narrow(e, steps)
            total = 0.0
            for t in range(count):
                total += pairs[t] * e[t]
            out[s, k] += total


@njit(cache=True, nogil=True, fastmath=FAST)
def _sum_kernels(squares, count, starts, features, begin, end, factor, halvings, weights, steps, out):  # type: ignore[no-untyped-def]
    """out[t] += sum over the subsets s from begin to end and widths k of weights[s, k] e^(2^(steps k))."""
    e = np.empty(count)
    for s in range(begin, end):
        last = -1
        for k in range(weights.shape[1]):
            if weights[s, k] != 0.0:
                last = k
        if last < 0:
            continue
        _widest(squares, features[starts[s] : starts[s + 1]], count, factor, halvings[s], e)
        for k in range(last + 1):
            if k > 0:
                _narrow(e, steps)
            weight = weights[s, k]
            for t in range(count):
                out[t] += weight * e[t]


@njit(cache=True, nogil=True)
def _scatter(values, first, second, size, out):  # type: ignore[no-untyped-def]
    for t in range(values.shape[0]):
        out[first[t], second[t]] += size * values[t]
        out[second[t], first[t]] += size * values[t]


class StreamedGaussians:
    """Gaussian kernels of every width on every subset, kernel ``s W + k`` being subset s and width k.

    Parameters
    ----------
    points : (n, d) array
        Samples.
    subsets : sequence of tuples of int
        Columns of each subset.
    widths : sequence of float
        In any order; sorted, each is the next one times the same power of the root of two.
    size : float
        Factor of every kernel: 1 / n for unit trace.
    """

    label = "on the fly"

    def __init__(self, points: Array, subsets: Sequence[tuple[int, ...]], widths: Sequence[float], size: float) -> None:
        self._points, self._size = points, size
        self._starts = np.concatenate([[0], np.cumsum([len(columns) for columns in subsets])])
        self._features = np.fromiter((f for columns in subsets for f in columns), np.int64, int(self._starts[-1]))
        self._order = np.argsort(widths)[::-1]
        self._values = np.asarray(widths, dtype=np.float64)
        descending = self._values[self._order]
        ratio = descending[0] / descending[1] if len(widths) > 1 else 1.0
        self._steps = round(2.0 * float(np.log2(ratio)))
        self._factor = -0.5 / descending[0] ** 2
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

    def add_combined(self, weights: Array, out: Array) -> None:
        """Add ``sum_k weights_k K_k`` to `out`; subsets without weight cost nothing."""
        for first, second, total in self._combined(weights, self._points, self._halvings):
            _scatter(total, first, second, self._size, out)
        out[np.diag_indices_from(out)] += self._size * float(weights.sum())

    def between(self, weights: Array, new: Array, points: Array) -> Array:
        """Return ``sum_k weights_k K_k`` between new points and `points`, (n_new, n_points)."""
        reach = np.maximum(new.max(0), points.max(0)) - np.minimum(new.min(0), points.min(0))
        parts = self._combined(weights, new, self._halve(reach), points)
        return self._size * np.concatenate([total for _, _, total in parts]).reshape(len(new), len(points))

    def _combined(
        self, weights: Array, rows: Array, halvings: Indices, columns: Array | None = None
    ) -> Iterator[tuple[Indices, Indices, Array]]:
        """Yield pairs of points in chunks with their ``sum_k weights_k K_k``, the factor of all kernels left out."""
        every = weights.reshape(self._shape)
        used = np.flatnonzero(every.any(axis=1))
        ordered = np.ascontiguousarray(every[used][:, self._order])
        starts, features = self._only(used)
        for first, second, squares in _chunks(rows, columns):
            total = np.zeros(len(first))
            for begin, end in _pieces(len(used), len(first)):
                _sum_kernels(
                    squares, len(first), starts, features, begin, end, self._factor, halvings[used], ordered,
                    self._steps, total,
                )  # fmt: skip
            yield first, second, total

    def quad(self, v: Array) -> Array:
        """Return ``v'K_k v``, (m,), summed over the columns of v where it has several."""
        columns = v.reshape(len(v), -1)
        support = np.flatnonzero(columns.any(axis=1))
        rows = columns[support]
        total = np.zeros(self._shape)
        for first, second, squares in _chunks(self._points[support]):
            pairs = 2.0 * np.einsum("tc,tc->t", rows[first], rows[second])
            for begin, end in _pieces(len(total), len(first)):
                _sum_forms(
                    squares, pairs, self._starts, self._features, begin, end, self._factor, self._halvings,
                    self._shape[1], self._steps, total,
                )  # fmt: skip
        out = np.empty(self._shape)
        out[:, self._order] = self._size * (total + float((rows**2).sum()))
        return out.ravel()

    def products(self, which: NDArray[np.intp], v: Array) -> Array:
        """Return ``K_k v`` for the kernels in `which`, (len(which), n)."""
        out = np.empty((len(which), len(v)))
        for row, kernel in zip(out, which, strict=True):
            checkpoint()
            unit = np.zeros(self._shape[0] * self._shape[1])
            unit[kernel] = 1.0
            row[:] = self.apply(unit, v)
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        combined = np.zeros((len(v), len(v)))
        self.add_combined(weights, combined)
        return np.asarray(combined @ v)

    def _halve(self, reach: Array) -> Indices:
        """Return how often each subset's widest exponent is halved to be small, where features differ by `reach`."""
        exponents = -self._factor * np.add.reduceat((reach**2)[self._features], self._starts[:-1])
        return np.maximum(np.ceil(np.log2(np.maximum(exponents, 1e-300) / SMALL)), 0.0).astype(np.int64)

    def _only(self, used: NDArray[np.intp]) -> tuple[Indices, Indices]:
        """Return starts and features of the subsets `used`."""
        lengths = np.diff(self._starts)[used]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self._starts[used] - starts[:-1], lengths) + np.arange(starts[-1])
        return starts, self._features[places]


def _chunks(rows: Array, columns: Array | None = None) -> Iterator[tuple[Indices, Indices, Array]]:
    """Yield the pairs of points in chunks: both indices, and their squared differences along every feature.

    Without `columns` they are the pairs of different rows, each once.
    """
    left = np.ascontiguousarray(rows.T)
    right = left if columns is None else np.ascontiguousarray(columns.T)
    count = len(rows) * (len(rows) - 1) // 2 if columns is None else len(rows) * len(columns)
    for start in range(0, count, CHUNK):
        length = min(CHUNK, count - start)
        if columns is None:
            first, second = np.empty(length, np.int64), np.empty(length, np.int64)
            _pairs(start, first, second)
        else:
            first, second = np.divmod(np.arange(start, start + length), len(columns))
        squares = np.empty((len(left), length))
        _differences(left, right, first, second, squares)
        yield first, second, squares


def _pieces(subsets: int, pairs: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of subsets short enough to be left between two of them."""
    length = max(PIECE // max(pairs, 1), 1)
    for begin in range(0, subsets, length):
        checkpoint()
        yield begin, min(begin + length, subsets)
