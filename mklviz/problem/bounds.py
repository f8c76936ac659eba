"""How far two bounds of the optimum are apart, and how much of that rounding alone may be.

    gap = (P - D) / max(|P|, least_scale)
    rounding = eps n (sum_i (L_i + |beta_i|) g_i + (max |y| + max g) sum_i |beta_i| + 2 P(0)),       g = K_d |beta|

P(0), the objective of the zero function, is the size of the loss that everything starts from: an objective below a
millionth of it counts as a millionth, so that an optimum of zero can be certified. The scores f = K_d beta are sums of
n terms that may cancel; their error, at most ``n eps K_d |beta|`` for kernels without negative entries, enters D times
|beta| and P times L, the most that the loss can change with a score. Where beta does not quite balance, that counts
times the bias, which no score and target together exceed. No sum of losses, conjugates or prices is much larger than
P(0) near the optimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mklviz.typing import Array

if TYPE_CHECKING:
    from mklviz.problem.problem import Problem

__all__ = ["LEAST_SHARE", "relative_gap", "rounding_bound"]

LEAST_SHARE = 1e-6  # of the objective of the zero function, below which gaps are relative to that share


def relative_gap(upper: float, lower: float, least_scale: float = 0.0) -> float:
    """Return ``(upper - lower) / max(|upper|, least_scale)``; nan where a bound is nan."""
    return (upper - lower) / max(abs(upper), least_scale, np.finfo(float).tiny)


def rounding_bound(problem: Problem, weights: Array, dual: Array) -> float:
    """Return how far rounding may move the objective and the lower bound at weights (m,) and dual variables."""
    size = np.abs(problem.loss.signed(dual, problem.y))
    slope = problem.loss.box[1] if np.isfinite(problem.loss.box[1]) else size
    scores = np.abs(problem.bank.apply(weights, size))
    bias = float(scores.max() + np.abs(problem.y).max()) if problem.loss.bias else 0.0
    sums = float(((slope + size) * scores).sum()) + bias * float(size.sum()) + 2.0 * problem.zero_objective
    return float(np.finfo(float).eps) * problem.n * sums
