"""A solution over points in the plane: f on a mesh, and its support vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from contourpy import contour_generator

from mklviz.analysis.grams import sampled
from mklviz.contract import Iterate
from mklviz.errors import ProblemError
from mklviz.inner import SvmOracle
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.typing import Array, Flags, Indices

__all__ = ["MOST_POINTS", "Surface", "level_lines", "mesh_over", "plane_of", "solution_of", "surface", "values_over"]

ACROSS = 80  # meshes
MARGIN = 0.08  # beyond the points, on each side
MOST_POINTS = 1_000  # drawn
TOLERANCE = 1e-3  # tolerance of the SVM at weights without dual variables


@dataclass(frozen=True)
class Surface:
    """f over the plane."""

    # `x`, `y` (columns,) and (rows,): the middle of each field
    x: Array
    y: Array
    values: Array  # (rows, columns): f; with several classes, the one that is chosen
    points: Array  # (p, 2)
    targets: Array  # (p,)
    support: Flags  # (p,): whether a point is a support vector
    total: int  # number of all samples; `points` are some of them


def plane_of(problem: Problem, X: Any = None) -> Array:
    """Return the samples of a problem in the plane, (n, 2).

    Raises `ProblemError` if they are unknown or do not have two features.
    """
    points = getattr(problem.bank, "points", None) if X is None else np.asarray(X, dtype=np.float64)
    if points is None or points.ndim != 2 or points.shape[1] != 2:
        had = "are not known" if points is None else f"have {points.shape[-1]} features"
        raise ProblemError(f"A decision surface is drawn over two features; those of these samples {had}.")
    if len(points) != problem.n:
        raise ProblemError(f"The problem has {problem.n:,} samples, but {len(points):,} points were given.")
    return np.asarray(points)


def solution_of(problem: Problem, solution: Any) -> tuple[Array, Array]:
    """Return weights (m,) and dual variables of a run's solution, of an iterate, or of weights given alone.

    Raises `ProblemError` if it is none of these, or belongs to another problem.
    """
    solution = solution.best if isinstance(solution, Trace) else solution
    if isinstance(solution, Iterate):
        return solution.weights, solution.dual
    try:
        weights = np.asarray(solution, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (problem.m,) or not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ProblemError(
            f"Give a trace, an iterate or {problem.m:,} weights, finite and not negative; not {solution!r:.60}."
        )
    point = SvmOracle(problem, TOLERANCE).solve(weights)
    return weights, problem.loss.dual_from_signed(point.signed, problem.y)


def surface(problem: Problem, weights: Array, dual: Array, points: Array) -> Surface:
    """Evaluate f over the plane of `points` (n, 2)."""
    x, y = mesh_over(points, ACROSS)
    values = values_over(problem, weights, dual, x, y)
    some: Indices = sampled(len(points), MOST_POINTS)
    support = np.isin(some, problem.predictor(weights, dual).support)
    return Surface(x, y, values, points[some], problem.y[some], support, len(points))


def mesh_over(points: Array, across: int) -> tuple[Array, Array]:
    """Return the middles of so many meshes along each axis, over all of the plane's `points` (n, 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, high - low, 1.0)
    low, high = low - MARGIN * room, high + MARGIN * room
    x, y = (low[k] + (np.arange(across) + 0.5) / across * (high[k] - low[k]) for k in range(2))
    return x, y


def level_lines(x: Array, y: Array, values: Array, *levels: float) -> list[tuple[list[float], list[float]]]:
    """Return the lines where values over a mesh have one of these levels, each with its x and y."""
    lines: Any = contour_generator(x, y, values)
    return [(path[:, 0].tolist(), path[:, 1].tolist()) for level in levels for path in lines.lines(level)]


def values_over(problem: Problem, weights: Array, dual: Array, x: Array, y: Array) -> Array:
    """Return f, or the chosen class of several, where columns `x` and rows `y` meet, (rows, columns)."""
    mesh = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    scores = problem.predictor(weights, dual).decision_values(mesh)
    values = np.unique(problem.y)[scores.argmax(axis=1)] if scores.ndim == 2 else scores
    return np.asarray(values).reshape(len(y), len(x))
