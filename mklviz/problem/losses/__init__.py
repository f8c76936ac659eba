"""Losses, one file each."""

import sys

from mklviz.plugins import named
from mklviz.problem.losses._loss import Loss, labels_of
from mklviz.problem.losses.epsilon_insensitive import EpsilonInsensitive
from mklviz.problem.losses.hinge import Hinge
from mklviz.problem.losses.logistic import Logistic
from mklviz.problem.losses.multiclass_hinge import MulticlassHinge
from mklviz.problem.losses.one_against_all import OneAgainstAllHinge
from mklviz.problem.losses.one_class import OneClass
from mklviz.problem.losses.squared import Squared

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
