"""PROBLEM and STOP WHEN: the loss, the regularizer of the kernel weights, and the rules that end a run.

The words of losses and regularizers come from their docstrings and the bounds from their constructors, so that a new
file in either folder is a new entry of the menus.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

import numpy as np

from mklviz.contract import Solver
from mklviz.datasets import Task
from mklviz.engine import solver_classes
from mklviz.errors import ProblemError
from mklviz.kernels import Bank, Gaussian, KernelBank, LearnedPolynomial, NystromBank, ParametricBank, ProductBank
from mklviz.kernels.interface import Access
from mklviz.problem import (
    Hinge,
    Loss,
    MulticlassHinge,
    Problem,
    Regularizer,
    Simplex,
    Squared,
    loss_families,
    regularizer_families,
)
from mklviz.recipe import ProblemChoice, Recipe, StopChoice
from mklviz.recipe.parsing import number, optional, percent, positive, show_number, show_percent, whole
from mklviz.recipe.prepared import misfit
from mklviz.views.form import Alert, Checkbox, Group, Heading, Select
from mklviz.views.sidebar.controls import Section, ValueField, note, say

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
    """Return a problem of this kind, its kernels reached by `access`, on two points: solvers ask for no size."""
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
        if any(follows(s, loss(), family()) for s in solvers for loss in loss_families().values())
    }


def follows(solver: Solver, loss: Loss, regularizer: Regularizer) -> bool:
    """Return whether a problem with this loss and regularizer can be posed, and the solver can follow it."""
    with suppress(ProblemError):
        return not solver.refusal(example(loss, regularizer))
    return False


# what is proposed where the loss chosen does not fit
FITTING: dict[Task, type[Loss]] = {"binary": Hinge, "multiclass": MulticlassHinge, "regression": Squared}


class ProblemPanel(Section):
    """Chooses loss and regularizer with their parameters, which stay while another is chosen."""

    title = "Problem"

    def __init__(self) -> None:
        super().__init__()
        losses, regularizers = loss_families(), offered_regularizers()
        by_task = sorted(losses.items(), key=lambda entry: entry[1].regression)
        labels = {family.label: name for name, family in by_task}
        self.loss = Select(label="loss", options=labels, value=Hinge.name_)
        self.about_loss, self.misfit = note(), Alert(severity="warning", visible=False)
        labels = {family.label: name for name, family in regularizers.items()}
        self.weights = Select(label="regularizer", options=labels, value=Simplex.name_)
        self.about_weights = note()
        self.C = parameter_fields(Hinge)["C"]
        self.loss_parameters = {name: parameter_fields(family) for name, family in losses.items()}
        for fields in self.loss_parameters.values():
            del fields["C"]  # which all losses share
        self.bias = Checkbox(label="with intercept (bias)", value=True)
        self.balanced = Checkbox(
            label="classes of equal weight",
            description="Multiply C by a weight of each class, so that all classes have the same in sum",
        )
        self.parameters = {name: parameter_fields(family) for name, family in regularizers.items()}
        for menu in (self.loss, self.weights):
            menu.param.watch(self._chosen, "value")
        of_loss, of_weights = self._every(self.loss_parameters), self._every(self.parameters)
        self.count(self.C, *of_loss, *of_weights, self.bias, self.balanced)
        loss = (self.loss, self.about_loss, self.misfit, self.C, *of_loss, self.bias, self.balanced)
        self.body = Group(Heading(object=self.title), *loss, self.weights, self.about_weights, *of_weights)
        self._chosen()

    @staticmethod
    def _every(parameters: Mapping[str, Mapping[str, ValueField[Any]]]) -> list[ValueField[Any]]:
        return [field for fields in parameters.values() for field in fields.values()]

    def _chosen(self, *_: Any) -> None:
        for menu, parameters in ((self.loss, self.loss_parameters), (self.weights, self.parameters)):
            for name, fields in parameters.items():
                for field in fields.values():
                    field.visible = name == menu.value
        family = loss_families()[self.loss.value]
        self.bias.visible = bias_is_a_choice(family)
        self.balanced.visible = family.weighable and not (family.regression or family.one_class)
        say(self.about_loss, explanation(family))
        say(self.about_weights, explanation(regularizer_families()[self.weights.value]))
        self.touched()

    def load(self, recipe: Recipe) -> None:
        loss, regularizer = recipe.problem.loss, recipe.problem.regularizer
        self.loss.value, self.weights.value = loss.name_, regularizer.name_
        self.C.set(loss.C)
        self.bias.value = loss.bias or not bias_is_a_choice(type(loss))
        self.balanced.value = recipe.problem.class_weight is not None
        for name, field in self.loss_parameters[loss.name_].items():
            field.set(getattr(loss, name))
        for name, field in self.parameters[regularizer.name_].items():
            field.set(getattr(regularizer, name))

    def suit(self, title: str, task: Task) -> str:
        """Return, and show, why the loss chosen cannot be used with data of this task, or ""."""
        reason = misfit(title, task, loss_families()[self.loss.value]())
        say(self.misfit, reason)
        return reason

    def use_fitting(self, task: Task) -> None:
        """Choose the loss that is proposed for data of this task."""
        self.loss.value = FITTING[task].name_

    @property
    def chosen_loss(self) -> Loss:
        family = loss_families()[self.loss.value]
        parameters = _values(self.loss_parameters[self.loss.value])
        if bias_is_a_choice(family):
            parameters["bias"] = self.bias.value
        return family(self.C.parsed, **parameters)

    @property
    def class_weight(self) -> str | None:
        """The weights of classes chosen, None where the loss knows none."""
        return "balanced" if self.balanced.visible and self.balanced.value else None

    @property
    def regularizer(self) -> Regularizer:
        return regularizer_families()[self.weights.value](**_values(self.parameters[self.weights.value]))

    @property
    def conjugated(self) -> bool:
        """Whether a sum of kernels has a lower bound with the regularizer chosen."""
        return regularizer_families()[self.weights.value].conjugated

    def parts(self) -> Mapping[str, Any]:
        return {"problem": ProblemChoice(self.chosen_loss, self.regularizer, self.class_weight)}


def _values(fields: Mapping[str, ValueField[Any]]) -> dict[str, Any]:
    return {name: field.parsed for name, field in fields.items()}


_GAP = "Certified duality gap, relative to the objective; empty: no such rule"
_FLAT = (
    "A problem without a lower bound, such as a product of kernels, has no gap. The projected gradient, here relative"
    " to the objective, is zero at every minimum; empty: no such rule"
)
_ITERATE = "The gap of an iterate's own weights and dual variables, which is SimpleMKL's and Level's rule"
_CHANGE = "The largest change of a kernel weight in one step: a rule of the papers, which proves nothing"


class StopPanel(Section):
    """Sets the rules that end a run, each a field of `StopChoice`; an empty field means no such rule."""

    title = "Stop when"

    def __init__(self) -> None:
        super().__init__()
        steps = optional(lambda text, what: whole(text, what, low=1)), show_number
        share, value, limit = (optional(percent), show_percent), (optional(positive), show_number), "no limit"
        self.fields: dict[str, ValueField[Any]] = {
            "gap": ValueField("gap below", "The gap", *share, "no rule", _GAP),
            "projected_gradient": ValueField(
                "projected gradient below", "The projected gradient", *share, "no rule", _FLAT
            ),
            "iterate_gap": ValueField("iterate's gap below", "The gap of an iterate", *share, "no rule", _ITERATE),
            "weight_change": ValueField("weights move less than", "The weight change", *value, "no rule", _CHANGE),
            "max_iter": ValueField("iterations", "The number of iterations", *steps, limit),
            "max_seconds": ValueField("CPU seconds", "The number of seconds", *value, limit),
        }
        self.body = Group(Heading(object=self.title), *self.fields.values())
        self.count(*self.fields.values())

    def load(self, recipe: Recipe) -> None:
        for name, field in self.fields.items():
            field.set(getattr(recipe.stop, name))
        for name in ("iterate_gap", "weight_change"):  # rules of the papers come with their races alone
            self.fields[name].visible = getattr(recipe.stop, name) is not None

    def parts(self) -> Mapping[str, Any]:
        return {"stop": StopChoice(**_values(self.fields))}

    def suit(self, convex: bool) -> None:
        """Offer the rule that the problem has: without convexity there is no gap."""
        self.fields["gap"].visible, self.fields["projected_gradient"].visible = convex, not convex
