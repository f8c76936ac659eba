"""Tiny problems with every loss and every regularizer, and their optimum from a general conic solver.

The primal block form, with explicit features: K_k = L_k L_k', f_k = L_k w_k, ||f_k|| = ||w_k||,

    min over w, b   G(||w_1||, ..., ||w_m||) + C sum_i l(y_i, sum_k (L_k w_k)_i + b)

where samples have weights, each l times its weight.

It shares neither code nor formulas with the weighted form, the gradients and the conjugates it is compared with.
"""

from functools import cache

import _problems
import cvxpy as cp
import numpy as np
from _conic import _root
from _problems import random_grams
from _reference import answer
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


def _block(regularizer: Regularizer, x: cp.Expression) -> cp.Expression:
    """G(x) as the table of formulations has it, with x >= the norms."""
    total, m = cp.sum(x), x.size
    match regularizer:
        case mv.Simplex():
            return 0.5 * cp.square(total)
        case mv.LpBall(p=p):
            return 0.5 * cp.square(cp.pnorm(x, 2 * p / (p + 1)))
        case mv.L1Penalty(sigma=sigma):
            return np.sqrt(2.0 * sigma) * total
        case mv.LpPenalty(p=p, sigma=sigma):
            norm = cp.pnorm(x, 2 * p / (p + 1)) if p > 1 else total
            return 1.5 * 2.0 ** (-2 / 3) * sigma ** (1 / 3) * cp.power(norm, 4 / 3)
        case mv.PowerPenalty(p=p, sigma=sigma):
            q = 2 * p / (p + 1)
            return (2.0 * sigma) ** (1 / (p + 1)) / q * cp.sum(cp.power(x, q))
        case mv.ElasticNet(l1=l1, l2=l2):
            return l1 * total + 0.5 * l2 * cp.sum_squares(x)
        case mv.BlockL1(lam=lam):
            return lam * total
        case mv.BlockPower(lam=lam, q=q):
            return lam / q * cp.sum(cp.power(x, q))
        case mv.GroupSquaredPlusL1(lam=lam, alpha=alpha):
            power = regularizer.p or max(2.0, 2 * np.log(m)) / (max(2.0, 2 * np.log(m)) - 1)
            return 0.5 * lam * cp.square(cp.pnorm(x, power)) + alpha * total
    raise AssertionError(regularizer)


def _loss(loss: Loss, y: Array, decisions: cp.Expression) -> cp.Expression:
    match loss:
        case mv.Hinge():
            each = cp.pos(1 - cp.multiply(y, decisions))
        case mv.Logistic():
            each = cp.logistic(-cp.multiply(y, decisions))
        case mv.Squared():
            each = 0.5 * cp.square(y - decisions)
        case mv.EpsilonInsensitive(epsilon=epsilon):
            each = cp.pos(cp.abs(y - decisions) - epsilon)
        case mv.MulticlassHinge():
            own = np.eye(decisions.shape[1])[y.astype(int)]
            each = cp.max(decisions + 1 - own, axis=1) - cp.sum(cp.multiply(own, decisions), axis=1)
        case mv.OneAgainstAllHinge():
            signs = 2 * np.eye(decisions.shape[1])[y.astype(int)] - 1
            each = cp.sum(cp.pos(1 - cp.multiply(signs, decisions)), axis=1)
        case mv.OneClass():
            each = cp.pos(-decisions)
        case _:
            raise AssertionError(loss)
    return loss.C * (cp.sum(each) if loss.sample_weight is None else cp.sum(cp.multiply(loss.sample_weight, each)))


@cache
def block_optimum(loss: Loss, regularizer: Regularizer) -> float:
    """Return the optimal value of `tiny_problem(loss, regularizer)`."""
    return conic_value(tiny_problem(loss, regularizer))


def conic_value(problem: mv.Problem) -> float:
    """Return the optimal value of a problem with any of these losses and regularizers, to about 1e-6."""
    for size in filter(None, (1.0, problem.zero_objective)):  # which suits the solvers better differs from case to case
        value = answer(block_form(problem, size), 1e-6)
        if value is not None:
            return size * value
    raise AssertionError("No conic solver got where it was asked to.")


def block_form(problem: mv.Problem, size: float = 1.0) -> cp.Problem:
    """Return the primal block form of `problem`, divided by `size`, as a conic program.

    The solvers' variables are w in the unit in which features have length one: numbers of one size, whatever C and K.
    """
    loss, regularizer = problem.loss, problem.regularizer
    roots = [_root(problem.bank.combine(unit)) for unit in np.eye(problem.m)]
    shape = loss.dual_shape(problem.y)
    unit = float(np.sqrt(problem.n * problem.m / sum(float((root**2).sum()) for root in roots)))
    parts = [unit * cp.Variable((root.shape[1], *shape[1:])) for root in roots]
    norms = unit * cp.Variable(problem.m, nonneg=True)
    decisions = sum((root @ w for root, w in zip(roots, parts, strict=True)), cp.Constant(np.zeros(shape)))
    bias = (cp.Variable((1, *shape[1:])) if shape[1:] else cp.Variable()) if loss.bias else cp.Constant(0.0)
    decisions = decisions + bias
    constraints: list[cp.Constraint] = [
        cp.norm(cp.vec(w / unit, order="C")) <= norms[k] / unit for k, w in enumerate(parts)
    ]
    if isinstance(regularizer, mv.Entropy | mv.SimplexRidge):  # no block form in closed form: the weights stay
        d = cp.Variable(problem.m, nonneg=True)
        of_weights = cp.sum_squares(d) if isinstance(regularizer, mv.SimplexRidge) else -cp.sum(cp.entr(d))
        price = sum(0.5 * cp.quad_over_lin(w, d[k]) for k, w in enumerate(parts)) + regularizer.lam * of_weights
        constraints = [cp.sum(d) == 1]
    else:
        price = _block(regularizer, norms)
    objective = (price + _loss(loss, problem.y, decisions) + loss.dual_sum(problem.y) * cp.sum(bias)) / size
    return cp.Problem(cp.Minimize(objective), constraints)
