"""Learn from points that a person draws: solve the problem on all of them, and evaluate its decision in a window."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mklviz.context import interruptible
from mklviz.datasets import Dataset, read_dataset_bytes
from mklviz.engine import make_solver, recommend, solve
from mklviz.numbers import counted
from mklviz.problem import Problem
from mklviz.problem.problem import balanced_classes
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import build_bank
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.model.learned import by_kernel
from mklviz.views.model.points import FILE, Field
from mklviz.views.model.surface import level_lines, values_over

__all__ = ["COARSE", "FINE", "MOST_LEARNED", "Fineness", "learned"]

MOST_LEARNED = 300  # points up to which the decision is learned after each change
MOST_STEPS, MOST_SECONDS = 300, 20.0
HEAVIEST = 10  # kernels whose weights are written


@dataclass(frozen=True)
class Fineness:
    """How exactly is learned, and on how many meshes it is drawn."""

    gap: float
    across: int  # meshes
    verb: str  # how the sentence begins that says how it was learned


FINE = Fineness(1e-2, 80, "Learned")
COARSE = Fineness(2e-2, 32, "Coarse: learned")  # in some hundredths of a second; equal weights often reach 1e-1


def learned(
    content: bytes,
    recipe: Recipe,
    classes: Sequence[str],
    corners: tuple[Array, Array],
    fineness: Fineness,
    report: Callable[[float], None],
) -> Field:
    """Learn from all points of a file, with kernels, loss and regularizer of `recipe`, and ask about a window.

    `classes`: in the order of the colours; `corners` two (2,); `report`: takes the fraction done, and may raise to
    stop.
    """
    done = 0.0

    def report_share(fraction: float) -> None:
        nonlocal done
        done = max(done, fraction)
        report(done)

    with interruptible(lambda: report(done)):
        data = read_dataset_bytes(content, FILE)
        bank = build_bank(recipe.kernels, data, recipe.split.seed, lambda fraction: report_share(0.3 * fraction))
        weights = None if recipe.problem.class_weight is None else balanced_classes(data.y)
        problem = Problem(bank, data.y, recipe.problem.loss, recipe.problem.regularizer, weights)
        solved = partial(_solved, report_share, fineness.gap)
        trace = solve(problem, gap=fineness.gap, max_iter=MOST_STEPS, max_seconds=MOST_SECONDS, progress=solved)
        return _field(problem, trace, data, classes, corners, fineness)


def _solved(report: Callable[[float], None], goal: float, trace: Trace) -> None:
    """Report the progress of a solve by the digits of its gap."""
    gap = min(max(float(trace.gap[-1]), goal), 1.0)
    report(0.3 + 0.6 * math.log(gap) / math.log(goal) if math.isfinite(gap) else 0.3)


def _field(
    problem: Problem,
    trace: Trace,
    data: Dataset,
    classes: Sequence[str],
    corners: tuple[Array, Array],
    fineness: Fineness,
) -> Field:
    best, (low, high) = trace.best, corners
    middles = (np.arange(fineness.across) + 0.5) / fineness.across
    x, y = (low[k] + middles * (high[k] - low[k]) for k in range(2))
    values = values_over(problem, best.weights, best.dual, x, y)
    if data.task == "multiclass":
        index = np.array([classes.index(name) for name in data.classes], dtype=np.float64)
        values, boundary, margins = index[values.astype(int)], [], []
    else:
        values = values if data.classes[0] == classes[0] else -values  # a file's classes are in order of the alphabet
        boundary, margins = level_lines(x, y, values, 0.0), level_lines(x, y, values, -1.0, 1.0)
    label = make_solver(recommend(problem)).label
    used = f"{best.active:,} of {problem.m:,} {problem.noun}s in use"
    support = int(np.count_nonzero(best.dual if best.dual.ndim == 1 else best.dual.any(axis=1)))
    steps = len(trace) - 1
    how = f"from all {problem.n:,} points by {label} in {counted(steps, 'step')}"
    sentence = f"{fineness.verb} {how}: {used}, {support:,} support vectors, objective {best.objective:,.4g}."
    bars = by_kernel(best.weights, problem.bank.names, HEAVIEST)
    return Field(values, boundary, margins, dict(zip(bars.names, bars.values, strict=True)), sentence)
