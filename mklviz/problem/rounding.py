"""How far two bounds of the optimum may be apart by rounding alone, from the size of the work behind them.

    P(d, beta)   L(f + b, every score off by e to the worse side) - L(f + b) + u (L + |beta|'g + price)
    D(beta')     u (|D_loss| + |beta'|'g' + |y|'|beta'| + price) + 2 eps |beta'|'|f + b| + |b 1'beta'|

with g = |K_d| |beta| and e = u g + 2 eps |f + b|: the scores f = K_d beta are sums that may cancel. Their error costs
nothing where margins have room for it, however large C is. Where beta' does not quite balance, D is too high by the sum
times the bias b; |y|'|beta'| counts with numbers as targets. A sum of n terms is right to u = n eps; the entries of K_d
are sums over kernels, whose errors are independent of one another: that adds the root of their number to n.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mklviz.kernels.interface import Bank
from mklviz.problem.losses import Loss
from mklviz.problem.problem import Problem
from mklviz.problem.proving import EPS
from mklviz.typing import Array


def rounding_bound(problem: Problem, weights: Array, dual: Array, proving: Array | None = None) -> float:
    """Return how far rounding may move the objective at weights and `dual`, and what `proving`, or `dual`, proves."""
    loss, y = problem.loss, problem.y
    unit = _unit(problem, weights)
    spread = _spread(problem.bank, weights)
    signed, proves = (loss.signed(each, y) for each in (dual, dual if proving is None else proving))
    terms = spread(np.abs(signed))
    scores = problem.bank.apply(weights, signed)
    value, bias = loss.primal(scores, y)
    decisions = scores + bias
    price, lost = _price(problem, weights, signed, float(np.vdot(signed, scores)))
    worse = loss.value(worsened(problem, weights, decisions, terms), y) - loss.value(decisions, y)
    upper = worse + lost + unit * (abs(value) + abs(price) + _inner(signed, terms))
    terms = terms if proving is None else spread(np.abs(proves))
    summed = abs(loss.dual_value(loss.dual_from_signed(proves, y), y)) + abs(price) + _inner(proves, terms)
    summed += _inner(proves, y) if loss.regression else 0.0
    unbalanced = float(np.abs(bias * (proves.sum(axis=0) - loss.dual_sum(y))).sum())
    return upper + unit * summed + 2.0 * EPS * _inner(proves, decisions) + unbalanced


def worsened(problem: Problem, weights: Array, decisions: Array, terms: Array) -> Array:
    """Return decisions f + b that are off to the worse side by their rounding, where `terms` are ``|K_d| |beta|``."""
    return decisions + _away(problem.loss, decisions, problem.y) * (
        _unit(problem, weights) * terms + 2.0 * EPS * np.abs(decisions)
    )


def _unit(problem: Problem, weights: Array) -> float:
    """Return the error of a sum over samples of entries of K_d, relative to the size of its terms."""
    return EPS * (problem.n + float(np.count_nonzero(weights)) ** 0.5)


def _inner(one: Array, other: Array) -> float:
    """Return |one|'|other|."""
    return float(np.vdot(np.abs(one), np.abs(other)))


def _spread(bank: Bank, weights: Array) -> Callable[[Array], Array]:
    """Return what multiplies by |K_d|; by K_d, whose entries may cancel, where that is never formed."""
    if bank.access != "matrix":
        return lambda v: np.abs(bank.apply(weights, v))
    kernel = bank.combine_rounded(weights) if bank.rounding_pays else bank.combine(weights)
    return np.abs(kernel, out=kernel).__matmul__


def _away(loss: Loss, decisions: Array, y: Array) -> Array:
    """Return +1 or -1 for every decision: where the loss grows."""
    if loss.regression:
        return np.where(decisions < y, -1.0, 1.0)
    return -np.sign(loss.signed(np.ones_like(decisions), y))


def _price(problem: Problem, weights: Array, signed: Array, squared_norm: float) -> tuple[float, float]:
    """Return what the function pays, loss aside, and how far rounding in the forms may raise that."""
    regularizer, bank = problem.regularizer, problem.bank
    if regularizer.weighted:
        return 0.5 * squared_norm + regularizer.value(weights), 0.0
    quad = bank.quad(signed)
    price = regularizer.cost(weights, quad)
    return price, regularizer.cost(weights, quad + bank.quad_error(signed, quad)) - price
