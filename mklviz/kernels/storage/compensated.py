"""Sums of products as if they were computed with twice the digits: v'K v where its terms cancel.

    a + b = s + e,   a b = p + q        exactly, e and q being what rounding takes from sum and product
    |found - v'K v|  <=  eps |v'K v| + (n eps)^2 |v|'|K||v|,      where a plain sum's error is up to n eps |v|'|K||v|

Every product and every sum hands on what rounding took from it, and all that is added up beside. It costs some twenty
times what a plain sum does, for the kernels and the dual variables where that matters (`mklviz.problem.proving`).

Vectors come as a pair v + rest: what is scaled before it is summed is kept with its own rounding.

Reference: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM Journal on Scientific Computing 26 (2005),
algorithms 3.1 to 3.5 and 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.kernels.storage.triangles import Entries
from mklviz.typing import Array, Flags

Inverse = NDArray[np.int32]


class Compensated(Protocol):
    """Kernels kept together."""

    def compensated(self, k: int, v: Array) -> tuple[float, float]: ...


Pair = tuple[Array, Array]  # values, and what rounding took from them

EPS = float(np.finfo(np.float64).eps)
WAYS = 8.0  # of n eps: forms are also kept up to date, interpolated, or summed over pairs
SPLIT = 134217729.0  # 2^27 + 1 halves the digits of a number


@njit(cache=True, nogil=True)
def _sum(a: float, b: float) -> tuple[float, float]:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True, nogil=True)
def _product(a: float, b: float) -> tuple[float, float]:
    p = a * b
    t = SPLIT * a
    a1 = t - (t - a)
    a2 = a - a1
    t = SPLIT * b
    b1 = t - (t - b)
    b2 = b - b1
    return p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


@njit(cache=True, nogil=True)
def _dot(x: Entries, v: Array, rest: Array) -> tuple[float, float, float]:
    """Return ``x'(v + rest)``, what is left of it beside, and ``|x|'|v|``."""
    total, beside, size = 0.0, 0.0, 0.0
    for j in range(v.shape[0]):
        entry = float(x[j])
        p, q = _product(entry, v[j])
        total, e = _sum(total, p)
        beside += e + (q + entry * rest[j])
        size += abs(p)
    return total, beside, size


@njit(cache=True, nogil=True)
def forms_of_triangle(entries: Entries, stride: int, first: int, last: int, v: Array, rest: Array, out: Array) -> None:
    """out += the parts of v'K v, of what is left of it, and of |v|'|K||v|, that the rows first to last of K bring.

    The lower triangle of K is read; row i starts at entry i (i + 1) / 2, or at i stride where that is not zero.
    """
    for i in range(first, last):
        start = i * stride if stride > 0 else i * (i + 1) // 2
        total, beside, size = _dot(entries[start : start + i], v[:i], rest[:i])
        p, q = _product(float(entries[start + i]), v[i])
        # twice what is left of the diagonal, and the diagonal
        total, e = _sum(2.0 * total, p)
        beside = 2.0 * beside + e + q + float(entries[start + i]) * rest[i]
        p, q = _product(total, v[i])
        out[0], e = _sum(out[0], p)
        out[1] += e + q + beside * v[i] + total * rest[i]
        out[2] += abs(v[i]) * (2.0 * size + abs(float(entries[start + i]) * v[i]))


@njit(cache=True, nogil=True)
def dots(rows: Entries, v: Array, rest: Array, out: Array, beside: Array, sizes: Array) -> None:
    """Add ``rows (v + rest)`` to out + beside, and ``|rows||v|`` to `sizes`."""
    for r in range(rows.shape[0]):
        total, left, size = _dot(rows[r], v, rest)
        out[r], e = _sum(out[r], total)
        beside[r] += e + left
        sizes[r] += size


@njit(cache=True, nogil=True)
def _multiply(x: Array, y: Array, out: Array, beside: Array) -> None:
    for i in range(x.shape[0]):
        out[i], beside[i] = _product(x[i], y[i])


@njit(cache=True, nogil=True)
def _gather(v: Array, inverse: Inverse, out: Array, beside: Array) -> None:
    for i in range(v.shape[0]):
        out[inverse[i]], e = _sum(out[inverse[i]], v[i])
        beside[inverse[i]] += e


def products(x: Array, y: Array) -> Pair:
    """Return ``x y`` (n,), entry by entry, with what rounding took from it."""
    out, beside = np.empty(len(x)), np.empty(len(x))
    _multiply(np.ascontiguousarray(x), np.ascontiguousarray(y), out, beside)
    return out, beside


def sums_at(inverse: Inverse, v: Array, count: int) -> Pair:
    """Return the sums of v (n,) over samples at the same place, (count,), with what rounding took from them."""
    out, beside = np.zeros(count), np.zeros(count)
    _gather(np.ascontiguousarray(v), inverse, out, beside)
    return out, beside


def squared_length(rows: Entries, v: Array, rest: Array) -> float:
    """Return ``|rows (v + rest)|^2``."""
    out, beside, sizes = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
    dots(rows, v, rest, out, beside, sizes)
    return float(np.square(out + beside).sum())


def inner(x: Array, left: Array, y: Array, rest: Array) -> float:
    """Return ``(x + left)'(y + rest)``, the latter of each much smaller."""
    out, beside, sizes = np.zeros(1), np.zeros(1), np.zeros(1)
    dots(x[None, :], y, rest, out, beside, sizes)
    return float(out[0] + (beside[0] + float(left @ y)))


def compensated_forms(kernels: Sequence[tuple[Compensated, int]], v: Array) -> tuple[Array, Array]:
    """Return ``v'K v`` and ``|v|'|K||v|`` of kernels by block and place, summed over the columns of v."""
    columns = [np.ascontiguousarray(column) for column in v.reshape(len(v), -1).T]
    parts = [[block.compensated(index, column) for column in columns] for block, index in kernels]
    forms, sizes = np.array(parts).reshape(len(kernels), len(columns), 2).sum(axis=1).T
    return forms, sizes


def error_of_forms(largest: Array, from_factors: Flags, v: Array, quad: Array) -> Array:
    """Return how far rounding may move ``v'K_k v`` (m,), at most, from the largest entries of the diagonals.

    |v|'|K||v| is no more than that entry times ||v||_1^2, and |Z'v|^2 moves by no more than twice its root times the
    error of Z'v, and the square of that.
    """
    unit = WAYS * EPS * len(v)
    sizes = largest * float((np.abs(v).sum(axis=0) ** 2).sum())
    return np.where(from_factors, 2.0 * unit * np.sqrt(quad * sizes) + unit**2 * sizes, unit * sizes)
