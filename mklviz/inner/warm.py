"""Where a method begins: at equal weights, or at the solution of a similar problem, made to fit this one.

    weights    d = argmin over d of  1/2 sum_k x_k^2 / d_k + r(d),  x_k = ||f_k|| of the start     (simplex: d / 1'd)
    duals      the one of largest dual value among  a,  a C / C_old,  a with the points at C_old moved to C,
               each brought into the box and balanced; where samples have weights, all in shares of them

An iterate does not know the C it was found at. Where samples share the largest dual variable, that was it: points
beyond the margin sit at the bound. Weights that fit the norms of the functions have the scale that the new price asks
for. A start without any weight says nothing, and equal weights take its place.

Reference: DeCoste, Wagstaff, Alpha seeding for support vector machines, KDD 2000. The SimpleMKL toolbox means to move
points at the old bound to the new one, but compares their indices with C, so that nothing moves.
"""

from __future__ import annotations

import numpy as np

from mklviz.context import spending
from mklviz.contract import Iterate
from mklviz.errors import ProblemError
from mklviz.inner.conjugates import into_box
from mklviz.problem import Problem
from mklviz.typing import Array

# How large equal weights are where the regularizer leaves that open, from one product with the mean kernel.
#
#     t = argmin  max over share <= 1  of  D_loss(share beta) - t/2 share^2 beta'K beta  +  r(t 1/m),    K = mean of K_k
#
# Along the ray of one beta that fills its box and balances the classes this is the problem itself, for equal weights.
# Kernels, C or targets in other units give the same start in their units; 1/m each would be far too much or too little.
# Below t_0 = y'beta / beta'K beta functions have no margin yet, and this says little. If t is lost far below it, as
# where no weight at all is best along the ray, the largest weights are taken whose price is a hundredth of the loss at
# zero.

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
    shares = 0.5 ** np.arange(1 if loss.dual_sum(y) else _SHARES)
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


_AT_BOUND = 1e-9  # relative distance from the largest dual variable at which a point counts as bounded as well


def check_start(problem: Problem, start: Iterate) -> None:
    """Raise `ProblemError` unless `start` has the sizes of `problem` and finite entries."""
    shapes = np.shape(start.weights), np.shape(start.dual)
    wanted = (problem.m,), problem.loss.dual_shape(problem.y)
    if shapes != wanted:
        raise ProblemError(
            f"The start has weights of shape {shapes[0]} and dual variables of shape {shapes[1]}; this problem has"
            f" {wanted[0]} and {wanted[1]}: start from an iterate of a problem with the same kernels and samples."
        )
    if not (np.isfinite(start.weights).all() and np.isfinite(start.dual).all()):
        raise ProblemError("The start has weights or dual variables that are not finite numbers.")


def start_weights(problem: Problem, start: Iterate | None) -> Array:
    """Return the (m,) weights to begin from."""
    regularizer = problem.regularizer
    if start is None:
        return usual_weights(problem)
    check_start(problem, start)
    held = np.maximum(start.weights, 0.0)
    if regularizer.on_simplex:
        weights = held
    elif regularizer.closed_form and problem.convex:
        quad = problem.bank.quad(problem.loss.signed(start.dual, problem.y))
        weights = regularizer.weights_from_norms(held * np.sqrt(np.maximum(quad, 0.0)))
    else:
        weights = regularizer.project(held)
    total = float(weights.sum())
    if not (held.any() and np.isfinite(total) and total > 0.0):
        return usual_weights(problem)
    return weights / total if regularizer.on_simplex else weights


def start_duals(problem: Problem, start: Iterate) -> list[Array]:
    """Return feasible signed dual variables, (n,) or (n, c), to begin from, of which the best may be chosen."""
    loss, y = problem.loss, problem.y
    signed = loss.signed(start.dual, y)
    sizes = np.abs(signed if loss.sample_weight is None else loss.C * loss.shares(signed))
    largest = float(sizes.max())
    bounded = sizes >= (1.0 - _AT_BOUND) * largest
    other_bound = loss.bounded and largest > 0.0 and bounded.sum() > 1 and largest != loss.C
    in_proportion = [signed * (loss.C / largest)] if other_bound else []
    if loss.multiclass and np.any(signed[sizes == 0.0]):  # of samples that have lost their weight
        return [np.zeros_like(signed)]
    if loss.multiclass:  # rows or columns that sum to zero stay so in proportion only
        return [signed * min(1.0, loss.C / largest) if largest > 0.0 else signed, *in_proportion]
    moved = [np.where(bounded, np.sign(signed) * loss.cost, signed)] if other_bound else []
    return [into_box(candidate, y, loss) for candidate in (signed, *in_proportion, *moved)]
