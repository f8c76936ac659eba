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

from mklviz.contract import Array, Iterate
from mklviz.errors import ProblemError
from mklviz.inner.conjugates import into_box
from mklviz.inner.scale import usual_weights
from mklviz.problem import Problem

__all__ = ["check_start", "start_duals", "start_weights"]

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
