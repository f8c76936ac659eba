"""Euclidean projections on the simplex and the nonnegative part of an lp ball; proximal points of powers and norms."""

from __future__ import annotations

import numpy as np

from mklviz.typing import Array

ROUNDING = 1e-15  # of a threshold between 0 and 1: what is left of a weight that meets it


def onto_simplex(weights: Array) -> Array:
    """Return the nearest point with d >= 0, 1'd = 1: subtract one threshold, clip at zero (by sorting)."""
    weights = weights - weights.max()  # the same projection, and exact however far away the point is
    sorted_down = np.sort(weights)[::-1]
    excess = np.cumsum(sorted_down) - 1.0
    counts = np.arange(1, len(weights) + 1)
    last = np.flatnonzero(sorted_down * counts > excess)[-1]
    projected = weights - excess[last] / counts[last]
    projected[projected <= ROUNDING] = 0.0
    return np.asarray(projected / projected.sum())  # rounding in a long sum


def onto_lp_ball(weights: Array, p: float) -> Array:
    """Return the nearest point with d >= 0, ||d||_p <= 1, for p > 1.

    Where the constraint binds, ``d_k + c d_k^(p-1) = x_k`` with one multiplier c for which ||d||_p = 1. In logarithms
    the left side is a smooth maximum of two lines, so Newton's method needs few steps and nothing overflows.
    """
    x = np.maximum(weights, 0.0)
    top = float(x.max())
    if top == 0.0 or top * float(((x / top) ** p).sum()) ** (1.0 / p) <= 1.0:
        return x
    held = np.flatnonzero(x > 1e-200 * top)
    log_x = np.log(x[held])
    projected = np.zeros_like(x)
    projected[held] = np.exp(_log_weights(log_x, p))
    return np.asarray(projected / max(1.0, float((projected**p).sum()) ** (1.0 / p)))


def _log_weights(log_x: Array, p: float) -> Array:
    """Return log d where the multiplier is right."""
    top, log_m = float(log_x.max()), float(np.log(len(log_x)))
    # at the upper end every d_k is at most m^(-1/p); the lower end makes no difference to d in double precision
    low, high = top - 50.0 - 2.0 * log_m, top + (1.0 - 1.0 / p) * log_m
    if p < 2.0:
        low -= 50.0
    return _between(log_x, p, (0.0, 0.0, 1.0), low, high, 0.5 * (max(low, high - 10.0) + high))


def _between(
    log_x: Array, p: float, condition: tuple[float, float, float], low: float, high: float, log_c: float
) -> Array:
    """Return log d at the log c from `low` to `high` where ``a (log c - e) = b log ||d||_p``, from a guess of it.

    `condition`: a, e and b, such that the left side less the right one increases: Newton's method in an interval.
    """
    a, e, b = condition
    log_d = log_x - np.logaddexp(0.0, log_c)
    for _ in range(200):
        log_d, share = solve_each(log_x, log_c, p, log_d)
        powers = np.exp(p * (log_d - log_d.max()))
        excess = a * (log_c - e) - b * _log_norm(log_d, p)
        slope = a + b * float((powers * share / (1.0 + share * (p - 2.0))).sum() / powers.sum())
        low, high = (low, log_c) if excess > 0.0 else (log_c, high)
        ahead = log_c - excess / slope if slope > 0.0 else np.inf
        ahead = ahead if low < ahead < high else 0.5 * (low + high)
        narrow = high - low <= 1e-15 * max(1.0, abs(high))
        if abs(excess) <= 1e-15 * max(1.0, a * abs(log_c)) or ahead == log_c or narrow:
            break
        log_c = ahead
    return log_d


def solve_each(log_x: Array, log_c: float, p: float, log_d: Array) -> tuple[Array, Array]:
    """Solve ``log(d + c d^(p-1)) = log x`` for log d; also returns the second term's share of the sum."""
    share = np.zeros_like(log_x)
    for _ in range(60):
        second = log_c + (p - 1.0) * log_d
        total = np.logaddexp(log_d, second)
        share = np.exp(second - total)
        step = (total - log_x) / (1.0 + share * (p - 2.0))
        log_d = log_d - step
        if float(np.abs(step).max()) <= 1e-15 * max(1.0, float(np.abs(log_d).max())):
            break
    return log_d, share


# Proximal points of powers and of squared norms of weights d >= 0: argmin of 1/2 ||d - x||^2 plus the price.
#
#     price c/p sum d^p             d_k + c d_k^{p-1} = x_k
#     price sigma/2 ||d||_p^2       the same with c = sigma ||d||_p^{2-p}
#
# In logarithms nothing overflows, and weights far below rounding, as p near 1 has them, still follow their equation.


def power_prox(x: Array, p: float, log_c: float) -> Array:
    """Return the d >= 0 with ``d + c d^(p-1) = x``, zero where x is not positive, for p > 1."""
    held = np.flatnonzero(x > 0.0)
    root = np.zeros_like(x)
    if len(held) == 0:
        return root
    log_x = np.log(x[held])
    root[held] = np.exp(solve_each(log_x, log_c, p, log_x - np.logaddexp(0.0, log_c))[0])
    return root


def squared_norm_prox(x: Array, p: float, sigma: float) -> Array:
    """Return the minimiser of ``1/2 ||d - x||^2 + sigma/2 ||d||_p^2`` over d >= 0, for p >= 1."""
    x = np.maximum(x, 0.0)
    held = np.flatnonzero(x > 0.0)
    if len(held) == 0:
        return x
    if p == 1.0:
        return np.maximum(x - _threshold(x, sigma), 0.0)
    shrunk = np.zeros_like(x)
    shrunk[held] = np.exp(_log_proximal(np.log(x[held]), p, float(np.log(sigma))))
    return shrunk


def _threshold(x: Array, sigma: float) -> float:
    """Return tau = sigma sum_k [x_k - tau]_+, by sorting."""
    sums = np.cumsum(np.sort(x)[::-1])
    return float((sigma * sums / (1.0 + sigma * np.arange(1, len(x) + 1))).max())


def _log_proximal(log_x: Array, p: float, log_sigma: float) -> Array:
    """Return log d where ``log c = log sigma + (2 - p) log ||d||_p``.

    The left minus the right side increases with log c, with slope 1/(p-1) at least, or 1 for p <= 2.
    """
    log_size = _log_norm(log_x, p)
    first = log_sigma + (2.0 - p) * log_size
    # ||x||_p / (1 + sigma) <= ||d||_p for p >= 2; for p < 2 the price at ||x||_p is too high, so ||d||_p too small
    least = log_size - np.logaddexp(0.0, log_sigma)
    if p < 2.0:
        least = _log_norm(solve_each(log_x, first, p, log_x - np.logaddexp(0.0, first))[0], p)
    low, high = sorted((first, log_sigma + (2.0 - p) * float(least)))
    return _between(log_x, p, (1.0, log_sigma, 2.0 - p), low, high, first)


def _log_norm(log_d: Array, p: float) -> float:
    top = float(log_d.max())
    return top + float(np.log(np.exp(p * (log_d - top)).sum())) / p
