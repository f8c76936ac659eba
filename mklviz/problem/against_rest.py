"""A problem with c classes taken apart: one problem per class against the rest, each with kernel weights of its own.

    problem k    the kernels and the regularizer of all, the hinge loss, y_i = +1 where the label is k and -1 elsewhere

The one-against-all loss sums the same hinge losses, but over one function whose classes share their kernel weights.

Reference: Rifkin, Klautau, In defense of one-vs-all classification, JMLR 5 (2004).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mklviz.errors import ProblemError
from mklviz.problem.losses import Hinge
from mklviz.problem.problem import Problem

__all__ = ["one_against_all"]


def one_against_all(problem: Problem) -> list[Problem]:
    """Return one problem with two classes for every class of `problem`, in the order of the labels.

    Parameters
    ----------
    problem : Problem
        With a loss for several classes. The machines have its C, and a bias each where it has one.

    Raises
    ------
    ProblemError
        If the loss is not one for several classes.
    """
    loss = problem.loss
    if not loss.multiclass:
        raise ProblemError(
            f"One against all needs class numbers 0, 1, 2, … and a loss for them, not the {loss.label} loss."
        )
    machine = Hinge(loss.C, bias=loss.bias)
    return [replace(problem, y=np.where(problem.y == k, 1.0, -1.0), loss=machine) for k in np.unique(problem.y)]
