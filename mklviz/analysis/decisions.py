"""What a solution decides: f over points in the plane, its support vectors, and how right it is on held-out samples.

ROC    the share of class +1 recognized against the share of class -1 mistaken for it, over all thresholds of f
AUC    the area below it: the chance that f puts a sample of class +1 above one of class -1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from contourpy import contour_generator

from mklviz.analysis.kernel_weights import sampled
from mklviz.contract import Iterate
from mklviz.errors import ProblemError
from mklviz.inner import SvmOracle
from mklviz.problem import Problem
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.typing import Array, Flags, Indices

ACROSS = 80  # meshes
MARGIN = 0.08  # beyond the points, on each side
MOST_POINTS = 1_000  # drawn, of a cloud or a curve
Lines = Sequence[tuple[list[float], list[float]]]  # each with its x and y
TOLERANCE = 1e-3  # tolerance of the SVM at weights without dual variables


@dataclass(frozen=True)
class Surface:
    """f over the plane."""

    x: Array  # (columns,): the middle of each field
    y: Array  # (rows,)
    values: Array  # (rows, columns): f; with several classes, the one that is chosen
    points: Array  # (p, 2)
    targets: Array  # (p,)
    support: Flags  # (p,): whether a point is a support vector
    total: int  # number of all samples; `points` are some of them


def plane_of(problem: Problem, X: Any = None) -> Array:
    """Return the samples of a problem in the plane, (n, 2)."""
    points = getattr(problem.bank, "points", None) if X is None else np.asarray(X, dtype=np.float64)
    if points is None or points.ndim != 2 or points.shape[1] != 2:
        had = "are not known" if points is None else f"have {points.shape[-1]} features"
        raise ProblemError(f"A decision surface is drawn over two features; those of these samples {had}.")
    if len(points) != problem.n:
        raise ProblemError(f"The problem has {problem.n:,} samples, but {len(points):,} points were given.")
    return np.asarray(points)


def solution_of(problem: Problem, solution: Any) -> tuple[Array, Array]:
    """Return weights (m,) and dual variables of a run's solution, of an iterate, or of weights given alone."""
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


def level_lines(x: Array, y: Array, values: Array, *levels: float) -> Lines:
    """Return the lines where values over a mesh have one of these levels."""
    lines: Any = contour_generator(x, y, values)
    return [(path[:, 0].tolist(), path[:, 1].tolist()) for level in levels for path in lines.lines(level)]


def values_over(problem: Problem, weights: Array, dual: Array, x: Array, y: Array) -> Array:
    """Return f, or the chosen class of several, where columns `x` and rows `y` meet, (rows, columns)."""
    mesh = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    scores = problem.predictor(weights, dual).decision_values(mesh)
    values = np.unique(problem.y)[scores.argmax(axis=1)] if scores.ndim == 2 else scores
    return np.asarray(values).reshape(len(y), len(x))


MOST_ASKED = 20_000  # held-out samples that are evaluated


@dataclass(frozen=True)
class Roc:
    """The curve over all thresholds, and the area below it."""

    mistaken: Array
    hits: Array
    area: float


@dataclass(frozen=True)
class HeldOutVerdict:
    """The results on held-out samples."""

    sentence: str  # the result in a sentence
    classes: tuple[str, ...] = ()  # empty for regression
    confused: Array | None = None  # (c, c): how many samples of each class (rows) were taken for each class (columns)
    roc: Roc | None = None  # for two classes, where both are among the samples
    true: Array | None = None  # (p,): for regression, some of the values
    predicted: Array | None = None


def judge(prepared: Prepared, iterate: Iterate) -> HeldOutVerdict:
    """Evaluate a solution on the held-out samples."""
    test, problem = prepared.test, prepared.problem
    predictor, y, new = problem.predictor(iterate.weights, iterate.dual), test.y, prepared.cross.new
    count = f"{len(y):,} held-out samples"
    if len(y) > MOST_ASKED:
        some = sampled(len(y), MOST_ASKED)
        y, new, count = y[some], new[..., some, :], f"{MOST_ASKED:,} of {count}"
    values = predictor.decision_values(new)
    if test.task == "regression":
        return _fitted(y, values, count)
    codes = (-1.0, 1.0) if test.task == "binary" else tuple(map(float, range(len(test.classes))))
    predicted = problem.loss.classes(values)
    if problem.loss.multiclass:  # columns, which are the classes that were learned
        predicted = np.unique(problem.y)[predicted.astype(np.intp)]
    table = confusion(y, predicted, codes)
    right = int(np.trace(table))
    sentence = f"{100 * right / max(len(y), 1):.1f} % of {count} are classified right."
    curve = roc(y, values) if test.task == "binary" and values.ndim == 1 and len(set(y)) == 2 else None
    return HeldOutVerdict(sentence, test.classes, table, curve)


def _fitted(y: Array, values: Array, count: str) -> HeldOutVerdict:
    """Say how far predicted numbers are from true ones."""
    error, spread = values - y, float(((y - y.mean()) ** 2).sum())
    share = 1.0 - float((error**2).sum()) / spread if spread > 0.0 else float("nan")
    root, some = float(np.sqrt((error**2).mean())), sampled(len(y), MOST_POINTS)
    sentence = f"R² is {share:.3f} and the root mean squared error {root:.3g}, on {count}."
    return HeldOutVerdict(sentence, true=y[some], predicted=values[some])


def confusion(true: Array, predicted: Array, codes: Sequence[float]) -> Array:
    """Return how many samples of each class (rows) were taken for each (columns)."""
    return np.array([[int(((true == t) & (predicted == p)).sum()) for p in codes] for t in codes])


def roc(y: Array, scores: Array) -> Roc:
    """Return the curve of `scores` for labels -1 and +1, thinned for drawing; its area is exact."""
    order = np.argsort(-scores, kind="stable")
    ranked, positive = scores[order], (y[order] > 0).astype(np.float64)
    ends = np.flatnonzero(np.append(np.diff(ranked) != 0.0, True))  # samples of one score are taken together
    hits = np.concatenate([[0.0], np.cumsum(positive)[ends]]) / positive.sum()
    mistaken = np.concatenate([[0.0], np.cumsum(1.0 - positive)[ends]]) / (1.0 - positive).sum()
    area = float(np.trapezoid(hits, mistaken))
    some = np.unique(np.append(sampled(len(hits), MOST_POINTS), [0, len(hits) - 1]))
    return Roc(mistaken[some], hits[some], area)
