"""Labels of several classes, whole numbers in any numbering: the k-th smallest label is column k of the decisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklviz.errors import ProblemError
from mklviz.problem.losses._loss import Array

__all__ = ["check_labels", "class_count", "labels_of", "one_hot"]

_MOST_CLASSES = 10_000  # beyond it the labels are something else, such as the numbers of the samples


def check_labels(y: Array, loss: str) -> None:
    """Raise `ProblemError` unless `y` holds class numbers, at least two different ones."""
    wrong = np.flatnonzero(~np.isfinite(y) | (y != np.rint(y)))
    if len(wrong):
        raise ProblemError(
            f"The {loss} loss needs classes given by whole numbers such as 0, 1, 2, …, but the label of sample"
            f" {wrong[0]} is {y[wrong[0]]:g}."
        )
    different = len(np.unique(y))
    if different < 2:
        raise ProblemError(f"All labels are {y[0]:g}: the {loss} loss needs samples of at least two classes.")
    if different > _MOST_CLASSES:
        raise ProblemError(
            f"y holds {different:,} different labels, and the {loss} loss needs classes, {_MOST_CLASSES:,} at most."
        )


def class_count(y: Array) -> int:
    """Return c, the number of classes that have samples."""
    return int(labels_of(y).max()) + 1


def labels_of(y: Array) -> NDArray[np.intp]:
    """Return the labels as column numbers, (n,)."""
    if y.min() == 0.0 and y.max() < len(y):
        columns = y.astype(np.intp)
        if np.bincount(columns).all():  # numbered as they are, as most are: no need to sort
            return columns
    return np.searchsorted(np.unique(y), y)


def one_hot(y: Array) -> Array:
    """Return the (n, c) array with ones at the samples' own classes."""
    columns = labels_of(y)
    hot = np.zeros((len(y), int(columns.max()) + 1))
    hot[np.arange(len(y)), columns] = 1.0
    return hot
