"""Labels of several classes, numbered 0, 1, ..., c-1: y_i picks the column of sample i among c decisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklviz.errors import ProblemError
from mklviz.problem.losses._loss import Array

__all__ = ["check_labels", "class_count", "labels_of", "one_hot"]

_MOST_CLASSES = 10_000  # beyond it the labels are something else, such as postcodes


def check_labels(y: Array, loss: str) -> None:
    """Raise `ProblemError` unless `y` holds class numbers, at least two different ones."""
    wrong = np.flatnonzero(~np.isfinite(y) | (y < 0.0) | (y != np.rint(y)) | (y >= _MOST_CLASSES))
    if len(wrong):
        raise ProblemError(
            f"The {loss} loss needs classes numbered 0, 1, 2, …, but the label of sample {wrong[0]} is {y[wrong[0]]:g}."
        )
    if len(np.unique(y)) < 2:
        raise ProblemError(f"All labels are {y[0]:g}: the {loss} loss needs samples of at least two classes.")


def class_count(y: Array) -> int:
    """Return c; a class below the highest may have no sample."""
    return int(y.max()) + 1


def labels_of(y: Array) -> NDArray[np.intp]:
    """Return the labels as column numbers, (n,)."""
    return y.astype(np.intp)


def one_hot(y: Array) -> Array:
    """Return the (n, c) array with ones at the samples' own classes."""
    hot = np.zeros((len(y), class_count(y)))
    hot[np.arange(len(y)), labels_of(y)] = 1.0
    return hot
