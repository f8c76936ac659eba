"""Where SpicyMKL starts, and in which units: balanced dual variables, as large as is best, and a gamma to suit them.

Newton's method has a long way to go from dual variables that are far too large for their kernels: a start is scaled to
the share whose dual value is largest.
"""

from __future__ import annotations

import numpy as np

from mklviz.contract import Array, Iterate
from mklviz.inner.conjugates import Conjugate
from mklviz.inner.warm import start_duals
from mklviz.problem import Problem

__all__ = ["natural_reach", "spread", "start_signed", "usual_start"]

_HALVINGS = 60  # shares that the start may choose from
_INTERIOR = 1e-4  # share of the usual start in a warm one, where a dual variable at its bound has no slope


def start_signed(problem: Problem, start: Iterate, usual: Array, conjugate: Conjugate) -> Array:
    """Return the best share of the best dual variables of a start, inside the box where the conjugate is steep."""
    candidates = [_best_share(problem, signed) for signed in start_duals(problem, start)]
    bounds = [_bound(problem, signed) for signed in candidates]
    best = candidates[int(np.argmax(bounds))]
    return (1.0 - _INTERIOR) * best + _INTERIOR * usual if conjugate.steep else best


def _bound(problem: Problem, signed: Array) -> float:
    return problem.lower_bound(problem.loss.dual_from_signed(signed, problem.y), problem.bank.quad(signed))


def spread(problem: Problem) -> float:
    """Return the size of the targets: decision values are of that order."""
    return float(problem.y.std()) if problem.loss.regression else 1.0


def usual_start(problem: Problem) -> Array:
    """Return balanced signed variables of one share of their box, the share of the largest lower bound.

    Newton's method has a long way to go from shares that are far too large for their kernels.
    """
    return _best_share(problem, 0.5 * problem.loss.full_dual(problem.y))


def _best_share(problem: Problem, signed: Array) -> Array:
    """Return the share of beta whose dual value is largest."""
    loss, regularizer = problem.loss, problem.regularizer
    quad = problem.bank.quad(signed)
    dual = loss.dual_from_signed(signed, problem.y)
    shares = regularizer.dual_scale(quad) * 0.5 ** np.arange(_HALVINGS)
    bounds = [
        loss.dual_value(share * dual, problem.y) - regularizer.conjugate(0.5 * share**2 * quad) for share in shares
    ]
    return np.asarray(shares[int(np.argmax(bounds))] * signed)


def natural_reach(problem: Problem, signed: Array) -> float:
    """Return the gamma that gives one kernel decision values of the order of y in one step."""
    largest = float(problem.bank.quad(signed).max())
    size = float(np.abs(signed).sum())
    return size * spread(problem) / largest if largest > 0.0 and size > 0.0 else 1.0
