"""Proximal points of powers and of squared norms of weights d >= 0: argmin of 1/2 ||d - x||^2 plus the price.

    price c/p sum d^p             d_k + c d_k^{p-1} = x_k
    price sigma/2 ||d||_p^2       the same with c = sigma ||d||_p^{2-p}

In logarithms nothing overflows, and weights far below rounding, as p near 1 has them, still follow their equation.
"""

from __future__ import annotations

import numpy as np

from mklviz.problem.regularizers._projections import solve_each
from mklviz.typing import Array

__all__ = ["power_prox", "squared_norm_prox"]


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
    shrunk[held] = np.exp(_log_weights(np.log(x[held]), p, float(np.log(sigma))))
    return shrunk


def _threshold(x: Array, sigma: float) -> float:
    """Return tau = sigma sum_k [x_k - tau]_+, by sorting."""
    sums = np.cumsum(np.sort(x)[::-1])
    return float((sigma * sums / (1.0 + sigma * np.arange(1, len(x) + 1))).max())


def _log_weights(log_x: Array, p: float, log_sigma: float) -> Array:
    """Return log d where ``log c = log sigma + (2 - p) log ||d||_p``: Newton's method in an interval.

    The left minus the right side increases with log c, with slope 1/(p-1) at least, or 1 for p <= 2.
    """

    def wanted(log_norm: float) -> float:
        return log_sigma + (2.0 - p) * log_norm

    log_size = _log_norm(log_x, p)
    log_d, share = solve_each(log_x, wanted(log_size), p, log_x - np.logaddexp(0.0, wanted(log_size)))
    # ||x||_p / (1 + sigma) <= ||d||_p for p >= 2; for p < 2 the price at ||x||_p is too high, so ||d||_p too small
    least = log_size - np.logaddexp(0.0, log_sigma) if p >= 2.0 else _log_norm(log_d, p)
    low, high = sorted((wanted(log_size), wanted(float(least))))
    log_c = wanted(log_size)
    for _ in range(200):
        log_d, share = solve_each(log_x, log_c, p, log_d)
        powers = np.exp(p * (log_d - log_d.max()))
        excess = log_c - wanted(_log_norm(log_d, p))
        low, high = (low, log_c) if excess > 0.0 else (log_c, high)
        slope = 1.0 + (2.0 - p) * float((powers * share / (1.0 + share * (p - 2.0))).sum() / powers.sum())
        ahead = log_c - excess / slope
        ahead = ahead if low < ahead < high else 0.5 * (low + high)
        if abs(excess) <= 1e-15 * max(1.0, abs(log_c)) or ahead == log_c:
            break
        log_c = ahead
    return log_d


def _log_norm(log_d: Array, p: float) -> float:
    top = float(log_d.max())
    return top + float(np.log(np.exp(p * (log_d - top)).sum())) / p
