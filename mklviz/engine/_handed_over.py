"""Check the arrays of every iterate, their shapes and numbers, before it is recorded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mklviz.contract import Iterate
from mklviz.errors import SolverError
from mklviz.numbers import is_whole
from mklviz.problem import Problem
from mklviz.typing import Array

__all__ = ["checked_iterate"]

LARGEST = 1e150  # beyond, products of two numbers overflow
_BEYOND = f"numbers that are not finite or beyond {LARGEST:g}, with which nothing can be computed"


def checked_iterate(iterate: Any, problem: Problem, solver: str) -> Iterate:
    """Return `iterate`, which a solver yielded for a step.

    Raises `SolverError` if it is no iterate of that problem, with a sentence that says what it is instead.
    """
    if not isinstance(iterate, Iterate):
        raise SolverError(f"{solver} yielded {type(iterate).__name__} for a step, where an Iterate was expected.")
    duals = problem.loss.dual_shape(problem.y)
    proving = iterate.dual if iterate.certificate is None else iterate.certificate
    fault = (
        _fault_of_array("kernel weights", iterate.weights, (problem.m,))
        or _fault_of_array("dual variables", iterate.dual, duals)
        or _fault_of_array("certificate's dual variables", proving, duals)
        or _fault_of_numbers(iterate)
    )
    if fault:
        raise SolverError(f"{solver} yielded an iterate that cannot be used: {fault}")
    return iterate


def _fault_of_array(name: str, values: Array, shape: tuple[int, ...]) -> str:
    if not isinstance(values, np.ndarray):
        return f"its {name} are of type {type(values).__name__}, where a numpy array was expected."
    if values.shape != shape:
        return f"its {name} have the shape {values.shape}, where {shape} was expected."
    if not (np.abs(values) <= LARGEST).all():  # false for nan
        return f"its {name} hold {_BEYOND}."
    return ""


def _fault_of_numbers(iterate: Iterate) -> str:
    for name in ("objective", "lower_bound", "step"):
        if not isinstance(getattr(iterate, name), (int, float, np.number)):
            return f"its {name} is {getattr(iterate, name)!r:.40}, where one number was expected."
    if math.isnan(iterate.objective):
        return "its objective is not a number."
    bounds = {"objective": iterate.objective, "lower_bound": iterate.lower_bound, "dual_bound": iterate.dual_bound}
    numbers = bounds | {"step": iterate.step} | iterate.facts.known()
    for name, value in numbers.items():
        if isinstance(value, (int, float)) and abs(value) > LARGEST:
            return f"its {name} is {value:g}, one of the {_BEYOND}."
    if not is_whole(iterate.svm_solves):
        return f"its svm_solves is {iterate.svm_solves!r:.40}, where a whole number was expected."
    return ""
