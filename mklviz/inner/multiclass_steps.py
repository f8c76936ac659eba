"""Compiled steps of the inner multiclass SVM; `mklviz.inner.multiclass` puts them together.

State, a column per sample: the signed variables B (c, n), their slopes G = Y - (K B)' (c, n) with Y one at the
samples' own classes, and masks (c, n), zero where B may grow (B_ki < C_i Y_ki) and hugely negative where it may not.
C (n,) holds what each sample's dual variables may sum to.

One step maximises over all c variables of one sample: B_i = min(C_i Y_i, v - theta), v = B_i + G_i / K_ii, with theta
such that B_i sums to zero, found by sorting v.

Reference: Crammer, Singer, JMLR 2 (2001), section 6; Keerthi, Sundararajan, Chang, Hsieh, Lin, A sequential dual
method for large scale multi-class linear SVMs, KDD 2008.
"""

from __future__ import annotations

import numpy as np

from mklviz.compiled import njit
from mklviz.typing import Array, Integers

__all__ = ["climb", "masks", "project"]

# "nnan" but not "ninf", as in the inner SVM
FAST = {"nnan", "nsz", "arcp", "contract", "reassoc", "afn"}
MASK = 1e300  # added to a slope, it takes a variable out of a maximum
SNAP = 1e-14  # distance to a bound, relative to C, below which a variable is put on it


@njit(cache=True, nogil=True)
def _sort_rivals(v: Array, own: int, order: Integers) -> None:
    """order <- the classes but `own`, by v: insertion, as classes are few."""
    filled = 0
    for k in range(v.shape[0]):
        if k != own:
            place = filled
            while place > 0 and v[order[place - 1]] > v[k]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = k
            filled += 1


@njit(cache=True, nogil=True)
def _level(v: Array, order: Integers, lowest: float, amount: float, more: int) -> float:
    """Return theta with ``sum_k [theta - v_k + lowest]_+ + more theta = amount`` over the classes in `order`."""
    total = 0.0
    theta = amount / (1 + more)
    for r in range(1, order.shape[0]):
        rest = v[order[r]] - lowest
        if theta <= rest:
            break
        total += rest
        theta = (amount + total) / (r + 1 + more)
    return theta


@njit(cache=True, nogil=True)
def _place(v: Array, own: int, C: float, order: Integers, out: Array) -> None:
    """out <- the point nearest to v with out <= C in `own`, out <= 0 elsewhere, and sum zero.

    All is taken relative to the lowest v, so that differences are exact where values are huge.
    """
    out[:] = 0.0
    _sort_rivals(v, own, order)
    lowest = v[order[0]]
    rise = v[own] - lowest
    if rise <= 0.0:
        return
    theta = _level(v, order, lowest, rise, 1)
    if rise - theta > C:
        theta = _level(v, order, lowest, C, 0)
    total = 0.0
    for k in range(v.shape[0]):
        share = theta - (v[k] - lowest)
        if k != own and share > SNAP * theta:
            out[k] = -share
            total += share
    if total > C:
        for k in range(v.shape[0]):
            out[k] *= C / total
    out[own] = C if C - total < SNAP * C else total


@njit(cache=True, nogil=True)
def project(V: Array, labels: Integers, C: Array) -> Array:
    """Return the feasible point nearest to V (c, n)."""
    c, n = V.shape
    out, order, v, placed = np.empty((c, n)), np.zeros(c - 1, np.int64), np.empty(c), np.empty(c)
    for i in range(n):
        v[:] = V[:, i]
        _place(v, labels[i], C[i], order, placed)
        out[:, i] = placed
    return out


@njit(cache=True, nogil=True)
def masks(B: Array, labels: Integers, C: Array) -> Array:
    """Return zero where B may grow and -MASK where it may not."""
    up = np.empty_like(B)
    for k in range(B.shape[0]):
        for i in range(B.shape[1]):
            up[k, i] = 0.0 if B[k, i] < (C[i] if k == labels[i] else 0.0) else -MASK
    return up


@njit(cache=True, nogil=True, fastmath=FAST)
def _add(out: Array, scale: float, row: Array) -> None:
    for t in range(out.shape[0]):
        out[t] += scale * row[t]


@njit(cache=True, nogil=True, fastmath=FAST)
def _widen(slopes: Array, up: Array, high: Array, low: Array) -> None:
    """Bring the extremes over the classes up to date with those of one class."""
    for t in range(slopes.shape[0]):
        g = slopes[t]
        h = g + up[t]
        high[t] = h if h > high[t] else high[t]
        low[t] = g if g < low[t] else low[t]


@njit(cache=True, nogil=True)
def _worst(G: Array, up: Array, diagonal: Array, C: Array, high: Array, low: Array) -> tuple[int, float]:
    """Return the sample whose best pair of classes gains most, and the largest violation of any sample."""
    high[:] = -MASK
    low[:] = MASK
    for k in range(G.shape[0]):
        _widen(G[k], up[k], high, low)
    best, most, largest = 0, -1.0, 0.0
    for i in range(high.shape[0]):
        violation = high[i] - low[i]
        largest = max(largest, violation)
        step = min(0.5 * violation / diagonal[i], C[i])
        gain = step * (violation - step * diagonal[i])
        if violation > 0.0 and gain > most:
            most, best = gain, i
    return best, largest


@njit(cache=True, nogil=True)
def climb(
    K: Array, B: Array, G: Array, up: Array, labels: Integers, diagonal: Array, C: Array, tol: float, budget: int
) -> tuple[int, float, bool]:
    """Take up to `budget` steps; returns how many, the violation left, and whether rounding ate the last one."""
    c, n = B.shape
    high, low, v, placed = np.empty(n), np.empty(n), np.empty(c), np.empty(c)
    order = np.zeros(c - 1, np.int64)
    taken = 0
    while True:
        i, violation = _worst(G, up, diagonal, C, high, low)
        if violation <= tol or taken >= budget:
            return taken, violation, False
        own = labels[i]
        for k in range(c):
            v[k] = B[k, i] + G[k, i] / diagonal[i]
        _place(v, own, C[i], order, placed)
        moved = False
        for k in range(c):
            change = placed[k] - B[k, i]
            if change != 0.0:
                moved = True
                _add(G[k], -change, K[i])
                B[k, i] = placed[k]
                up[k, i] = 0.0 if B[k, i] < (C[i] if k == own else 0.0) else -MASK
        if not moved:
            return taken, violation, True
        taken += 1
