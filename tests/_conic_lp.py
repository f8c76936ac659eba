"""The optimum of lp-norm problems from a general conic solver, which shares no code with mklviz.

    ball       max over a, r  1'a - ||r||_{2p*}^2 / 2              with  sqrt(s_k(a)) <= r_k,   0 <= a <= C,  y'a = 0
    penalty    max over a, r  1'a - ||r||_{2p*}^4 / (8 sigma)

sqrt(s_k(a)) = ||L_k'(y∘a)|| with K_k = L_k L_k'. Norms of powers other than 2 are built from power cones, where solvers
are less exact than on second-order cones: trust them to `ACCURACY`.
"""

from __future__ import annotations

import cvxpy as cp
from _conic import _root
from _problems import dense
from _reference import optimal_value

from mklviz.problem import LpBall, LpPenalty, Problem

ACCURACY = 1e-6  # relative


def lp_optimum(problem: Problem) -> float:
    """Return the optimal value of `problem`, hinge loss and lp ball or squared lp penalty, solved in shares a / C."""
    C, regularizer = problem.loss.C, problem.regularizer
    assert isinstance(regularizer, (LpBall, LpPenalty))
    power = 2 if isinstance(regularizer, LpBall) else 4
    # C r_k in the unit in which the price is the norm's power itself: of the size of the other numbers
    unit = (0.5 * C if power == 2 else C**3 / (8.0 * regularizer.sigma)) ** (1.0 / power)
    share, radii = cp.Variable(problem.n), cp.Variable(problem.m)
    signed = cp.multiply(problem.y, share)
    constraints = [share >= 0, share <= 1, problem.y @ share == 0]
    for k, gram in enumerate(dense(problem.bank)):
        constraints.append(unit * cp.norm(_root(gram).T @ signed) <= radii[k])
    size = cp.pnorm(radii, 2.0 * regularizer.p / (regularizer.p - 1.0), approx=False)
    posed = cp.Problem(cp.Maximize(cp.sum(share) - cp.power(size, power)), constraints)
    return C * optimal_value(posed, ACCURACY)
