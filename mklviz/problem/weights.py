"""Weights of samples: the loss of sample i counts w_i times, as if there were so many of it; w_i = 0 leaves it out."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.kernels.cross import numbers, refuse_masked
from mklviz.problem.losses import Loss
from mklviz.typing import Array


def checked_weights(given: Any, n: int) -> Array | None:
    """Return the weights of n samples, (n,), None where they all are 1; or raise `ProblemError`."""
    if given is None:
        return None
    refuse_masked(given, "sample_weight")
    try:
        weights = np.array(numbers(given, "sample_weight"))
    except ProblemError:
        raise ProblemError("sample_weight must be numbers, one for each sample; it holds something else.") from None
    if weights.shape != (n,):
        raise ProblemError(
            f"sample_weight must hold one number for each of the {n} samples, but an array of shape {weights.shape}"
            " was given."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        raise ProblemError(
            f"Weights of samples must be finite numbers not below zero, but that of sample {wrong[0]} is"
            f" {weights[wrong[0]]:g}."
        )
    if not weights.any():
        raise ProblemError("All samples have weight zero, so there is nothing to learn from: give some of them weight.")
    weights.setflags(write=False)
    return None if (weights == 1.0).all() else weights


def balanced_classes(y: Array) -> Array:
    """Return the weights of samples of classes `y`, (n,), that give all classes the same in sum, and n in all."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    weights: Array = (len(y) / (len(counts) * counts))[codes]
    return weights


def check_weighted(loss: Loss, y: Array, weights: Array) -> None:
    """Raise `ProblemError` unless a problem can be posed with these weights (n,) of samples with targets `y`."""
    if not loss.weighable:
        raise UnsupportedProblem(f"The {loss.label} loss knows no weights of samples: leave sample_weight out.")
    counted = y[weights > 0.0]
    missing = np.setdiff1d(y, counted)
    if loss.multiclass and len(missing):
        raise ProblemError(f"All samples of class {missing[0]:g} have weight zero: give some weight, or leave all out.")
    try:
        loss.check_targets(counted)
    except ProblemError as error:
        raise ProblemError(f"Only samples of weight above zero count. {error}") from None
