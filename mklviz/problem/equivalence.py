"""One optimum, many formulations: the parameters at which other problems have the same solution.

Every formulation here charges ``g(N) + C sum loss`` for the function, N = ||x||_q being a norm of the block norms
x_k = ||f_k||. Two of them with the same q share the function f and the bias at the optimum when ``g'(N) / C`` agree
there; then ``a' = a C'/C`` and ``d' = d C/C'``.

    q = 1          simplex N,   linear penalty sqrt(2 sigma),   block 1-norm lam,   half-squared l1 (2 sigma N)^{1/3}
    q = 2p/(p+1)   lp ball N,   half-squared lp (2 sigma N)^{1/3},   power (2 sigma)^{1/(p+1)} N^{q-1},
                   block power lam N^{q-1},   squared group norm lam N (its p is q, alpha = 0)

The constrained forms have no parameter but C, so their C' follows; the penalties keep C, and their price follows.
As N is that of the optimum, this works after solving, not before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mklviz.errors import ProblemError
from mklviz.problem.problem import Problem
from mklviz.problem.regularizers import (
    BlockL1,
    BlockPower,
    GroupSquaredPlusL1,
    L1Penalty,
    LpBall,
    LpPenalty,
    PowerPenalty,
    Regularizer,
    Simplex,
)
from mklviz.problem.regularizers._regularizer import norm
from mklviz.typing import Array

__all__ = ["Equivalent", "equivalents"]


@dataclass(frozen=True)
class Equivalent:
    """Another problem with the same solution.

    Attributes
    ----------
    problem : Problem
    weights, dual : (m,) and (n,) arrays
        Its optimal kernel weights and dual variables, as optimal as those given were.
    sentence : str
        What it is, in words.
    """

    problem: Problem
    weights: Array
    dual: Array
    sentence: str


def equivalents(problem: Problem, weights: Array, dual: Array) -> tuple[Equivalent, ...]:
    """Return the other formulations that have the same solution, constrained form first.

    Parameters
    ----------
    problem : Problem
        A problem that was solved.
    weights : (m,) array
        Its optimal kernel weights d.
    dual : (n,) array
        Its optimal dual variables.

    Returns
    -------
    tuple of Equivalent
        Empty for formulations that are no function of one norm: elastic net, entropy, UFO's with alpha > 0; and
        where the problem is not convex.

    Raises
    ------
    ProblemError
        If no kernel has weight: every large enough price has that solution.
    """
    norm_power = _norm_power(problem.regularizer, problem.m)
    if norm_power is None or not problem.convex:
        return ()
    quad = problem.bank.quad(problem.loss.signed(dual, problem.y))
    size = norm(weights * np.sqrt(np.maximum(quad, 0.0)), norm_power)
    if not size > 0.0:
        raise ProblemError("No kernel has weight at this solution, so no other formulation can be calibrated by it.")
    slope = _slope(problem.regularizer, size, problem.m)
    found = []
    for other in _others(slope, size, norm_power):
        if type(other) is type(problem.regularizer):
            continue
        C = problem.loss.C * _slope(other, size, problem.m) / slope
        scale = C / problem.loss.C
        posed = replace(problem, loss=replace(problem.loss, C=C), regularizer=other)
        sentence = f"This is the problem with the {other.label} at C = {C:.4g}{_price(other)}."
        found.append(Equivalent(posed, _inside(other, weights / scale), dual * scale, sentence))
    return tuple(found)


def _inside(regularizer: Regularizer, weights: Array) -> Array:
    """Return the weights, on the boundary of the constraint if there is one, where those of an optimum lie."""
    match regularizer:
        case Simplex():
            return weights / weights.sum()
        case LpBall(p=p):
            return weights / norm(weights, p)
    return weights


def _norm_power(regularizer: Regularizer, m: int) -> float | None:
    """Return q, where the regularizer charges a function of ||x||_q; None where it does not."""
    match regularizer:
        case Simplex() | L1Penalty() | BlockL1():
            return 1.0
        case LpBall(p=p) | LpPenalty(p=p) | PowerPenalty(p=p):
            return 2.0 * p / (p + 1.0)
        case BlockPower(q=q):
            return q
        case GroupSquaredPlusL1(alpha=0.0):
            return regularizer.power(m)
    return None


def _slope(regularizer: Regularizer, size: float, m: int) -> float:
    """Return g'(N)."""
    match regularizer:
        case L1Penalty() | BlockL1():
            return float(np.sqrt(2.0 * regularizer.price))
        case LpPenalty(sigma=sigma):
            return float((2.0 * sigma * size) ** (1.0 / 3.0))
        case PowerPenalty(p=p, sigma=sigma):
            return float((2.0 * sigma) ** (1.0 / (p + 1.0)) * size ** ((p - 1.0) / (p + 1.0)))
        case BlockPower(lam=lam, q=q):
            return float(lam * size ** (q - 1.0))
        case GroupSquaredPlusL1(lam=lam):
            return lam * size
    return size


def _others(slope: float, size: float, q: float) -> list[Regularizer]:
    """Return the formulations that charge a function of ||x||_q, at the prices where g'(N) is `slope`."""
    half_squared = slope**3 / (2.0 * size)
    if q == 1.0:
        return [Simplex(), L1Penalty(0.5 * slope**2), BlockL1(slope), LpPenalty(1.0, half_squared)]
    group = GroupSquaredPlusL1(slope / size, 0.0, q)
    if q == 2.0:  # all kernels weigh the same, which no other formulation asks for
        return [group]
    p = q / (2.0 - q)
    lam = slope * size ** (1.0 - q)
    log_sigma = (p + 1.0) * float(np.log(lam)) - float(np.log(2.0))
    power = [PowerPenalty(p, float(np.exp(log_sigma)))] if abs(log_sigma) < 600.0 else []  # beyond, no such number
    return [LpBall(p), LpPenalty(p, half_squared), *power, BlockPower(lam, q), group]


def _price(regularizer: Regularizer) -> str:
    """Return its parameters as text, such as " and lam = 3"."""
    shown = [f"{name} = {value:.4g}" for name, value in vars(regularizer).items() if value is not None]
    return " and " + ", ".join(shown) if shown else ""
