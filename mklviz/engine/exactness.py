"""What rounding leaves of a verdict: a gap smaller than the bounds' own errors proves no more than those errors.

|gap| <= rounding       as exact as numbers allow: "precision", unless gap and rounding together reach the goal
 gap  < -rounding       the bounds contradict each other: an error, never "converged"
"""

from __future__ import annotations

import numpy as np

from mklviz.problem import Problem
from mklviz.problem.rounding import rounding_bound
from mklviz.record.trace import Trace
from mklviz.record.verdict import Verdict

__all__ = ["reviewed"]

SUSPICIOUS = 1e-8  # relative gap below which every step asks how large rounding may be


def reviewed(problem: Problem, trace: Trace, verdict: Verdict | None, goal: float) -> Verdict | None:
    """Return the verdict on a run in the light of rounding; None to go on.

    Parameters
    ----------
    problem : Problem
    trace : Trace
        With at least one iterate.
    verdict : Verdict or None
        What the stop rules or the solver's end say.
    goal : float
        Relative gap to stop at; 0 where none was asked for.
    """
    gap = trace.gap_at(len(trace) - 1)
    if np.isnan(gap) or (verdict is None and gap > SUSPICIOUS):
        return verdict
    scale = max(abs(trace.best.objective), problem.least_scale, np.finfo(float).tiny)
    apart = trace.best.objective - trace.best_bound.lower_bound
    rounding = _rounding(problem, trace)
    if apart < -rounding:
        return Verdict(
            "failed",
            f"The best lower bound lies {-apart / scale:.2g} of the objective above it, where rounding may cause"
            f" {rounding / scale:.2g}, with {_sizes(problem, trace)}: are all kernels positive semidefinite?",
        )
    if apart <= rounding and apart + rounding > goal * scale:
        return Verdict(
            "precision",
            f"As exact as double precision allows: the duality gap, {gap:.2g}, is below what rounding may cause,"
            f" {rounding / scale:.2g}, with {_sizes(problem, trace)}.",
        )
    return verdict


def _rounding(problem: Problem, trace: Trace) -> float:
    """Return how far rounding may move the two best bounds, together, and prices of the size of the objective."""
    best, proving = trace.best, trace.best_dual
    prices = float(np.finfo(float).eps) * (problem.n + problem.m) * abs(best.objective)
    upper = rounding_bound(problem, best.weights, best.dual) + prices
    return upper if proving is best.dual else upper + rounding_bound(problem, best.weights, proving)


def _sizes(problem: Problem, trace: Trace) -> str:
    """Say how large kernels and dual variables are: the mean of v'Kv / n over signs v is a kernel's mean diagonal."""
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=problem.n)
    sizes = problem.bank.quad(signs) / problem.n
    sizes = sizes[sizes > 0.0]
    kernels = f"kernel values from {sizes.min():.0e} to {sizes.max():.0e}" if len(sizes) else "kernels that are zero"
    return f"{kernels} beside dual variables up to {np.abs(trace.best.dual).max():.0e}"
