"""Learn from points that a person draws: solve the problem on all of them, and evaluate its decision in a window."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from contourpy import contour_generator

from mklviz.context import interruptible
from mklviz.datasets import Dataset, read_dataset_bytes
from mklviz.engine import make_solver, recommend, solve
from mklviz.problem import Problem
from mklviz.problem.weights import balanced_classes
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import build_bank
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.model.points import FILE, Field
from mklviz.views.model.surface import values_over

__all__ = ["MOST_LEARNED", "learned"]

MOST_LEARNED = 300  # points up to which the decision is learned after each change
GAP = 1e-2
MOST_STEPS, MOST_SECONDS = 300, 20.0
ACROSS = 80  # meshes


def learned(
    content: bytes,
    recipe: Recipe,
    classes: Sequence[str],
    corners: tuple[Array, Array],
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
        trace = solve(
            problem, gap=GAP, max_iter=MOST_STEPS, max_seconds=MOST_SECONDS, progress=partial(_solved, report_share)
        )
        return _field(problem, trace, data, classes, corners)


def _solved(report: Callable[[float], None], trace: Trace) -> None:
    """Report the progress of a solve by the digits of its gap."""
    gap = min(max(float(trace.gap[-1]), GAP), 1.0)
    report(0.3 + 0.6 * math.log(gap) / math.log(GAP) if math.isfinite(gap) else 0.3)


def _field(
    problem: Problem, trace: Trace, data: Dataset, classes: Sequence[str], corners: tuple[Array, Array]
) -> Field:
    best, (low, high) = trace.best, corners
    x, y = (low[k] + (np.arange(ACROSS) + 0.5) / ACROSS * (high[k] - low[k]) for k in range(2))
    values = values_over(problem, best.weights, best.dual, x, y)
    if data.task == "multiclass":
        index = np.array([classes.index(name) for name in data.classes], dtype=np.float64)
        values, boundary, margins = index[values.astype(int)], [], []
    else:
        values = values if data.classes[0] == classes[0] else -values  # a file's classes are in order of the alphabet
        lines = contour_generator(x, y, values)
        boundary, margins = _lines(lines, 0.0), [*_lines(lines, -1.0), *_lines(lines, 1.0)]
    label = make_solver(recommend(problem)).label
    used = f"{best.active:,} of {problem.m:,} {problem.noun}s in use"
    support = int(np.count_nonzero(best.dual if best.dual.ndim == 1 else best.dual.any(axis=1)))
    steps = len(trace) - 1
    said = f"Learned from all {problem.n:,} points by {label} in {steps:,} step{'s' * (steps != 1)}: {used}, "
    return Field(values, boundary, margins, f"{said}{support:,} support vectors.")


def _lines(lines: Any, level: float) -> list[tuple[list[float], list[float]]]:
    return [(path[:, 0].tolist(), path[:, 1].tolist()) for path in lines.lines(level)]
