"""How far two bounds of the optimum may be apart by rounding alone.

    rounding = eps n (sum_i (L_i + |beta_i|) g_i + (max |y| + max g) sum_i |beta_i| + 2 P(0)),       g = K_d |beta|

The scores f = K_d beta are sums of n terms that may cancel; their error, at most ``n eps K_d |beta|`` for kernels
without negative entries, enters D times |beta| and P times L, the most that the loss can change with a score. Where
beta does not quite balance, that counts times the bias, which no score and target together exceed. No sum of losses,
conjugates or prices is much larger than P(0), the objective of the zero function, near the optimum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklviz.problem.problem import Problem

__all__ = ["rounding_bound"]

Array = NDArray[np.float64]


def rounding_bound(problem: Problem, weights: Array, dual: Array) -> float:
    """Return how far rounding may move the objective and the lower bound at weights (m,) and dual variables."""
    size = np.abs(problem.loss.signed(dual, problem.y))
    slope = np.reshape(problem.loss.box[1], (-1,) + (1,) * (size.ndim - 1)) if problem.loss.bounded else size
    scores = np.abs(problem.bank.apply(weights, size))
    bias = float(scores.max() + np.abs(problem.y).max()) if problem.loss.bias else 0.0
    sums = float(((slope + size) * scores).sum()) + bias * float(size.sum()) + 2.0 * problem.zero_objective
    return float(np.finfo(float).eps) * problem.n * sums
