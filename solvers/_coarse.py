"""A start from a quarter of the samples: solve there with C four times as large, and hand the dual variables back.

    a_i = a_i^few C / C_few  on the few samples,  0 elsewhere;      C_few = C n / n_few

Each of the few speaks for n / n_few of its like, so that the function, and with it the kernel weights, come out about
the same at a fraction of the cost, which grows with n^2 at least. Where samples have weights, their sums stand for n
and n_few. The dual variables handed back are feasible for all samples: certificates are those of the whole problem, and
only the way to its solution is another.

What is saved are the first steps, where most kernels have weight and K_d is dearest. With the papers' kernels on ten
features and 1,000 or 2,000 samples, Level to a gap of 1e-2 took a quarter to a half of the time; on tables of 135 to
384 samples it took 1.1 to 1.3 times as long.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mklviz.contract import Iterate, Solver
from mklviz.kernels.interface import Divisible
from mklviz.problem import Problem

__all__ = ["coarse_solution", "needs_parts"]

SHARE = 4  # samples of which one is taken
GAP = 1e-2  # of the few: their optimum is not that of all, so that more would be in vain
MOST = 200  # steps


def needs_parts(problem: Problem) -> str:
    """Return "" or why there is no coarse start: only exact kernels can be looked at on some of their samples."""
    if isinstance(problem.bank, Divisible):
        return ""
    return "A coarse start needs exact kernels, of which some samples can be taken: leave it out."


def coarse_solution(problem: Problem, solver: Solver) -> Iterate:
    """Return a start for `problem`, with the SVMs it took, from what `solver` finds on a quarter of the samples."""
    bank, loss = problem.bank, problem.loss
    assert isinstance(bank, Divisible)
    few = some_samples(problem, solver.seed)
    every = problem.sample_weight
    weights = None if every is None else every[few]
    scale = problem.n / len(few) if every is None else float(every.sum() / every[few].sum())
    larger = replace(loss, C=loss.C * scale)
    coarse = Problem(bank.only(few), problem.y[few], larger, problem.regularizer, weights)
    for count, iterate in enumerate(solver.iterates(coarse)):
        if iterate.gap <= GAP or count == MOST:
            break
    dual = np.zeros(loss.dual_shape(problem.y))
    dual[few] = iterate.dual / scale
    return replace(iterate, dual=dual, certificate=None)


def some_samples(problem: Problem, seed: int) -> NDArray[np.intp]:
    """Return a quarter of the samples, drawn so that their targets are spread as those of all, and every class.

    Samples without weight are not among them.
    """
    counted = np.arange(problem.n) if problem.sample_weight is None else np.flatnonzero(problem.sample_weight)
    y = problem.y[counted]
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    few = order[np.linspace(0, len(y) - 1, -(-len(y) // SHARE)).astype(np.intp)]
    firsts = np.empty(0, dtype=np.intp) if problem.loss.regression else np.unique(y, return_index=True)[1]
    return counted[np.union1d(few, firsts)]
