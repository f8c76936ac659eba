"""Cuts, points and levels of a real run, told from its trace: ``c_t = D_loss(a_t) - s(a_t)/2`` at the dual a_t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import Gaussian, KernelBank, paper_bank
from mklviz.problem import Hinge, Problem
from mklviz.typing import Array

__all__ = ["CutHistory", "half", "many_kernels", "record"]


@dataclass(frozen=True)
class CutHistory:
    """The cuts of a cutting plane method, step by step."""

    cuts: Array  # (T, m): row t is the cut found at ``points[t]``
    points: Array  # (T, m): kernel weights
    levels: Array  # (T,): the level to which ``points[t - 1]`` was projected; nan for a method without levels


def half(name: str, C: float = 100.0) -> Problem:
    """Return half of a data set with the papers' bank and the hinge loss."""
    train, _ = load_dataset(name).split(train=0.5, seed=0)
    return Problem(paper_bank(train.X), train.y, Hinge(C=C))


def many_kernels(m: int, n: int = 60) -> Problem:
    """Return a few samples of Sonar with `m` Gaussian kernels, ten widths on each of many drawn feature subsets."""
    data = load_dataset("sonar")
    train, _ = data.split(train=n / data.n_samples, seed=0)
    return Problem(KernelBank.build(train.X, [Gaussian(on=f"random:{m // 10}")]), train.y, Hinge(C=100.0))


def record(problem: Problem, solver: str, steps: int, gap: float | None = None) -> CutHistory:
    """Run `solver` for so many steps, or to a gap, and return its cuts."""
    trace = solve(problem, solver, gap=gap, max_iter=steps)
    cuts = [
        problem.loss.dual_value(one.dual, problem.y) - 0.5 * problem.bank.quad(problem.loss.signed(one.dual, problem.y))
        for one in trace
    ]
    return CutHistory(np.array(cuts), np.array([one.weights for one in trace]), trace.fact("level"))
