"""What every solver promises on problems that are hard: it ends, and never says nan."""

from __future__ import annotations

import numpy as np

from mklviz.check._require import require
from mklviz.check.exact import proves_what_it_says
from mklviz.check.problems import formulate, hard_inputs, random_grams
from mklviz.check.solvers import taken
from mklviz.contract import Solver
from mklviz.engine import solve
from mklviz.kernels import KernelBank
from mklviz.problem import Problem

__all__ = ["HARD_PROMISES", "ends_without_nan", "turns_with_the_kernels"]


def ends_without_nan(solver: Solver, problem: Problem) -> None:
    """Require a certified end, or the limit of steps, with numbers all the way."""
    trace = solve(problem, solver, gap=1e-3, max_iter=300)
    require(trace.status in ("converged", "precision", "limit"), f"it ended as {trace.status}: {trace.reason}")
    for name in ("weights", "dual", "objective", "lower_bound"):
        require(np.isfinite(getattr(trace, name)).all(), f"{name} is nan or infinite in one of the steps.")
    # rounding, where C is huge and the optimum is not
    require(trace.gap.min() >= -1e-9, f"the gap is negative, {trace.gap.min():g}.")
    risen = trace.objective.min() > trace.objective[0] * (1 + 1e-12)
    require(not risen, "no iterate is as good as the start.")


def turns_with_the_kernels(kind: type[Solver], grams: np.ndarray, posed: Problem) -> None:
    """Require that kernels in another order get the same weights in that order.

    `grams` (3, n, n): the kernel matrices of `posed`.
    """
    order = np.array([2, 0, 1])
    permuted = Problem(KernelBank.from_grams(grams[order]), posed.y, posed.loss, posed.regularizer)
    straight, turned = (solve(each, kind(), gap=1e-6, max_iter=1000) for each in (posed, permuted))
    gap = max(straight.gap[-1], turned.gap[-1], 1e-6)
    one, other = straight.best, turned.best
    apart = abs(one.objective - other.objective)
    close = apart <= 10 * gap * abs(one.objective)
    require(close, f"the objectives differ, {one.objective!r} and {other.objective!r}.")
    # a gap leaves weights uncertain by its square root at worst
    differ = float(np.abs(other.weights - one.weights[order]).max())
    require(differ <= 2 * np.sqrt(gap), f"the weights differ by {differ:.2g}, where the gap is {gap:.2g}.")


def hard_problems_end(kind: type[Solver]) -> None:
    """Hard problems end, without nan: huge and tiny C, one kernel, equal points, contradictions."""
    for formulation in taken(kind):
        for name, bank, labels, C in hard_inputs():
            try:
                ends_without_nan(kind(), formulate(formulation, bank, labels, C))
            except Exception as error:
                text = f"On the problem “{formulation}, {name}”: {error}"
                require(False, text)


def order_does_not_matter(kind: type[Solver]) -> None:
    """Kernels in another order get the same weights, in that order."""
    grams = np.array(random_grams(3, 30, seed=3))
    labels = np.where(np.random.default_rng(3).random(30) < 0.5, 1.0, -1.0)
    bank = KernelBank.from_grams(grams)
    turns_with_the_kernels(kind, grams, formulate(taken(kind)[0], bank, labels, 30.0))


HARD_PROMISES = (hard_problems_end, order_does_not_matter, proves_what_it_says)
