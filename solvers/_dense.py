"""All kernels as one (n, n, m) array, k last: all kernels' entries for one pair of samples are neighbours."""

from __future__ import annotations

import numpy as np

from mklviz.context import checkpoint, spending
from mklviz.contract import Array
from mklviz.inner.oracle import needs_matrix
from mklviz.problem import Problem

__all__ = ["DENSE_LIMIT", "dense_kernels", "needs_memory"]

DENSE_LIMIT = 2**30  # bytes
_BLOCK = 16  # kernels unpacked at once
_ENTRIES = 2**24  # of theirs; between two checkpoints some tenths of a second


def needs_memory(problem: Problem, method: str) -> str:
    """Return "" or, in one sentence, why `method` cannot keep every kernel of `problem` in full."""
    if problem.bank.access != "matrix":
        return needs_matrix(problem, method)
    size = 8 * problem.m * problem.n**2
    if size <= DENSE_LIMIT:
        return ""
    return (
        f"{method} keeps every kernel in full, and {problem.m:,} kernels on {problem.n:,} samples would"
        f" take {size / 2**30:.1f} GB where {DENSE_LIMIT / 2**30:g} GB are allowed."
    )


@spending("combine")
def dense_kernels(problem: Problem) -> Array:
    """Return all kernels as one (n, n, m) array."""
    n, m = problem.n, problem.m
    out = np.empty((n, n, m))
    block = min(max(_ENTRIES // n**2, 1), _BLOCK, m)
    some = np.empty((block, n, n))
    unit = np.zeros(m)
    for first in range(0, m, block):
        checkpoint()
        last = min(first + block, m)
        for k in range(first, last):
            unit[k] = 1.0
            problem.bank.combine(unit, out=some[k - first])
            unit[k] = 0.0
        out[:, :, first:last] = some[: last - first].transpose(1, 2, 0)
    return out
