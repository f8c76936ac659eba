"""How right a solution is on samples it has not learned from: confusion, ROC, and values predicted against true.

ROC    the share of class +1 found against the share of class -1 mistaken for it, over all thresholds of f
AUC    the area below it: the chance that f puts a sample of class +1 above one of class -1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mklviz.analysis.grams import sampled
from mklviz.contract import Iterate
from mklviz.recipe.prepared import Prepared
from mklviz.typing import Array

__all__ = ["HeldOutVerdict", "Roc", "confusion", "judge", "roc"]

MOST_ASKED = 20_000  # held-out samples that are evaluated
MOST_POINTS = 1_000  # of a cloud or a curve that is drawn


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
    # `true`, `predicted` (p,): for regression, some of the values
    true: Array | None = None
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
