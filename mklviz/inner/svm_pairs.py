"""Pair steps of the inner SVM; compiled.

A pair step moves b_i up and b_j down: i by steepest ascent, j by second-order gain (Fan, Chen & Lin 2005, "Working set
selection using second order information for training support vector machines", WSS2).
"""

from __future__ import annotations

from mklviz.compiled import njit
from mklviz.inner.svm_state import (
    DIAG,
    FAST,
    HI,
    LO,
    LOW,
    MASK,
    MOVED,
    SCRATCH,
    TINY,
    UP,
    B,
    F,
    larger,
    position,
    set_masks,
    smaller,
    snap_distance,
)
from mklviz.typing import Array

__all__ = ["pair_steps"]

BLOCK = 1024  # points scanned between two looks at the running maximum


@njit(cache=True, nogil=True, fastmath=FAST)
def _top(f: Array, up: Array, scratch: Array) -> int:
    """Index of the steepest point that may grow."""
    best = -MASK
    for t in range(f.shape[0]):
        scratch[t] = f[t] + up[t]
        best = larger(best, scratch[t])
    return position(scratch, best)


@njit(cache=True, nogil=True, fastmath=FAST)
def _gains(f: Array, low: Array, diag: Array, row: Array, gain: Array, fi: float, kii: float) -> tuple[float, float]:
    """Second-order gain of pairing i with each point of a block; returns the best gain and the least f - f_i."""
    best = -1.0
    lowest = MASK
    for t in range(f.shape[0]):
        slope = fi - f[t] + low[t]
        lowest = smaller(lowest, -slope)
        curvature = larger(kii + diag[t] - 2.0 * row[t], TINY)
        rise = larger(slope, 0.0)
        g = rise * rise / curvature
        gain[t] = g
        best = larger(best, g)
    return best, lowest


@njit(cache=True, nogil=True, fastmath=FAST)
def _descend(f: Array, row_i: Array, row_j: Array, up: Array, masked: Array, step: float) -> float:
    """f -= step (K_i - K_j) on a block; returns the largest f among the points that may grow."""
    best = -MASK
    for t in range(f.shape[0]):
        g = f[t] - step * (row_i[t] - row_j[t])
        f[t] = g
        h = g + up[t]
        masked[t] = h
        best = larger(best, h)
    return best


@njit(cache=True, nogil=True)
def _partner(K: Array, S: Array, i: int) -> tuple[int, float]:
    """Second index of the working set, and the violation ``f_i - min f`` over the points that may shrink."""
    n = S.shape[1]
    f, low, diag, gain, row = S[F], S[LOW], S[DIAG], S[SCRATCH], K[i]
    best, lowest, block = -1.0, MASK, 0
    for s in range(0, n, BLOCK):
        e = min(s + BLOCK, n)
        g, v = _gains(f[s:e], low[s:e], diag[s:e], row[s:e], gain[s:e], f[i], diag[i])
        lowest = min(lowest, v)
        if g > best:
            best, block = g, s
    return block + position(gain[block : min(block + BLOCK, n)], best), -lowest


@njit(cache=True, nogil=True)
def _move(K: Array, S: Array, i: int, j: int, step: float) -> int:
    """Update f and return the next first index."""
    n = S.shape[1]
    f, up, masked, row_i, row_j = S[F], S[UP], S[SCRATCH], K[i], K[j]
    best, block = -MASK, 0
    for s in range(0, n, BLOCK):
        e = min(s + BLOCK, n)
        top = _descend(f[s:e], row_i[s:e], row_j[s:e], up[s:e], masked[s:e], step)
        if top > best:
            best, block = top, s
    return block + position(masked[block : min(block + BLOCK, n)], best)


@njit(cache=True, nogil=True)
def _snapped(S: Array, i: int, j: int, snap: float) -> bool:
    """Put b_i on its upper, else b_j on its lower bound if rounding alone keeps it off; returns whether it did."""
    if 0.0 < S[HI, i] - S[B, i] < snap:
        S[B, i] = S[HI, i]
        set_masks(S, i)
        return True
    if 0.0 < S[B, j] - S[LO, j] < snap:
        S[B, j] = S[LO, j]
        set_masks(S, j)
        return True
    return False


@njit(cache=True, nogil=True)
def pair_steps(K: Array, S: Array, tol: float, budget: int, watch: Array) -> tuple[int, float, float, bool]:
    """Take up to `budget` pair steps; returns steps, gain, violation, and whether rounding ate the last step."""
    b, hi, lo, snap = S[B], S[HI], S[LO], snap_distance(S, watch)
    i = _top(S[F], S[UP], S[SCRATCH])
    steps, gain = 0, 0.0
    while True:
        j, violation = _partner(K, S, i)
        if violation <= tol or steps >= budget:
            return steps, gain, violation, False
        curvature = max(S[DIAG, i] + S[DIAG, j] - 2.0 * K[i, j], TINY)
        slope = S[F, i] - S[F, j]
        step = min(slope / curvature, hi[i] - b[i], b[j] - lo[j])
        grown, shrunk = b[i] + step, b[j] - step
        if grown == b[i] or shrunk == b[j]:
            if not _snapped(S, i, j, snap):
                return steps, gain, violation, True
            i = _top(S[F], S[UP], S[SCRATCH])
            continue
        b[i] = hi[i] if hi[i] - grown < snap else grown
        b[j] = lo[j] if shrunk - lo[j] < snap else shrunk
        set_masks(S, i)
        set_masks(S, j)
        gain += step * (slope - 0.5 * step * curvature)
        watch[MOVED] += 2.0 * step
        i = _move(K, S, i, j, step)
        steps += 1
