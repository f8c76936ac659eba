"""Losses and regularizers as menus need them: what each means, its parameters, and whether a solver can follow it.

The words come from the docstrings and the bounds from the constructors, so that a new file in either folder is a new
entry.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from mklviz.engine import solver_classes
from mklviz.kernels import Bank, Gaussian, KernelBank, LearnedPolynomial, NystromBank, ParametricBank, ProductBank
from mklviz.kernels.interface import Access
from mklviz.problem import Loss, Problem, Regularizer, loss_families, regularizer_families
from mklviz.recipe.parsing import number, optional, show_number
from mklviz.views.sidebar.controls import ValueField

__all__ = ["bias_is_a_choice", "example", "explanation", "offered_regularizers", "parameter_fields"]

_ROW = re.compile(r" \(row \w of the table of formulations\)| \(row \w\)")


def explanation(family: type) -> str:
    """Return the sentence that says what a loss or regularizer is."""
    return _ROW.sub("", (inspect.getdoc(family) or "").partition("\n")[0])


def parameter_fields(family: type[Loss] | type[Regularizer]) -> dict[str, ValueField[Any]]:
    """Return a field for each parameter of a loss or regularizer but the bias; it shows the default."""
    fields = {}
    for parameter in dataclasses.fields(family) if dataclasses.is_dataclass(family) else ():
        if not parameter.kw_only:
            name = parameter.name
            empty = "chosen from the number of kernels" if parameter.default is None else ""
            field = ValueField(
                name, name, _parser(family, name, parameter.default), show_number, empty, _meaning(family, name)
            )
            field.set(parameter.default)
            fields[name] = field
    return fields


def bias_is_a_choice(family: type[Loss]) -> bool:
    """Return whether problems with this loss can be posed with and without a bias."""
    return any(parameter.name == "bias" and parameter.init for parameter in dataclasses.fields(family))


def _parser(family: Callable[..., object], name: str, default: object) -> Callable[[str, str], Any]:
    def parse(text: str, what: str) -> float:
        value = number(text, what)
        family(**{name: value})  # refuses, in a sentence, what is out of bounds
        return value

    return optional(parse) if default is None else parse


def _meaning(family: type, name: str) -> str:
    """Return what the docstring says of a parameter."""
    entry = re.search(rf"^{name} : .*\n((?:    .*\n?)+)", inspect.getdoc(family) or "", re.MULTILINE)
    return " ".join(entry.group(1).split()) if entry else ""


@lru_cache(maxsize=64)
def example(
    loss: Loss, regularizer: Regularizer, combination: str = "sum", access: Access = "matrix", weighted: bool = False
) -> Problem:
    """Return a problem of this kind on two points: whether a solver can solve it depends on the kind, not the size.

    The kernels are reached as `access` says: as a matrix, row by row, or through factors as approximate ones are;
    `weighted` is whether samples have weights. `ProblemError` is raised where the regularizer does not fit the
    combination of kernels.
    """
    bank = _bank(combination, access)
    y, weights = np.array([0.0 if loss.multiclass else -1.0, 1.0]), np.array([1.0, 2.0]) if weighted else None
    return Problem(bank, y, loss=loss, regularizer=regularizer, sample_weight=weights)


def _bank(combination: str, access: Access) -> Bank:
    """Return the smallest bank of a kind; one that is reached by rows is as if its kernel were too large to form."""
    if combination == "polynomial":
        return ParametricBank.build(np.eye(2), LearnedPolynomial())
    if access == "factors":
        return NystromBank.build(np.eye(2), [Gaussian(widths=(1.0, 2.0))], 2)
    bank: KernelBank | ProductBank = KernelBank.from_grams(np.array([np.eye(2), np.ones((2, 2))]))
    if combination == "product":
        bank = ProductBank.build(np.eye(2))
    bank.access = access
    return bank


@cache
def offered_regularizers() -> dict[str, type[Regularizer]]:
    """Return the regularizers that at least one solver can follow, those on the simplex first."""
    solvers = [solver() for solver in solver_classes().values()]
    families = sorted(regularizer_families().items(), key=lambda entry: not entry[1].on_simplex)
    return {
        name: family
        for name, family in families
        if any(not s.refusal(example(loss(), family())) for s in solvers for loss in loss_families().values())
    }
