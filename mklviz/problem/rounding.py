"""How far two bounds of the optimum may be apart by rounding alone.

    of P    L(f + b - e) - L(f + b) + eps n (|beta|'g + L),       g = K_d |beta|,  e = eps n g
    of D    eps n (|beta|'g + (max |y| + max g) sum_i |beta_i| + |D_loss|)

The scores f = K_d beta are sums of n terms that may cancel; their error, at most e for kernels without negative
entries, enters D times |beta|, and P as what the loss L grows by where every score is off to the worse side: nothing
where margins have room for it, however large C is. Where beta does not quite balance, that counts times the bias, which
no score and target together exceed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklviz.problem.problem import Problem

__all__ = ["rounding_bound", "worsened"]

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)


def rounding_bound(problem: Problem, weights: Array, dual: Array, proving: Array | None = None) -> float:
    """Return how far rounding may move the objective at weights (m,) and dual variables, and the bound that those, or
    others that are `proving`, have."""
    certain = dual if proving is None else proving
    return _of_objective(problem, weights, dual) + _of_bound(problem, weights, certain)


def worsened(problem: Problem, scores: Array, terms: Array) -> tuple[Array, Array]:
    """Return decision values at the best bias, and off to the worse side by their rounding, given ``K_d |beta|``."""
    loss, y = problem.loss, problem.y
    decisions = scores + loss.primal(scores, y)[1]
    error = EPS * (problem.n * terms + np.abs(decisions))
    if loss.regression:
        return decisions, decisions + np.where(decisions < y, -error, error)
    return decisions, decisions - np.sign(loss.signed(np.ones_like(scores), y)) * error


def _of_objective(problem: Problem, weights: Array, dual: Array) -> float:
    signed = problem.loss.signed(dual, problem.y)
    terms = np.abs(problem.bank.apply(weights, np.abs(signed)))
    loss, worse = (
        problem.loss.value(f, problem.y) for f in worsened(problem, problem.bank.apply(weights, signed), terms)
    )
    return max(worse - loss, 0.0) + EPS * problem.n * (float((np.abs(signed) * terms).sum()) + loss)


def _of_bound(problem: Problem, weights: Array, dual: Array) -> float:
    size = np.abs(problem.loss.signed(dual, problem.y))
    terms = np.abs(problem.bank.apply(weights, size))
    bias = float(terms.max() + np.abs(problem.y).max()) if problem.loss.bias else 0.0
    sums = float((size * terms).sum()) + bias * float(size.sum()) + abs(problem.loss.dual_value(dual, problem.y))
    return EPS * problem.n * sums
