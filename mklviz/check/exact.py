"""What a solver proves where quadratic forms cancel, recomputed exactly: fractions on the kernels as they are stored.

Kernels of rank one and of sizes from 1e-6 to 1e8, C up to 1e5 and a price per unit of weight: dual variables are large
and nearly orthogonal to a kernel's range, and a plain sum of s_k = beta'K_k beta has no digit right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from mklviz.check._require import require
from mklviz.contract import Solver
from mklviz.engine import solve
from mklviz.kernels import KernelBank
from mklviz.problem import BlockL1, EpsilonInsensitive, Hinge, L1Penalty, Loss, Problem, Squared
from mklviz.problem.proving import relative_gap
from mklviz.typing import Array

__all__ = ["exact_bound", "exact_form", "proves_what_it_says", "rank_one"]

GOAL = 1e-3
SAMPLES = 12
STEPS = 60
LOSSES: tuple[Loss, ...] = (Hinge(), EpsilonInsensitive(epsilon=0.1), Squared())


def exact_form(gram: Array, v: Array) -> Fraction:
    """Return v'K v, of the lower triangle of K."""
    exact = [Fraction(float(entry)) for entry in v]
    rows = (
        sum((Fraction(float(gram[i, j])) * exact[j] for j in range(i)), Fraction(0)) * 2
        + Fraction(float(gram[i, i])) * exact[i]
        for i in range(len(v))
    )
    return sum((row * x for row, x in zip(rows, exact, strict=True)), Fraction(0))


def exact_bound(problem: Problem, grams: Sequence[Array], dual: Array) -> float:
    """Return the lower bound that dual variables prove with a linear price, s(a) being exact.

    Where a form is negative, the stored kernel is none along the dual variables, and its size counts.
    """
    signed = problem.loss.signed(dual, problem.y)
    largest = max(abs(exact_form(gram, signed)) for gram in grams)
    price = 2.0 * float(problem.regularizer.gradient(np.zeros(problem.m))[0])
    share = min(1.0, float(np.sqrt(price / float(largest)))) if largest else 1.0
    return problem.loss.dual_value(share * dual, problem.y)


def rank_one() -> Iterator[tuple[str, Problem, list[Array]]]:
    """Yield what they are, problems on two kernels of rank one, and the kernels."""
    rng = np.random.default_rng(0)
    for number, (scale, C) in enumerate([(1e-6, 1e5), (1.0, 1e3), (1e5, 1e4), (1e6, 1e3), (1e8, 1e5)]):
        for price in (0.01, 1.0):
            x, z = rng.normal(size=(2, SAMPLES))
            grams = [scale * np.outer(x, x), np.outer(z, z)]
            y = np.where(x + rng.normal(size=SAMPLES) > 0.0, 1.0, -1.0)
            y[:2] = 1.0, -1.0
            loss = replace(LOSSES[number % len(LOSSES)], C=C)
            y = 0.3 * y + x if loss.regression else y
            for regularizer in (L1Penalty(price), BlockL1(price)):
                posed = Problem(KernelBank.from_grams(grams), y, loss, regularizer)
                yield f"{loss.label}, kernel x {scale:g}, C = {C:g}, {regularizer.label} {price:g}", posed, grams


def proves_what_it_says(kind: type[Solver]) -> None:
    """Its bounds hold in exact arithmetic, where kernels are large and prices small, or it does not claim them."""
    for name, problem, grams in rank_one():
        if kind().refusal(problem):
            continue
        trace = solve(problem, kind(), gap=GOAL, max_iter=STEPS)
        proved, best = exact_bound(problem, grams, trace.best_dual), trace.best.objective
        bound, scale = trace.best_bound.lower_bound, abs(best)
        slack = 1e-2 * GOAL * scale  # rounding may take a thousandth
        require(bound <= proved + slack, f"{name}: its bound is {bound!r}, but its dual variables prove {proved!r}.")
        short = trace.status != "converged" or best - proved <= GOAL * scale + slack
        require(short, f"{name}: it says converged, but the gap is {relative_gap(best, proved):.2g}.")
