"""Coordinate steps on the dual of a support vector machine whose kernel is K = Z diag(w) Z', with Z (n, R).

    beta_i <- clip(beta_i + (y_i - f_i - b) / (K_ii + rho)),      f_i = Z_i'g,   g = w o Z'beta,   b = b_0 + rho 1'beta

Each step maximises exactly in one variable and costs one row of Z to read. The bias enters as an augmented Lagrangian:
b_0 is moved in between, until 1'beta = 0 holds by itself.

Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale linear SVM,
ICML 2008, algorithm 1. C (n,) holds what each variable may be as large as.
"""

from __future__ import annotations

import numpy as np

from mklviz.compiled import njit
from mklviz.kernels.storage.passes import Factors, pieces
from mklviz.typing import Array, Indices, Integers

__all__ = ["diagonal", "sweep"]

FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}


@njit(cache=True, nogil=True, fastmath=FAST)
def _diagonal(Z: Factors, w: Array, runs: Integers, q: Array) -> None:
    """q_i = sum over r of w_r Z_ir^2, the diagonal of K."""
    for i in range(Z.shape[0]):
        total = 0.0
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], w[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                total += part[r] * z[r] * z[r]
        q[i] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _sweep(
    Z: Factors,
    order: Indices,
    y: Array,
    C: Array,
    q: Array,
    rho: float,
    w: Array,
    runs: Integers,
    g: Array,
    beta: Array,
    state: Array,
) -> None:
    """Step once in every variable of `order`; state holds b_0, 1'beta and what the dual objective gained."""
    offset, total, gain = state[0], state[1], state[2]
    for i in order:
        f = offset + rho * total
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], g[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                f += z[r] * part[r]
        slope, bend = y[i] - f, q[i] + rho
        low, high = (0.0, C[i]) if y[i] > 0.0 else (-C[i], 0.0)
        change = min(max(beta[i] + slope / bend, low), high) - beta[i]
        if change != 0.0:
            beta[i] += change
            total += change
            gain += change * (slope - 0.5 * bend * change)
            for run in range(runs.shape[0]):
                first, last = runs[run, 0], runs[run, 1]
                z, part, size = Z[i, first:last], g[first:last], w[first:last]
                for r in range(z.shape[0]):
                    part[r] += change * size[r] * z[r]
    state[1], state[2] = total, gain


def diagonal(Z: Factors, w: Array, runs: Integers) -> Array:
    """Return the diagonal of ``Z diag(w) Z'``, (n,)."""
    q = np.empty(len(Z))
    for start, stop in pieces(Z):
        _diagonal(Z[start:stop], w, runs, q[start:stop])
    return q


sweep = _sweep
