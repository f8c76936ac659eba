"""The optimum of lp-norm problems from a general conic solver, which shares no code with mklviz.

    ball       max over a, u  1'a - ||u||_{p*} / 2                 with  s_k(a) <= u_k,   0 <= a <= C,  y'a = 0
    penalty    max over a, u  1'a - ||u||_{p*}^2 / (8 sigma)

s_k(a) = ||L_k'(y∘a)||² with K_k = L_k L_k'. Norms of powers other than 2 are built from power cones, where solvers
are less exact than on second-order cones: trust them to `ACCURACY`.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from _conic import _root
from _problems import dense
from _reference import optimal_value

from mklviz.problem import LpBall, LpPenalty, Problem

ACCURACY = 1e-6  # relative


def lp_optimum(problem: Problem) -> float:
    """Return the optimal value of `problem`, hinge loss and lp ball or squared lp penalty, solved in shares a / C."""
    C, regularizer = problem.loss.C, problem.regularizer
    assert isinstance(regularizer, (LpBall, LpPenalty))
    # C^2 s_k in the unit in which the price is the norm itself or its square: of the size of the other numbers
    unit = 0.5 * C if isinstance(regularizer, LpBall) else float(np.sqrt(C**3 / (8.0 * regularizer.sigma)))
    share, squares = cp.Variable(problem.n), cp.Variable(problem.m)
    signed = cp.multiply(problem.y, share)
    constraints = [share >= 0, share <= 1, problem.y @ share == 0]
    for k, gram in enumerate(dense(problem.bank)):
        constraints.append(unit * cp.sum_squares(_root(gram).T @ signed) <= squares[k])
    size = cp.pnorm(squares, regularizer.p / (regularizer.p - 1.0), approx=False)
    price = size if isinstance(regularizer, LpBall) else cp.square(size)
    return C * optimal_value(cp.Problem(cp.Maximize(cp.sum(share) - price), constraints), ACCURACY)
