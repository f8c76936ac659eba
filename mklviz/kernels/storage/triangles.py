"""Sums over symmetric matrices that read their lower triangles only: sum_k w_k K_k, v'K v and K v.

Row i of a triangle starts at entry i (i + 1) / 2 where triangles are packed (stride 0), and at entry i n where whole
matrices are kept (stride n). Entries may be of single precision; every sum is of double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.typing import Array, Flags, Indices

Entries = NDArray[np.floating[Any]]  # of single or double precision

# every fast-math licence but "no infinities": the sums below hold no nan or inf by construction
FAST = {"nnan", "nsz", "arcp", "contract", "reassoc", "afn"}
CHUNK = 32768  # entries of an accumulator that stays in the second-level cache
TILE = 8  # rows and columns mirrored together: the entries of a cache line, which is read and written as a whole
TOGETHER = 4  # matrices added in one pass: the accumulator is then read and written a quarter as often


def packed_length(n: int) -> int:
    """Return the number of entries in the lower triangle of an n by n matrix."""
    return n * (n + 1) // 2


@njit(cache=True, nogil=True)
def mirror(out: Entries) -> None:
    """Copy the lower triangle of `out` to its upper one: full tiles, whose loops are unrolled, then what is left."""
    n = out.shape[0]
    full = n - n % TILE
    for top in range(0, full, TILE):
        for left in range(0, top, TILE):
            for j in range(TILE):
                for i in range(TILE):
                    out[left + j, top + i] = out[top + i, left + j]
        for i in range(top, top + TILE):
            for j in range(top, i):
                out[j, i] = out[i, j]
    for i in range(full, n):
        for j in range(i):
            out[j, i] = out[i, j]


@njit(cache=True, nogil=True)
def _start(i: int, stride: int) -> int:
    return i * stride if stride > 0 else i * (i + 1) // 2


@njit(cache=True, nogil=True)
def pack(entries: Entries, stride: int, scale: Array, out: Entries) -> None:
    """Write the lower triangle of ``scale_i scale_j K_ij`` into `out`, rounded where `out` is less precise."""
    for i in range(scale.shape[0]):
        start, end = _start(i, stride), _start(i, 0)
        row, packed = entries[start : start + i + 1], out[end : end + i + 1]
        for j in range(packed.shape[0]):
            packed[j] = scale[i] * scale[j] * row[j]


@njit(cache=True, nogil=True)
def _band(first: int, last: int) -> int:
    """Return where a band of rows ends that begins at row `first` and has no more than about `CHUNK` entries."""
    until, entries = first + 1, first + 1
    while until < last and entries + until + 1 <= CHUNK:
        entries += until + 1
        until += 1
    return until


@njit(cache=True, nogil=True, fastmath=FAST)
def add_packed(
    packed: Entries, active: Indices, weights: Array, first: int, last: int, fresh: bool, out: Array
) -> None:
    """Add the sum over a of ``weights[a] packed[active[a]]`` to the lower triangle of `out`, rows first to last.

    Where `fresh`, nothing stands there yet, which spares writing zeros and reading them again. There must be a multiple
    of `TOGETHER` of them; weights of zero do no harm.
    """
    total = np.empty(max(CHUNK, out.shape[0]))
    while first < last:
        until = _band(first, last)
        begin, end = _start(first, 0), _start(until, 0)
        block = total[: end - begin]
        block[:] = 0.0
        for a in range(0, active.shape[0], TOGETHER):
            w0, w1, w2, w3 = weights[a], weights[a + 1], weights[a + 2], weights[a + 3]
            r0, r1 = packed[active[a], begin:end], packed[active[a + 1], begin:end]
            r2, r3 = packed[active[a + 2], begin:end], packed[active[a + 3], begin:end]
            for t in range(block.shape[0]):
                block[t] += w0 * r0[t] + w1 * r1[t] + w2 * r2[t] + w3 * r3[t]
        start = 0
        for i in range(first, until):
            row, sums = out[i, : i + 1], block[start : start + i + 1]
            if fresh:
                for j in range(row.shape[0]):
                    row[j] = sums[j]
            else:
                for j in range(row.shape[0]):
                    row[j] += sums[j]
            start += i + 1
        first = until


@njit(cache=True, nogil=True, fastmath=FAST)
def add_rows(
    four: tuple[Entries, ...], scales: tuple[Array, ...], weights: Array, first: int, last: int, out: Array
) -> None:
    """Add the sum over a of ``weights[a] c_a[i] c_a[j] k_a[i n + j]`` to the lower triangle, rows first to last."""
    n, (k0, k1, k2, k3), (c0, c1, c2, c3) = out.shape[0], four, scales
    for i in range(first, last):
        w0, w1, w2, w3 = weights[0] * c0[i], weights[1] * c1[i], weights[2] * c2[i], weights[3] * c3[i]
        begin, end = i * n, i * n + i + 1
        r0, r1, r2, r3 = k0[begin:end], k1[begin:end], k2[begin:end], k3[begin:end]
        row = out[i]
        for j in range(i + 1):
            row[j] += w0 * c0[j] * r0[j] + w1 * c1[j] * r1[j] + w2 * c2[j] * r2[j] + w3 * c3[j] * r3[j]


@njit(cache=True, nogil=True, fastmath=FAST)
def forms(triangles: Entries, stride: int, columns: Array, first: int, last: int, out: Array) -> None:
    """out_k += the part of sum v'K_k v, over the rows v of `columns`, that the rows first to last of K_k bring.

    Only rows i of K_k with v_i != 0 are read. Places are unsigned: others might count from the end, and the loop that
    has to allow for it is five times slower.
    """
    for k in range(triangles.shape[0]):
        entries, begin = triangles[k], first
        while begin < last:
            until = _band(begin, last)  # it stays in the cache for the next of several columns
            for c in range(columns.shape[0]):
                v, total = columns[c], 0.0
                for i in range(begin, until):
                    if v[i] != 0.0:
                        start = np.uint64(_start(i, stride))
                        part = 0.0
                        for j in range(i):
                            part += entries[start + np.uint64(j)] * v[j]
                        total += v[i] * (2.0 * part + v[i] * entries[start + np.uint64(i)])
                out[k] += total
            begin = until


@njit(cache=True, nogil=True, fastmath=FAST)
def product(entries: Entries, stride: int, v: Array, first: int, last: int, out: Array) -> None:
    """Out += the part of K v that the rows first to last of its lower triangle bring, each entry read once."""
    for i in range(first, last):
        start = np.uint64(_start(i, stride))
        vi, part = v[i], 0.0
        for j in range(i):
            entry = entries[start + np.uint64(j)]
            part += entry * v[j]
            out[j] += entry * vi
        out[i] += part + entries[start + np.uint64(i)] * vi


# Sums of products as if they were computed with twice the digits: v'K v where its terms cancel.
#
#     a + b = s + e,   a b = p + q        exactly, e and q being what rounding takes from sum and product
#     |found - v'K v|  <=  eps |v'K v| + (n eps)^2 |v|'|K||v|,      where a plain sum's error is up to n eps |v|'|K||v|
#
# Every product and every sum hands on what rounding took from it, and all that is added up beside. It costs some twenty
# times what a plain sum does, for the kernels and the dual variables where that matters (`mklviz.problem.proving`).
#
# Vectors come as a pair v + rest: what is scaled before it is summed is kept with its own rounding.
#
# Reference: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM Journal on Scientific Computing 26 (2005),
# algorithms 3.1 to 3.5 and 5.3.


Inverse = NDArray[np.int32]


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

    Only the lower triangle of K is read.
    """
    for i in range(first, last):
        start = _start(i, stride)
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


def compensated_forms(kernels: Sequence[tuple[Any, int]], v: Array) -> tuple[Array, Array]:
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
