"""One reading of the factors Z (n, R), a row per sample, of K_d = Z diag(w) Z': sums over samples, and over columns.

Half a million samples with a thousand columns are two gigabytes, so a pass over them costs what the memory costs:
columns whose kernels have no weight are skipped, entries may be float32, and sums are formed in float64. Factors on
disk are let go of piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.context.cancelling import checkpoint
from mklviz.kernels.storage.disk import release
from mklviz.typing import Array, Integers

Factors = NDArray[Any]  # float32 or float64

# every fast-math licence but those that deny nan and infinity
FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}
PIECE = 50_000_000  # entries of Z between two checkpoints, some hundredths of a second


@njit(cache=True, nogil=True, fastmath=FAST)
def _project(Z: Factors, v: Array, runs: Integers, u: Array) -> None:
    """u += sum over i of v_i Z_i, in the columns of `runs`."""
    for i in range(Z.shape[0]):
        x = v[i]
        if x != 0.0:
            for run in range(runs.shape[0]):
                z, to = Z[i, runs[run, 0] : runs[run, 1]], u[runs[run, 0] : runs[run, 1]]
                for r in range(z.shape[0]):
                    to[r] += x * z[r]


@njit(cache=True, nogil=True, fastmath=FAST)
def _decide(Z: Factors, g: Array, runs: Integers, f: Array) -> None:
    """f_i = Z_i'g over the columns of `runs`."""
    for i in range(Z.shape[0]):
        total = 0.0
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], g[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                total += z[r] * part[r]
        f[i] = total


def projections(Z: Factors, v: Array, runs: Integers | None = None) -> Array:
    """Return ``Z'v`` (R,), zero outside the columns of `runs`; samples with v_i = 0 are not read."""
    u = np.zeros(Z.shape[1])
    runs = _everything(Z) if runs is None else runs
    for start, stop in pieces(Z):
        _project(Z[start:stop], v[start:stop], runs, u)
    return u


def decisions(Z: Factors, g: Array, runs: Integers | None = None) -> Array:
    """Return ``Z g`` (n,), reading only the columns of `runs`."""
    f = np.empty(len(Z))
    runs = _everything(Z) if runs is None else runs
    for start, stop in pieces(Z):
        _decide(Z[start:stop], g, runs, f[start:stop])
    return f


def runs_of(weights: Array) -> Integers:
    """Return the (count, 2) stretches, first and one past the last, where the weights of columns are not zero."""
    held = np.concatenate([[False], weights != 0.0, [False]])
    return np.flatnonzero(held[1:] != held[:-1]).reshape(-1, 2).astype(np.int64)


def _everything(Z: Factors) -> Integers:
    return np.array([[0, Z.shape[1]]], dtype=np.int64)


def pieces(Z: Factors, length: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield ranges of samples, asking before each whether the work is still wanted; `length`: most samples of each."""
    length = max(PIECE // max(Z.shape[1], 1), 1) if length is None else length
    for start in range(0, len(Z), length):
        checkpoint()
        stop = min(start + length, len(Z))
        yield start, stop
        release(Z[start:stop])
