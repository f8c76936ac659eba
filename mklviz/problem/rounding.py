"""How far two bounds of the optimum may be apart by rounding alone.

    rounding = L(f + b - e) - L(f + b) + eps n (|beta|'g + (max |y| + max g) sum_i |beta_i| + L + |D_loss|)

The scores f = K_d beta are sums of n terms that may cancel; their error, at most ``e = n eps g, g = K_d |beta|`` for
kernels without negative entries, enters D times |beta|, and P as what the loss L grows by where every score is off to
the worse side: nothing where margins have room for it, however large C is. Where beta does not quite balance, that
counts times the bias, which no score and target together exceed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklviz.problem.problem import Problem

__all__ = ["rounding_bound"]

Array = NDArray[np.float64]


def rounding_bound(problem: Problem, weights: Array, dual: Array) -> float:
    """Return how far rounding may move the objective and the lower bound at weights (m,) and dual variables."""
    loss, y, bank, eps = problem.loss, problem.y, problem.bank, float(np.finfo(float).eps)
    signed = loss.signed(dual, y)
    size, scores = np.abs(signed), bank.apply(weights, signed)
    terms = np.abs(bank.apply(weights, size))
    decisions = scores + loss.primal(scores, y)[1]
    value = loss.value(decisions, y)
    error = eps * (problem.n * terms + np.abs(decisions))
    worse = np.where(decisions < y, -1.0, 1.0) if loss.regression else -np.sign(loss.signed(np.ones_like(dual), y))
    bias = float(terms.max() + np.abs(y).max()) if loss.bias else 0.0
    sums = float((size * terms).sum()) + bias * float(size.sum()) + value + abs(loss.dual_value(dual, y))
    return loss.value(decisions + worse * error, y) - value + eps * problem.n * sums
