"""The optimal value of a problem from general conic solvers, which share no code with mklviz.

The primal block form, with explicit features: K_k = L_k L_k', f_k = L_k w_k, ||f_k|| = ||w_k||,

    min over w, b   G(||w_1||, ..., ||w_m||) + C sum_i l(y_i, sum_k (L_k w_k)_i + b)

where samples have weights, each l times its weight. It shares no formulas either with the weighted form, the gradients
and the conjugates it is compared with. Certified bounds from solvers enclose the optimum to `ACCURACY` on the problems
with names, and two conic solvers agree on it (tests).
"""

from functools import cache

import cvxpy as cp
import numpy as np
from _problems import problem
from _reference import answer
from numpy.typing import NDArray

import mklviz as mv
from mklviz.problem import Loss, Regularizer

Array = NDArray[np.float64]

ACCURACY = 5e-8  # relative; solvers that were asked for 1e-9 differ by up to 4e-8


def _root(gram: Array) -> Array:
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-15 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


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


def conic_value(problem: mv.Problem, accuracy: float = 1e-6) -> float:
    """Return the optimal value of a problem with any of these losses and regularizers, to a relative `accuracy`."""
    for size in filter(None, (1.0, problem.zero_objective)):  # which suits the solvers better differs from case to case
        value = answer(block_form(problem, size), accuracy)
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


def conic_optimum(problem: mv.Problem) -> float:
    """Return the optimal value of a problem without powers, to `ACCURACY`."""
    return conic_value(problem, 1e-7)


@cache
def optimum(name: str) -> float:
    """Return the optimal value of the problem of that name."""
    return conic_optimum(problem(name))
