"""Losses."""

import sys

from mklviz.plugins import named
from mklviz.problem.losses._loss import Loss, labels_of
from mklviz.problem.losses.binary import Hinge, Logistic, OneClass
from mklviz.problem.losses.multiclass import MulticlassHinge, OneAgainstAllHinge
from mklviz.problem.losses.regression import EpsilonInsensitive, Squared

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "OneAgainstAllHinge",
    "OneClass",
    "Squared",
    "labels_of",
    "loss_families",
]


def loss_families() -> dict[str, type[Loss]]:
    """Return every loss in this folder and in installed packages, by name."""
    return named(sys.modules[__name__], Loss)  # type: ignore[type-abstract]
