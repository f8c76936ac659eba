"""Pair steps on the dual of squared lp-norm MKL, in signed variables ``b = y∘a``:

    max  y'b - Phi(s(b)),    Phi(s) = ||s||_q^2 / (8 sigma),  s_k = b'K_k b,  q = p/(p-1),     sum b = 0, box
    f = y - sum_k d_k K_k b,    d_k = 2 dPhi/ds_k = ||s||_q^{2-q} s_k^{q-1} / (2 sigma)

A step b_i + t, b_j - t changes s to ``s + 2 t g + t^2 r`` with g_k = (K_k b)_i - (K_k b)_j and
r_k = K_k,ii + K_k,jj - 2 K_k,ij, and along it

    Phi''= sum_k d_k r_k + 4 sigma (2-q) (d'g)^2 / ||s||_q^2 + 2 (q-1) sum_k d_k g_k^2 / s_k

i is the point of largest f that may grow, j the one whose step promises most, (f_i - f_j)^2 / Phi''. The best t is
the root of a decreasing function: a cubic for p = 2, whose four coefficients are summed once, and in general one that
costs m powers a time. Powers are taken relative to the largest s, as q is 101 for p = 1.01.

Kernels are kept dense with k last, so that all kernels' entries for one pair of samples are neighbours.

Reference: Vishwanathan, Sun, Theera-Ampornpunt, Varma, Multiple kernel learning and the SMO algorithm, NIPS 2010;
sigma is their lambda. The curvature is derived here, from the chain rule.
"""

from __future__ import annotations

import numpy as np

from mklviz.compiled import njit
from mklviz.inner.svm_state import FAST, dot
from mklviz.typing import Array

FLAT = 1e-12  # least curvature, relative to that of orthogonal samples: twins promise nothing but rounding
TINY = 1e-200  # at a = 0 there is no curvature at all, and the largest slope decides
SNAP = 1e-14  # distance to a bound, relative to the dual variables, below which b is put on it
LOST = 1e-30  # power, relative to the largest, that no sum would notice: not worth taking
TRIALS = 100  # of the root search; bisection alone would need 53
SHARP = 1e-15  # width of the root's bracket, relative to the room

Kernels = tuple[Array, Array, Array]  # K (n, n, m), their diagonals (n, m), and G (n, m), ``K_k b``

# rows of the state
B, F, LO, HI, Y = range(5)
STATES = 5


@njit(cache=True, nogil=True)
def _weigh(s: Array, q: float, sigma: float, d: Array) -> float:
    """d <- the weights that s asks for; returns ||s||_q."""
    top, total = 0.0, 0.0
    for k in range(s.shape[0]):
        top = max(top, s[k])
        d[k] = 0.0
    if top == 0.0:
        return 0.0
    least = LOST ** (1.0 / (q - 1.0)) * top
    for k in range(s.shape[0]):
        if s[k] > least:
            share = s[k] / top
            d[k] = share if q == 2.0 else share ** (q - 1.0)
            total += d[k] * share
    size = top * total ** (1.0 / q)
    scale = 0.5 * size / sigma * total ** (1.0 / q - 1.0)
    for k in range(s.shape[0]):
        d[k] *= scale
    return size


@njit(cache=True, nogil=True)
def _grower(state: Array) -> int:
    """The point of largest f among those that may grow."""
    best, top = -1, -np.inf
    for i in range(state.shape[1]):
        if state[B, i] < state[HI, i] and state[F, i] > top:
            best, top = i, state[F, i]
    return best


@njit(cache=True, nogil=True, fastmath=FAST)
def _curvature_sums(
    row: Array, diagonal_i: Array, diagonal_j: Array, G_i: Array, G_j: Array, d: Array, bend: Array
) -> tuple[float, float, float, float]:
    """Return d'r and what d'r would be for orthogonal samples, d'g and bend'g^2, for one pair."""
    flat, most, slope, bent = 0.0, 0.0, 0.0, 0.0
    for k in range(d.shape[0]):
        g = G_i[k] - G_j[k]
        both = diagonal_i[k] + diagonal_j[k]
        most += d[k] * both
        flat += d[k] * (both - 2.0 * row[k])
        slope += d[k] * g
        bent += bend[k] * g * g
    return flat, most, slope, bent


@njit(cache=True, nogil=True)
def _partner(
    K: Array, diagonal: Array, G: Array, state: Array, d: Array, bend: Array, cross: float, i: int
) -> tuple[int, float]:
    """Return the point that may shrink and promises most with i, and the violation ``f_i - min f``."""
    best, gain, violation = -1, -1.0, 0.0
    for j in range(G.shape[0]):
        slope = state[F, i] - state[F, j]
        if not (state[B, j] > state[LO, j] and slope > 0.0):
            continue
        violation = max(violation, slope)
        flat, most, moved, bent = _curvature_sums(K[i, j], diagonal[i], diagonal[j], G[i], G[j], d, bend)
        promised = slope * slope / max(flat + cross * moved * moved + bent, FLAT * most + TINY)
        if promised > gain:
            best, gain = j, promised
    return best, violation


@njit(cache=True, nogil=True)
def _bend(s: Array, d: Array, q: float, out: Array) -> None:
    """out <- 2 (q-1) d/s, the weights of g^2 in the curvature."""
    for k in range(s.shape[0]):
        out[k] = 2.0 * (q - 1.0) * d[k] / s[k] if s[k] > 0.0 and d[k] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _differences(row: Array, diagonal_i: Array, diagonal_j: Array, G_i: Array, G_j: Array, g: Array, r: Array) -> None:
    """Fill g and r of one pair."""
    for k in range(g.shape[0]):
        g[k] = G_i[k] - G_j[k]
        r[k] = max(diagonal_i[k] + diagonal_j[k] - 2.0 * row[k], 0.0)


@njit(cache=True, nogil=True)
def _advance(s: Array, g: Array, r: Array, t: float, out: Array) -> None:
    """out <- s after a step of t."""
    for k in range(s.shape[0]):
        out[k] = max(s[k] + t * (2.0 * g[k] + t * r[k]), 0.0)


@njit(cache=True, nogil=True)
def _slope(
    t: float, linear: float, s: Array, g: Array, r: Array, q: float, sigma: float, moved: Array, d: Array
) -> tuple[float, float]:
    """Return the derivative of the dual objective at t along the pair, and its own derivative."""
    _advance(s, g, r, t, moved)
    size = _weigh(moved, q, sigma, d)
    if size == 0.0:
        return linear, 0.0
    first, flat, bent = 0.0, 0.0, 0.0
    for k in range(s.shape[0]):
        h = g[k] + t * r[k]
        first += d[k] * h
        flat += d[k] * r[k]
        if moved[k] > 0.0:
            bent += d[k] * min(h * h / moved[k], r[k])  # h^2 <= s r, by Cauchy and Schwarz; rounding may forget it
    return linear - first, -(flat + 4.0 * sigma * (2.0 - q) * (first / size) ** 2 + 2.0 * (q - 1.0) * bent)


@njit(cache=True, nogil=True)
def _cubic(s: Array, g: Array, r: Array, linear: float, sigma: float) -> tuple[float, float, float, float]:
    """Coefficients of the derivative for q = 2, by rising powers of t."""
    scale = -0.5 / sigma
    return (
        linear + scale * dot(s, g),
        scale * (dot(s, r) + 2.0 * dot(g, g)),
        scale * 3.0 * dot(g, r),
        scale * dot(r, r),
    )


@njit(cache=True, nogil=True)
def _best_step(
    s: Array, g: Array, r: Array, linear: float, room: float, q: float, sigma: float, moved: Array, d: Array
) -> float:
    """Return the best t in [0, room]: Newton steps on the derivative of the dual, bisection where they fail."""
    square = q == 2.0
    c0, c1, c2, c3 = _cubic(s, g, r, linear, sigma) if square else (0.0, 0.0, 0.0, 0.0)
    low, high, t, last = 0.0, room, room, np.inf
    for trial in range(TRIALS):
        if square:
            value = c0 + t * (c1 + t * (c2 + t * c3))
            bend = c1 + t * (2.0 * c2 + t * 3.0 * c3)
        else:
            value, bend = _slope(t, linear, s, g, r, q, sigma, moved, d)
        if value >= 0.0:
            low = t
        else:
            high = t
        if value == 0.0 or (trial == 0 and value > 0.0) or high - low <= SHARP * high:
            return t
        newton = t - value / bend if bend < 0.0 else -1.0
        if low < newton < high and abs(value) < 0.5 * last:
            if abs(newton - t) <= SHARP * t:
                return newton
            t, last = newton, abs(value)
        else:
            t, last = 0.5 * (low + high), np.inf
    return low


@njit(cache=True, nogil=True, fastmath=FAST)
def _apply(row_i: Array, row_j: Array, t: float, G: Array, y: Array, f: Array, d: Array) -> None:
    """G <- G + t (K_i - K_j) and f <- y - G d, in one pass."""
    for i in range(G.shape[0]):
        total = 0.0
        for k in range(d.shape[0]):
            G[i, k] += t * (row_i[i, k] - row_j[i, k])
            total += d[k] * G[i, k]
        f[i] = y[i] - total


@njit(cache=True, nogil=True)
def _move(state: Array, i: int, j: int, t: float) -> bool:
    """Take the step to b_i + t, b_j - t, or to a bound that is as good as met; False if rounding swallows it."""
    grown, shrunk = state[B, i] + t, state[B, j] - t
    if grown == state[B, i] or shrunk == state[B, j]:
        return False
    snap = SNAP * (abs(grown) + abs(state[B, j]))
    state[B, i] = state[HI, i] if state[HI, i] - grown < snap else grown
    state[B, j] = state[LO, j] if shrunk - state[LO, j] < snap else shrunk
    return True


@njit(cache=True, nogil=True)
def take_steps(
    kernels: Kernels, q: float, sigma: float, state: Array, s: Array, d: Array, least: float, budget: int
) -> tuple[int, float]:
    """Take up to `budget` pair steps.

    `q`, `sigma`: power of the norm of s, and the price of the weights; `state`, `s`, `d` (STATES, n), (m,) and (m,):
    b, f, its bounds and the labels; ``b'K_k b``; the weights. Updated, as is G; `least`: violation of the optimality
    conditions to stop at. Returns `violation`: before the last step; up to date where fewer than `budget` steps were
    taken.
    """
    (K, diagonal, G), m = kernels, s.shape[0]
    g, r, bend, moved, trial_d = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    violation = 0.0
    for step in range(budget):
        size = _weigh(s, q, sigma, d)
        _bend(s, d, q, bend)
        cross = 4.0 * sigma * (2.0 - q) / (size * size) if size > 0.0 else 0.0
        i = _grower(state)
        j, violation = _partner(K, diagonal, G, state, d, bend, cross, i)
        if j < 0 or violation <= least:
            return step, violation
        _differences(K[i, j], diagonal[i], diagonal[j], G[i], G[j], g, r)
        room = min(state[HI, i] - state[B, i], state[B, j] - state[LO, j])
        t = _best_step(s, g, r, state[Y, i] - state[Y, j], room, q, sigma, moved, trial_d)
        if not _move(state, i, j, t):
            return step, violation
        _advance(s, g, r, t, s)
        _weigh(s, q, sigma, d)
        _apply(K[i], K[j], t, G, state[Y], state[F], d)
    return budget, violation
