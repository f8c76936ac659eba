"""The cutting plane model as a matrix game, solved again after every new row by the dual simplex method.

    min over d in the simplex of max_j c_j'd   =   max over w in the simplex of min_k (w'C)_k

A basis is as many rows A as columns S: d lives on S, w on A, and

    C_AS d_S = theta 1,  1'd_S = 1,        C_AS'w_A = theta 1,  1'w_A = 1.

It stays dual feasible, w >= 0 and z_k = (w'C)_k - theta >= 0, when a row is added. While a row is violated, or an entry
of d is negative, that one leaves its bound, w moves along the one ray that keeps the equations, and the first w_j or
z_k to reach zero takes its place. q rows and columns cost O(q m) a pivot beside an inverse of size q + 1.

Reference: Lemke, The dual method of solving the linear programming problem, Naval Research Logistics Quarterly 1
(1954).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.compiled import njit
from mklviz.context import checkpoint
from mklviz.typing import Array, Integers

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums may be reordered, NaN and infinity keep their meaning
FEASIBLE = 1e-11  # violation of a row in units of its largest entry, and of d >= 0, that rounding leaves
PIVOT = 1e-9  # least pivot, relative to the largest candidate
_CHUNK = 50_000_000  # multiplications between two checkpoints


class MatrixGame:
    """The basis found last, from which the next solve starts. `rows`, `columns` (q,) int64: the basis."""

    def __init__(self) -> None:
        self.rows, self.columns = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def solve(self, cuts: Array, units: Array) -> tuple[Array, Array] | None:
        """Return the weights d (m,) and multipliers w (J,), or None where rounding or cycling keeps it from them.

        The next solve begins anew then. `cuts` (J, m): the rows known before, in the same order, and new ones; `units`
        (J,): largest entry of each row.
        """
        J, m = cuts.shape
        if not len(self.rows):
            self.rows, self.columns = np.zeros(1, np.int64), np.array([np.argmin(cuts[0])])
        q = len(self.rows) if len(self.rows) <= min(J, m) else 0
        rows, columns = np.empty(min(J, m) + 1, np.int64), np.empty(min(J, m) + 1, np.int64)
        rows[:q], columns[:q] = self.rows[:q], self.columns[:q]
        d, w = np.zeros(m), np.zeros(J)
        left = 50 + 20 * q
        while q > 0:
            checkpoint()
            some = min(max(_CHUNK // ((q + 1) * (m + J + q * q)), 1), left)
            try:
                q = _climb(cuts, units, rows, columns, q, d, w, some)
            except np.linalg.LinAlgError:  # a basis without an inverse
                q = 0
            left -= some
            if q >= 0 or left == 0:
                break
            q = -q
        if q < 1:
            self.rows = self.columns = np.zeros(0, np.int64)
            return None
        self.rows, self.columns = rows[:q].copy(), columns[:q].copy()
        return d, w

    def forget(self, row: int) -> None:
        """Learn that a row is gone and those after it have moved up; begin anew if it was in the basis."""
        if row in self.rows:
            self.rows = self.columns = np.zeros(0, np.int64)
        self.rows = np.where(self.rows > row, self.rows - 1, self.rows)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _inverse(cuts: Array, rows: Integers, columns: Integers, q: int, unit: float) -> NDArray[np.floating[Any]]:
    """Inverse of [[C_AS / unit, -1], [1', 0]]."""
    M = np.zeros((q + 1, q + 1))
    for a in range(q):
        for b in range(q):
            M[a, b] = cuts[rows[a], columns[b]] / unit
        M[a, q] = -1.0
        M[q, a] = 1.0
    return np.linalg.inv(M)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _worst(cuts: Array, units: Array, rows: Integers, columns: Integers, x: Array, q: int, unit: float) -> int:
    """Return the most violated row r, or -1 - p for the most negative entry p of d, or the number of rows for none."""
    J = cuts.shape[0]
    worst, index = FEASIBLE, J
    for a in range(q):
        if -x[a] > worst:
            worst, index = -x[a], -1 - a
    for j in range(J):
        total = -x[q] * unit
        for b in range(q):
            total += cuts[j, columns[b]] * x[b]
        if total / units[j] > worst:
            inside = False
            for a in range(q):
                inside = inside or rows[a] == j
            if not inside:
                worst, index = total / units[j], j
    return index


@njit(cache=True, nogil=True, fastmath=_FAST)
def _combined(cuts: Array, rows: Integers, weights: Array, q: int, shift: float, unit: float, out: Array) -> None:
    """out = sum_a weights_a C_a / unit + shift."""
    out[:] = shift
    for a in range(q):
        scale = weights[a] / unit
        row = cuts[rows[a]]
        for k in range(out.shape[0]):
            out[k] += scale * row[k]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _first(w: Array, fall: Array, z: Array, rho: Array, columns: Integers, q: int) -> int:
    """Return which reaches zero first: a for the a-th row (w - t fall), -1 - k for column k (z + t rho); q if none."""
    best, index = np.inf, q
    largest = 0.0
    for a in range(q):
        largest = max(largest, abs(fall[a]))
    for a in range(q):
        if fall[a] > PIVOT * largest:
            t = max(w[a], 0.0) / fall[a]
            if t < best:
                best, index = t, a
    lowest = 0.0
    for k in range(rho.shape[0]):
        lowest = min(lowest, rho[k])
    for b in range(q):
        rho[columns[b]] = 0.0  # these stay at zero
    for k in range(rho.shape[0]):
        if rho[k] < PIVOT * lowest:
            t = max(z[k], 0.0) / -rho[k]
            if t < best:
                best, index = t, -1 - k
    return index


@njit(cache=True, nogil=True, fastmath=_FAST)
def _climb(cuts: Array, units: Array, rows: Integers, columns: Integers, q: int, d: Array, w: Array, most: int) -> int:
    """Pivot until feasible; d and w receive the solution, rows and columns the basis; returns its size.

    That is 0 if the basis is lost, and negative after `most` pivots.
    """
    J, m = cuts.shape
    z, rho, fall = np.empty(m), np.empty(m), np.empty(J + 1)
    unit = units[0]
    for _ in range(most):
        W = _inverse(cuts, rows, columns, q, unit)
        x = W[:, q].copy()  # d_S and theta / unit
        y = -W[q]  # w_A, and minus theta / unit
        r = _worst(cuts, units, rows, columns, x, q, unit)
        if r == J:
            for a in range(q):
                d[columns[a]], w[rows[a]] = x[a], y[a]
            return q
        _combined(cuts, rows, y, q, -x[q], unit, z)
        if r >= 0:
            # row r in terms of the basis: alpha'C_A + beta
            for b in range(q + 1):
                fall[b] = -W[q, b]
                for a in range(q):
                    fall[b] += W[a, b] * cuts[r, columns[a]] / unit
            _combined(cuts, rows, -fall[:q], q, -fall[q], unit, rho)
            for k in range(m):
                rho[k] += cuts[r, k] / unit
        else:
            for b in range(q + 1):
                fall[b] = -W[-1 - r, b]
            _combined(cuts, rows, -fall[:q], q, -fall[q], unit, rho)
        leaving = _first(y[:q], fall[:q], z, rho, columns, q) if q > 0 else q
        if leaving == q:
            return 0
        q = _exchange(rows, columns, q, r, leaving)
        if q < 1 or q >= rows.shape[0]:
            return 0
    return -q


@njit(cache=True, nogil=True)
def _exchange(rows: Integers, columns: Integers, q: int, entering: int, leaving: int) -> int:
    """Row `entering`, or column -1 - entering of the basis, gives way to row `leaving` of it or column -1 - leaving."""
    if entering >= 0 and leaving >= 0:
        rows[leaving] = entering
        return q
    if entering >= 0:
        rows[q], columns[q] = entering, -1 - leaving
        return q + 1
    if leaving < 0:
        columns[-1 - entering] = -1 - leaving
        return q
    rows[leaving] = rows[q - 1]
    columns[-1 - entering] = columns[q - 1]
    return q - 1
