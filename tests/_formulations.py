"""Tiny problems with every loss and every regularizer, and their optimum from a general conic solver."""

from functools import cache

import _problems
import numpy as np
from _conic import conic_value
from _problems import random_grams
from numpy.typing import NDArray

import mklviz as mv
from mklviz.kernels import KernelBank
from mklviz.problem import Loss, Regularizer

Array = NDArray[np.float64]

N, M = 16, 4
LOSSES = [loss for loss in _problems.LOSSES if not loss.multiclass]
MULTICLASS = [loss for loss in _problems.LOSSES if loss.multiclass]
REGULARIZERS = _problems.REGULARIZERS


@cache
def tiny_bank() -> KernelBank:
    return KernelBank.from_grams([N * gram for gram in random_grams(M, N, seed=3)])


@cache
def targets(regression: bool) -> Array:
    rng = np.random.default_rng(8)
    return 1.0 + 2.0 * rng.normal(size=N) if regression else np.where(rng.random(N) < 0.4, 1.0, -1.0)


@cache
def classes() -> Array:
    """Three classes, in random order."""
    return np.random.default_rng(6).permutation(np.arange(N) % 3).astype(float)


def targets_of(loss: Loss) -> Array:
    return classes() if loss.multiclass else targets(loss.regression)


def tiny_problem(loss: Loss, regularizer: Regularizer) -> mv.Problem:
    return mv.Problem(tiny_bank(), targets_of(loss), loss, regularizer)


def random_feasible(problem: mv.Problem, rng: np.random.Generator) -> Array:
    """Return a feasible dual point, with entries at the ends of the box."""
    low, high = (np.clip(end, -5.0, 5.0) if np.isinf(end) else end for end in problem.loss.box)
    shape = problem.loss.dual_shape(problem.y)
    dual = low + (high - low) * np.clip(rng.normal(0.5, 0.6, size=shape), 0.0, 1.0)
    if isinstance(problem.loss, mv.MulticlassHinge):
        dual[np.arange(problem.n), problem.y.astype(int)] = 0.0
        dual /= np.maximum(dual.sum(axis=1, keepdims=True) / high, 1.0)
    signed = problem.loss.signed(dual, problem.y).copy()
    for column in np.atleast_2d(signed.T) if problem.loss.bias else []:  # views: balanced in place
        plus, minus = column[column > 0].sum(), -column[column < 0].sum()
        column[column > 0] *= min(1.0, minus / plus) if plus else 1.0
        column[column < 0] *= min(1.0, plus / minus) if minus else 1.0
    return problem.loss.dual_from_signed(signed, problem.y)


@cache
def block_optimum(loss: Loss, regularizer: Regularizer) -> float:
    """Return the optimal value of `tiny_problem(loss, regularizer)`."""
    return conic_value(tiny_problem(loss, regularizer))
