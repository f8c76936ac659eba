"""The parameters that a path can vary, and the values worth trying: from where all functions are zero.

    lambda_max = min over B0 of  max_k ||beta||_{K_k},     B0 = argmax of D_loss: the duals of the model without kernels

The zero function is optimal exactly where some such beta satisfies the dual constraint of the price: ||beta||_{K_k} <=
lam for the block 1-norm, l1 for the elastic net and alpha for UFO's norm, and s_k / 2 <= sigma for the linear penalty.
Smooth losses have one beta; others may have many (`mklviz.engine._null_model`).

References: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011); Koh, Kim, Boyd, l1-regularized logistic regression,
JMLR 8 (2007), section 2.1, for lambda_max of features; the rest is derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Protocol

import numpy as np

from mklviz.contract import Array
from mklviz.engine._null_model import least_quad
from mklviz.engine.run import check_problem
from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.kernels.cross import numbers
from mklviz.numbers import is_number, is_whole
from mklviz.problem import Loss, Problem, Regularizer, regularizer_families

__all__ = ["changed", "check_range", "lambda_max", "parameters", "path_values", "with_parameter"]

C_RANGE = (1000.0, 0.01)  # SimpleMKL's, from weak to strong as in its paper
RATIO = 1e-3  # smallest price of a path, relative to the largest


class Formulation(Protocol):
    """What has a loss and a regularizer: a problem, or a recipe of one."""

    @property
    def loss(self) -> Loss: ...
    @property
    def regularizer(self) -> Regularizer: ...


def parameters(problem: Formulation) -> dict[str, float]:
    """Return the numbers that a path of `problem` may vary: those of its loss, then those of its regularizer."""
    values: dict[str, float] = {}
    for part in (problem.loss, problem.regularizer):
        for entry in fields(part) if is_dataclass(part) else ():
            value = getattr(part, entry.name)
            if not isinstance(value, bool):
                values[entry.name] = np.nan if value is None else float(value)
    return values


def with_parameter(problem: Problem, name: str, value: float) -> Problem:
    """Return `problem` with another value of one of its `parameters`.

    Raises `ProblemError` if it has no such parameter, or not of that value.
    """
    check_problem(problem)
    return replace(problem, **changed(problem, name, value))


def changed(problem: Formulation, name: str, value: float) -> dict[str, Any]:
    """Return the part, "loss" or "regularizer", with another value of a parameter, or raise `ProblemError`."""
    _check_known(problem, name)
    if not is_number(value):
        raise ProblemError(f"{name} must be a number, but {value!r} was given.")
    part = "loss" if hasattr(problem.loss, name) else "regularizer"
    return {part: replace(getattr(problem, part), **{name: float(value)})}


def _check_known(problem: Formulation, name: str) -> None:
    known = parameters(problem)
    if name not in known:
        raise ProblemError(
            f"This problem, with the {problem.loss.label} loss and the {problem.regularizer.label}, has no parameter"
            f" {name!r}: a path can vary {', '.join(known)}."
        )


def check_range(problem: Formulation, name: str) -> None:
    """Raise `ProblemError` unless a parameter is there, and has a natural range of values."""
    _check_known(problem, name)
    if name not in ("C", problem.regularizer.price_name):
        raise ProblemError(f"There is no natural range of {name}: give the values of the path yourself.")


def lambda_max(problem: Problem) -> float:
    """Return the smallest price at which every function, and so every kernel weight, is zero.

    Parameters
    ----------
    problem : Problem
        With the block 1-norm (the price is lam), the linear penalty (sigma), the elastic net (l1) or the squared group
        norm plus block 1-norm (alpha); its own price does not matter.

    Returns
    -------
    float
        In units of that price. Exact for the squared and the logistic loss and for the hinge loss without bias or with
        classes of equal size; to a relative 1e-5 otherwise, and then never too small.

    Raises
    ------
    UnsupportedProblem
        If no finite price makes all functions zero, as with constraints and powers, or with products of kernels.
    """
    check_problem(problem)
    if not problem.regularizer.price_name or not problem.convex:
        others = {"product": "product of kernels", "parametric": "kernel with parameters"}
        what = others.get(problem.bank.kind, problem.regularizer.label)
        raise UnsupportedProblem(
            f"With the {what} no price makes all kernel weights zero: that takes a sum of kernels and one of these:"
            f" {', '.join(family.label for family in regularizer_families().values() if family.price_name)}."
        )
    largest = least_quad(problem)
    return 0.5 * largest if problem.regularizer.price_of_weight else float(np.sqrt(largest))


def path_values(problem: Problem, parameter: str, count: int = 100, ratio: float | None = None) -> Array:
    """Return values for a path, evenly spaced on a log scale, in the order that suits warm starts.

    Parameters
    ----------
    problem : Problem
    parameter : str
        The price that `lambda_max` knows: values fall from there. C: with such a price they rise from the C at which
        the first kernel gets weight; else they fall from 1000 to 0.01, SimpleMKL's path.
    count : int
    ratio : float, optional
        Smallest value over the largest; 1e-3 (1e-5 for SimpleMKL's path) by default.

    Raises
    ------
    ProblemError
        If the parameter has no natural range, or does not exist.
    """
    check_problem(problem)
    check_range(problem, parameter)
    if not (is_whole(count) and count >= 1) or not (ratio is None or (is_number(ratio) and 0.0 < ratio < 1.0)):
        raise ProblemError(f"A path needs a count of at least 1 and a ratio between 0 and 1, not {count} and {ratio}.")
    share = RATIO if ratio is None else ratio
    price = problem.regularizer.price_name
    if parameter == price:
        top = lambda_max(problem)
        return np.geomspace(top, share * top, count)
    if not price or parameters(problem)[price] == 0.0 or not problem.convex:
        return np.geomspace(C_RANGE[0], C_RANGE[1] if ratio is None else share * C_RANGE[0], count)
    # beta, and with it the root of s, is in proportion to C
    relative = parameters(problem)[price] / lambda_max(problem)
    first = problem.loss.C * (np.sqrt(relative) if problem.regularizer.price_of_weight else relative)
    return np.geomspace(first, first / share, count)


def check_values(values: Sequence[float] | Array, name: str) -> Array:
    """Return the values of a path as an array, or raise `ProblemError`."""
    try:
        checked = numbers(values, name).reshape(-1)
    except ProblemError:
        raise ProblemError(f"The values of {name} must be numbers, such as {name}=[10, 1, 0.1].") from None
    if not len(checked):
        raise ProblemError(f"A path needs at least one value of {name}.")
    return checked
