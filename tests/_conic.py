"""The optimum of a problem from a general conic solver, which shares no code with mklviz.

    simplex          max over a  1'a - t        with  1/2 s_k(a) <= t
    linear penalty   max over a  1'a            with  s_k(a) <= 2 sigma,       0 <= a <= C,  y'a = 0

s_k(a) = ||L_k'(y∘a)||² with K_k = L_k L_k'. Certified bounds from solvers enclose the optimum to `ACCURACY` on these
problems, and two conic solvers agree on it (tests).
"""

from functools import cache

import cvxpy as cp
import numpy as np
from _problems import problem
from _reference import optimal_value
from numpy.typing import NDArray

from mklviz.problem import L1Penalty, Problem

Array = NDArray[np.float64]

ACCURACY = 5e-8  # relative; solvers that were asked for 1e-9 differ by up to 4e-8


def _root(gram: Array) -> Array:
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-15 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def conic_optimum(problem: Problem) -> float:
    """Return the optimal value of `problem`, solved in scaled variables a / C."""
    return problem.loss.C * optimal_value(dual(problem))


def dual(problem: Problem) -> cp.Problem:
    """Return the dual in shares a / C as a conic program; its value, times C, is that of `problem`."""
    C = problem.loss.C
    share = cp.Variable(problem.n)
    signed = cp.multiply(problem.y, share)
    roots = [_root(problem.bank.combine(unit)) for unit in np.eye(problem.m)]
    constraints = [share >= 0, share <= 1, problem.y @ share == 0]
    if isinstance(problem.regularizer, L1Penalty):
        radius = np.sqrt(2.0 * problem.regularizer.sigma) / C
        constraints += [cp.norm(root.T @ signed) <= radius for root in roots]
        goal = cp.sum(share)
    else:
        largest = cp.Variable()
        constraints += [0.5 * C * cp.sum_squares(root.T @ signed) <= largest for root in roots]
        goal = cp.sum(share) - largest
    return cp.Problem(cp.Maximize(goal), constraints)


@cache
def optimum(name: str) -> float:
    """Return the optimal value of the problem of that name."""
    return conic_optimum(problem(name))
