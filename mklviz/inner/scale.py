"""How large equal weights are where the regularizer leaves that open, from one product with the mean kernel.

    t = argmin  max over share <= 1  of  D_loss(share beta) - t/2 share^2 beta'K beta  +  r(t 1/m),    K = mean of K_k

Along the ray of one beta that fills its box and balances the classes this is the problem itself, for equal weights.
Kernels, C or targets in other units give the same start in their units; 1/m each would be far too much or too little.
Below t_0 = y'beta / beta'K beta functions have no margin yet, and this says little. If t is lost far below it, as where
no weight at all is best along the ray, the largest weights are taken whose price is a hundredth of the loss at zero.
"""

from __future__ import annotations

import numpy as np

from mklviz.context import spending
from mklviz.problem import Problem
from mklviz.typing import Array

__all__ = ["usual_weights"]

_MOST_SAMPLES = 4096  # that the mean kernel is looked at by; a size needs no more
_POWERS = np.arange(-100, 80)  # of two, times t_0, that are tried
_LEAST = -4  # a power below which t counts as lost
_SMALL = 0.01  # price of the weights that are taken then, as a share of the loss
_SHARES = 80  # halvings of beta that are tried


def usual_weights(problem: Problem) -> Array:
    """Return the equal weights (m,) that a method begins with, in the units of the problem."""
    regularizer, m = problem.regularizer, problem.m
    equal = regularizer.start(m)
    if not (regularizer.unbounded and problem.convex):
        return equal
    one = np.full(m, 1.0 / m)
    size = _best_size(problem, one)
    return regularizer.project(size * one) if size > 0.0 else equal


@spending("subproblem")
def _best_size(problem: Problem, one: Array) -> float:
    """Return t, zero where there is none to be found."""
    loss, regularizer, y = problem.loss, problem.regularizer, problem.y
    full = loss.full_dual(y)
    quad = _mean_quad(problem, one, full)
    pull = float(np.abs(full).sum()) if not loss.regression else float(y @ full)
    if not (quad > 0.0 and np.isfinite(quad) and pull > 0.0):
        return 0.0
    dual = loss.dual_from_signed(full, y)
    shares = 0.5 ** np.arange(_SHARES)
    values = np.array([loss.dual_value(share * dual, y) for share in shares])
    sizes = pull / quad * 2.0**_POWERS
    costs, prices = np.full((2, len(sizes)), np.inf)
    for i, size in enumerate(sizes):
        squares = shares**2 * size * quad  # d's
        best = int(np.argmax(values - 0.5 * squares))
        of_weights = np.full(problem.m, shares[best] ** 2 * quad)
        with np.errstate(over="ignore", invalid="ignore"):
            paid = regularizer.cost(regularizer.project(size * one), of_weights)
        if np.isfinite(paid):
            costs[i], prices[i] = values[best] - squares[best] + paid, paid - 0.5 * squares[best]
    best = int(np.argmin(costs))
    if _POWERS[best] < _LEAST:
        cheap = np.flatnonzero((prices <= _SMALL * values.max()) & (_POWERS <= _LEAST))
        best = max(best, int(cheap[-1])) if len(cheap) else best
    return float(sizes[best]) if np.isfinite(costs[best]) else 0.0


def _mean_quad(problem: Problem, one: Array, full: Array) -> float:
    """Return beta'K beta, from some of the samples where there are many."""
    every = -(-problem.n // _MOST_SAMPLES)
    some = np.zeros_like(full)
    some[::every] = full[::every]
    columns = some.T if some.ndim == 2 else some[None]
    return float(every**2) * sum(float(column @ problem.bank.apply(one, column)) for column in columns)
