"""Cholesky factors of large matrices, block by block, so that a request to stop is heard between two blocks.

    L_jj L_jj' = A_jj - L_j L_j',    L_ij = (A_ij - L_i L_j') L_jj^-T,     L_i the part of row i left of column j

Up to `SMALL` rows LAPACK is left to itself.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, solve_triangular

from mklviz.context import checkpoint, slices
from mklviz.contract import Array

Factor = tuple[Array, bool]  # as `scipy.linalg.cho_solve` takes it

SMALL = 1200  # rows: half a billion operations
WIDTH = 256  # columns of a block
WORK = 500_000_000  # operations between two checkpoints, less than a tenth of a second
COPIED = 2**22  # entries copied between two checkpoints


def cholesky(A: Array) -> Factor:
    """Return the lower factor of A (n, n), for `cho_solve`; A, in C order, is overwritten.

    Raises `LinAlgError` if A is not positive definite.
    """
    n = len(A)
    checkpoint()
    if n <= SMALL:
        factor, lower = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        return factor, bool(lower)
    for first in range(0, n, WIDTH):
        last = min(first + WIDTH, n)
        here = A[first:last]
        here[:, first:last] -= here[:, :first] @ here[:, :first].T
        here[:, first:last] = np.linalg.cholesky(here[:, first:last])
        rows = max(WORK // (2 * last * WIDTH), 64)
        for some in slices(n - last, rows):
            below = A[last:][some]
            below[:, first:last] -= below[:, :first] @ here[:, :first].T
            solved = solve_triangular(here[:, first:last], below[:, first:last].T, lower=True, check_finite=False)
            below[:, first:last] = solved.T
    return A, True


def scaled_copy(K: Array, scale: Array | None, diagonal: float) -> Array:
    """Return ``scale_i scale_j K_ij``, K itself without a scale, with `diagonal` added to its diagonal."""
    out = np.empty(K.shape)
    for some in slices(len(K), max(COPIED // max(len(K), 1), 1)):
        if scale is None:
            out[some] = K[some]
        else:
            np.multiply(K[some], scale, out=out[some])
            out[some] *= scale[some, None]
    out[np.diag_indices_from(out)] += diagonal
    return out
