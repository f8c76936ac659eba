"""Sums over symmetric matrices that read their lower triangles only: sum_k w_k K_k, v'K v and K v.

Row i of a triangle starts at entry i (i + 1) / 2 where triangles are packed (stride 0), and at entry i n where whole
matrices are kept (stride n). Entries may be of single precision; every sum is of double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.typing import Array, Indices

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
def pack(matrix: Entries, scale: Array, out: Entries) -> None:
    """Write the lower triangle of ``scale_i scale_j matrix_ij`` into `out`, rounded where `out` is less precise."""
    start = 0
    for i in range(matrix.shape[0]):
        row, packed = matrix[i, : i + 1], out[start : start + i + 1]
        for j in range(packed.shape[0]):
            packed[j] = scale[i] * scale[j] * row[j]
        start += i + 1


@njit(cache=True, nogil=True)
def rescale(triangle: Entries, scale: Array, out: Entries) -> None:
    """Write ``scale_i scale_j`` times the entries of a packed triangle into `out`, rounded where it is less precise."""
    start = 0
    for i in range(scale.shape[0]):
        row, packed = triangle[start : start + i + 1], out[start : start + i + 1]
        for j in range(packed.shape[0]):
            packed[j] = scale[i] * scale[j] * row[j]
        start += i + 1


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
    k0: Entries,
    k1: Entries,
    k2: Entries,
    k3: Entries,
    c0: Array,
    c1: Array,
    c2: Array,
    c3: Array,
    weights: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add the sum over a of ``weights[a] c_a[i] c_a[j] k_a[i n + j]`` to the lower triangle, rows first to last."""
    n = out.shape[0]
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
