"""Newton steps of the inner SVM on the free points; compiled.

A Newton step solves ``K_FF p = f_F - nu 1``, sum p = 0, on the free set F by Cholesky, bends b + p back into the box,
and searches exactly along that step. It climbs, so the convergence of the pair steps is kept. Where K is hard, such as
of rank one with entries of 1e8, p goes straight to the next bound instead.
"""

from __future__ import annotations

import math

import numpy as np

from mklviz.compiled import njit
from mklviz.inner.svm_state import (
    DIAG,
    FAST,
    HARD,
    HI,
    LO,
    MASK,
    MOVED,
    SNAP,
    TINY,
    B,
    F,
    add,
    dot,
    free_points,
    ordered_sum,
    set_masks,
    snap_distance,
)
from mklviz.typing import Array, Integers

RIDGE = 1e-11  # on the Newton system, relative to the mean of its diagonal
TILE = 4  # rows and columns the Cholesky factorisation takes at once
FROZEN = 1e100  # in place of a pivot lost to rounding: its variable stays where it is


@njit(cache=True, nogil=True)
def _free_system(K: Array, S: Array, free: Integers, own: float = 0.0) -> Array:
    """Lower triangle of K_FF, padded by an identity to a multiple of TILE rows; its ridge may be `own` of each K_tt."""
    size = free.size
    padded = (size + TILE - 1) // TILE * TILE
    A = np.empty((padded, padded))
    ridge = 0.0
    for p in range(size):
        ridge += S[DIAG, free[p]]
    ridge *= RIDGE / size
    for p in range(padded):
        for q in range(padded):
            A[p, q] = 0.0
        A[p, p] = 1.0
    for p in range(size):
        row, out = K[free[p]], A[p]
        for q in range(p + 1):
            out[q] = row[free[q]]
        out[p] += own * S[DIAG, free[p]] if own > 0.0 else ridge
    return A


@njit(cache=True, nogil=True, fastmath=FAST)
def _subtract_products(A: Array, p: int, q: int) -> None:
    """A_pq -= A_p: A_q:' over the columns before q, for a tile: sixteen sums that stay in registers."""
    x0, x1, x2, x3 = A[p, :q], A[p + 1, :q], A[p + 2, :q], A[p + 3, :q]
    y0, y1, y2, y3 = A[q, :q], A[q + 1, :q], A[q + 2, :q], A[q + 3, :q]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = 0.0
    for k in range(q):
        x, u, v, w, z = x0[k], y0[k], y1[k], y2[k], y3[k]
        a0, a1, a2, a3 = a0 + x * u, a1 + x * v, a2 + x * w, a3 + x * z
        x = x1[k]
        b0, b1, b2, b3 = b0 + x * u, b1 + x * v, b2 + x * w, b3 + x * z
        x = x2[k]
        c0, c1, c2, c3 = c0 + x * u, c1 + x * v, c2 + x * w, c3 + x * z
        x = x3[k]
        d0, d1, d2, d3 = d0 + x * u, d1 + x * v, d2 + x * w, d3 + x * z
    T = A[p : p + TILE, q : q + TILE]
    T[0, 0], T[0, 1], T[0, 2], T[0, 3] = T[0, 0] - a0, T[0, 1] - a1, T[0, 2] - a2, T[0, 3] - a3
    T[1, 0], T[1, 1], T[1, 2], T[1, 3] = T[1, 0] - b0, T[1, 1] - b1, T[1, 2] - b2, T[1, 3] - b3
    T[2, 0], T[2, 1], T[2, 2], T[2, 3] = T[2, 0] - c0, T[2, 1] - c1, T[2, 2] - c2, T[2, 3] - c3
    T[3, 0], T[3, 1], T[3, 2], T[3, 3] = T[3, 0] - d0, T[3, 1] - d1, T[3, 2] - d2, T[3, 3] - d3


@njit(cache=True, nogil=True)
def _factor(A: Array) -> None:
    """Cholesky factor in place, by tiles; a pivot lost to rounding freezes its variable."""
    for p in range(0, A.shape[0], TILE):
        for q in range(0, p + TILE, TILE):
            _subtract_products(A, p, q)
            for r in range(p, p + TILE):
                for c in range(q, min(q + TILE, r + 1)):
                    rest = A[r, c]
                    for k in range(q, c):
                        rest -= A[r, k] * A[c, k]
                    if c < r:
                        A[r, c] = rest / A[c, c]
                    else:
                        A[r, c] = math.sqrt(rest) if rest > TINY else FROZEN


@njit(cache=True, nogil=True)
def _substitute(A: Array, x: Array) -> None:
    """x <- (L L')^-1 x."""
    size = x.shape[0]
    for p in range(size):
        x[p] = (x[p] - dot(A[p, :p], x[:p])) / A[p, p]
    for p in range(size - 1, -1, -1):
        x[p] /= A[p, p]
        add(x[:p], -x[p], A[p, :p])


@njit(cache=True, nogil=True)
def _newton_direction(K: Array, S: Array, free: Integers, own: float) -> Array:
    """Solve K_FF p = f_F - nu 1 with sum p = 0."""
    A = _free_system(K, S, free, own)
    _factor(A)
    size = free.size
    p, ones = np.empty(size), np.empty(size)
    for q in range(size):
        p[q], ones[q] = S[F, free[q]], 1.0
    add(p, -ordered_sum(p) / size, ones)
    _substitute(A, p)
    _substitute(A, ones)
    total = ordered_sum(ones)
    if total > 0.0:
        add(p, -ordered_sum(p) / total, ones)
    if own > 0.0:  # a share of what rounding left of the sum would be too much where K_tt is large
        longest = 0
        for q in range(size):
            longest = q if abs(p[q]) > abs(p[longest]) else longest
        p[longest] -= ordered_sum(p)
        return p
    mean = ordered_sum(p) / size
    for q in range(size):
        p[q] -= mean
    return p


@njit(cache=True, nogil=True)
def _shifted(S: Array, free: Integers, p: Array, shift: float, moved: Array) -> tuple[float, int]:
    """moved <- the change of b when b + p - shift is clipped to the box; returns its sum and how many stay inside."""
    total, inside = 0.0, 0
    for q in range(free.size):
        t = free[q]
        b = S[B, t] + p[q] - shift
        clipped = min(max(b, S[LO, t]), S[HI, t])
        inside += clipped == b
        moved[q] = clipped - S[B, t]
        total += moved[q]
    return total, inside


@njit(cache=True, nogil=True)
def _bent(S: Array, free: Integers, p: Array) -> Array:
    """Step from b to the projection of b + p onto the box and the hyperplane sum b = const."""
    moved = np.empty(free.size)
    width, size, least, most = 0.0, 0.0, p[0], p[0]
    for q in range(free.size):
        t = free[q]
        width, size = max(width, S[HI, t] - S[LO, t]), max(size, abs(S[B, t]) + abs(p[q]))
        least, most = min(least, p[q]), max(most, p[q])
    shift, bottom, top = 0.0, least - width, most + width
    for trial in range(120):
        excess, inside = _shifted(S, free, p, shift, moved)
        if excess > 0.0:
            bottom = shift
        else:
            top = shift
        step = excess / max(inside, 1)
        if abs(excess) <= SNAP * min(size, width) or shift + step == shift:
            break
        shift += step
        if trial % 2 == 1 or not bottom < shift < top:
            shift = 0.5 * (bottom + top)
    return moved


@njit(cache=True, nogil=True)
def _room(S: Array, free: Integers, p: Array) -> float:
    """Largest step along p inside the box."""
    room = MASK
    for q in range(free.size):
        t = free[q]
        if p[q] != 0.0:
            room = min(room, ((S[HI, t] if p[q] > 0.0 else S[LO, t]) - S[B, t]) / p[q])
    return room


@njit(cache=True, nogil=True)
def _search(K: Array, S: Array, free: Integers, p: Array, room: float, watch: Array) -> float:
    """Exact line search along p, no further than `room`; returns the gain, 0 where p does not climb."""
    image = np.empty(S.shape[1])
    for t in range(image.size):
        image[t] = 0.0
    ascent, curvature = 0.0, 0.0
    for q in range(free.size):
        add(image, p[q], K[free[q]])
        ascent += p[q] * S[F, free[q]]
    for q in range(free.size):
        curvature += p[q] * image[free[q]]
    if not ascent > 0.0:
        return 0.0
    step = min(ascent / curvature, room) if curvature > 0.0 else room
    snap = snap_distance(S, watch)
    for q in range(free.size):
        t = free[q]
        watch[MOVED] += abs(step * p[q])
        b = S[B, t] + step * p[q]
        b = S[HI, t] if S[HI, t] - b < snap else b
        S[B, t] = S[LO, t] if b - S[LO, t] < snap else b
        set_masks(S, t)
    add(S[F], -step, image)
    return step * (ascent - 0.5 * step * curvature)


@njit(cache=True, nogil=True)
def newton_step(K: Array, S: Array, C: float, free: Integers, watch: Array) -> tuple[float, bool]:
    """One Newton step on the free set, bent along the box; returns its gain and whether it met a bound."""
    p = _newton_direction(K, S, free, watch[HARD])
    # where K_FF is singular p may be so long that b + p would forget b
    longest = TINY
    for q in range(p.size):
        longest = max(longest, abs(p[q]))
    shorter = min(1.0, 1000.0 * C / longest)
    for q in range(p.size):
        p[q] *= shorter
    room = _room(S, free, p)
    if watch[HARD] > 0.0:  # bent off a flat direction, a step may be steep, and too short to meet any bound
        return _search(K, S, free, p, room, watch), free_points(S).size < free.size
    if room >= 1.0:
        return _search(K, S, free, p, room, watch), False
    gain = _search(K, S, free, _bent(S, free, p), 1.0, watch)
    if gain == 0.0:
        gain = _search(K, S, free, p, room, watch)
    return gain, gain > 0.0


@njit(cache=True, nogil=True)
def price(n: int, free: int) -> float:
    """Cost of a Newton step on `free` of n points, in pair steps (measured)."""
    return (0.012 * free * free * free + 0.6 * free * free + 0.15 * n * free) / (150.0 + n)
