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
from mklviz.problem.losses import Hinge
from mklviz.problem.problem import Problem
from mklviz.problem.regularizers import Regularizer, regularizer_families
from mklviz.problem.regularizers._regularizer import norm
from mklviz.typing import Array


@dataclass(frozen=True)
class Equivalent:
    """Another problem with the same solution."""

    problem: Problem
    weights: Array  # (m,): its optimal kernel weights, as optimal as those given were
    dual: Array  # (n,): its dual variables
    sentence: str  # what it is, in words


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
        If the weights or the dual variables are not so many finite numbers, or no kernel has weight: every large enough
        price has that solution.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> best = mv.solve(problem).best
    >>> len(mv.equivalents(problem, best.weights, best.dual)) > 0
    True
    """
    weights, dual = problem.arrays(weights, dual)
    norm_power = problem.regularizer.norm_power(problem.m)
    if norm_power is None or not problem.convex:
        return ()
    quad = problem.bank.quad(problem.loss.signed(dual, problem.y))
    size = norm(weights * np.sqrt(np.maximum(quad, 0.0)), norm_power)
    if not size > 0.0:
        raise ProblemError("No kernel has weight at this solution, so no other formulation can be calibrated by it.")
    slope = problem.regularizer.norm_slope(size)
    alike = []
    for kind in sorted(regularizer_families().values(), key=lambda kind: kind.unbounded):
        other = kind.at_norm_slope(norm_power, slope, size)
        if other is None or kind is type(problem.regularizer):
            continue
        C = problem.loss.C * other.norm_slope(size) / slope
        scale = C / problem.loss.C
        posed = replace(problem, loss=replace(problem.loss, C=C), regularizer=other)
        sentence = f"This is the problem with the {other.label} at C = {C:.4g}{_price(other)}."
        alike.append(Equivalent(posed, other.onto_boundary(weights / scale), dual * scale, sentence))
    return tuple(alike)


def _price(regularizer: Regularizer) -> str:
    """Return its parameters as text, such as " and lam = 3"."""
    shown = [f"{name} = {value:.4g}" for name, value in vars(regularizer).items() if value is not None]
    return " and " + ", ".join(shown) if shown else ""


# A problem with c classes taken apart: one problem per class against the rest, each with kernel weights of its own.
#
#     problem k    the kernels and the regularizer of all, the hinge loss, y_i = +1 where the label is k, else -1
#
# The one-against-all loss sums the same hinge losses, but over one function whose classes share their kernel weights.
#
# Reference: Rifkin, Klautau, In defense of one-vs-all classification, JMLR 5 (2004).


def one_against_all(problem: Problem) -> list[Problem]:
    """Return one problem with two classes for every class of `problem`, in the order of the labels.

    Parameters
    ----------
    problem : Problem
        With a loss for several classes. The machines have its C, and a bias each where it has one.

    Raises
    ------
    ProblemError
        If the loss is not one for several classes.

    Examples
    --------
    >>> data = mv.load_dataset("iris")
    >>> problem = mv.Problem(mv.KernelBank.build(data.X, "gauss:1"), data.y, loss=mv.OneAgainstAllHinge())
    >>> len(mv.one_against_all(problem))
    3
    """
    loss = problem.loss
    if not loss.multiclass:
        raise ProblemError(
            f"One against all needs class numbers 0, 1, 2, … and a loss for them, not the {loss.label} loss."
        )
    machine = Hinge(loss.C, bias=loss.bias)
    return [replace(problem, y=np.where(problem.y == k, 1.0, -1.0), loss=machine) for k in np.unique(problem.y)]
