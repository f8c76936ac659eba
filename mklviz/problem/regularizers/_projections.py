"""Euclidean projections on the simplex and on the nonnegative part of an lp ball."""

from __future__ import annotations

import numpy as np

from mklviz.typing import Array

__all__ = ["onto_lp_ball", "onto_simplex", "solve_each"]

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
    """Return log d where the multiplier is right: Newton's method on log ||d||_p, inside a shrinking interval."""
    top, log_m = float(log_x.max()), float(np.log(len(log_x)))
    # at the upper end every d_k is at most m^(-1/p); the lower end makes no difference to d in double precision
    low, high = top - 50.0 - 2.0 * log_m, top + (1.0 - 1.0 / p) * log_m
    if p < 2.0:
        low -= 50.0
    log_c = 0.5 * (max(low, high - 10.0) + high)
    log_d = log_x - np.logaddexp(0.0, log_c)
    for _ in range(200):
        log_d, share = solve_each(log_x, log_c, p, log_d)
        powers = np.exp(p * (log_d - log_d.max()))
        excess = log_d.max() + np.log(powers.sum()) / p
        low, high = (log_c, high) if excess > 0.0 else (low, log_c)
        slope = -float((powers * share / (1.0 + share * (p - 2.0))).sum() / powers.sum())
        wanted = log_c - excess / slope if slope < 0.0 else np.inf
        if not low < wanted < high:
            wanted = 0.5 * (low + high)
        if abs(excess) <= 1e-15 or wanted == log_c or high - low <= 1e-15 * max(1.0, abs(high)):
            break
        log_c = wanted
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
