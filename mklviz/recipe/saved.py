"""A recipe as JSON: all its parts, with a version, so that it says the same when defaults have changed.

    {"version": 1, "data": {"source": "sonar"}, ..., "problem": {"loss": {"name": "hinge", "C": 10.0}, ...}, ...}

Losses, regularizers and kernel families go by their names with all their parameters; what is left out has its default.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from mklviz.errors import MklvizError
from mklviz.kernels import KernelFamily, Nystrom, kernel_families
from mklviz.problem import Loss, Regularizer, loss_families, regularizer_families
from mklviz.quoting import hint, one_line
from mklviz.recipe.choices import (
    TABLE_OPTIONS,
    DataChoice,
    KernelChoice,
    ProblemChoice,
    RecipeParts,
    SolverChoice,
    Split,
    StopChoice,
)
from mklviz.recipe.parsing import registered

VERSION = 1
_LATER = {"repair", "iterate_gap", "weight_change", *TABLE_OPTIONS} - {"target", "missing", "header"}
"""Fields that came later: they are written where they say something, so that keys stay the same."""
_NAMED: tuple[tuple[Any, str, Callable[[], Mapping[str, Any]]], ...] = (
    (Loss, "loss", loss_families),
    (Regularizer, "regularizer", regularizer_families),
    (KernelFamily, "kernel family", kernel_families),
)


def to_json(recipe: RecipeParts) -> str:
    """Return the recipe as JSON."""
    return json.dumps({"version": VERSION, **_plain(recipe)}, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return a value of a recipe as JSON knows it."""
    if isinstance(value, SolverChoice):
        return {"name": value.name, "options": {key: _plain(option) for key, option in dict(value.options).items()}}
    for kind, what, families in _NAMED:
        if isinstance(value, kind):
            return {"name": registered(value, families(), what), **_fields(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise MklvizError(f"{value!r:.80} cannot be written as JSON.")


def _fields(value: Any) -> dict[str, Any]:
    named = {name: getattr(value, name) for name in _written(value)}
    return {
        name: _plain(part) for name, part in named.items() if name not in _LATER or part != getattr(type(value), name)
    }


def _written(kind: Any) -> list[str]:
    """Return the fields of a dataclass that define its value; a user's own data are not among them."""
    return [field.name for field in dataclasses.fields(kind) if field.init and field.compare]


def read_json(text: str) -> dict[str, Any]:
    """Return the parts, by name, of the recipe that `to_json` wrote."""
    parts = versioned(text, "recipe", VERSION)
    _known(parts, _PARTS, "A recipe")
    return {key: _reading(key, part) for key, part in parts.items()}


def versioned(text: str, what: str, version: int, *needed: str) -> dict[str, Any]:
    """Return the object in a text, without its version, or say why it is not `what` with all that is `needed`."""
    try:
        parts = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise MklvizError(f"This is not a {what}: it is not JSON.") from None
    if not isinstance(parts, dict) or not {"version", *needed} <= set(parts):
        *most, last = "version", *needed
        raise MklvizError(f"This is not a {what}: it has no {' and '.join(filter(None, (', '.join(most), last)))}.")
    if parts.pop("version") != version:
        raise MklvizError(f"This {what} is of another version than {version}: open it with the mklviz that wrote it.")
    return parts


def _reading(key: str, part: Any) -> Any:
    try:
        return _PARTS[key](part)
    except (TypeError, ValueError, ArithmeticError, RecursionError, MklvizError) as error:
        raise MklvizError(one_line(f"The recipe's {key} cannot be used: {error}")) from None


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MklvizError(f"{what} must be an object with names and values, but {value!r:.80} was given.")
    return dict(value)


def _known(parts: Mapping[str, Any], known: Collection[str], what: str) -> None:
    for key in parts:
        if key not in known:
            raise MklvizError(f"{what} has no part {key!r:.80}; there are {', '.join(known)}.")


def _part(kind: Any, readers: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})) -> Callable[[Any], Any]:
    """Return what reads the fields of a dataclass, some by readers of their own."""

    def read(value: Any) -> Any:
        parts = _object(value, "This part")
        _known(parts, _written(kind), "It")
        return kind(**{key: readers.get(key, _frozen)(value) for key, value in parts.items()})

    return read


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _named(what: str, families: Mapping[str, Any], value: Any) -> Any:
    parts = _object(value, f"A {what}")
    name = parts.pop("name", None)
    if not isinstance(name, str) or name not in families:
        raise MklvizError(f"There is no {what} {name!r:.80}; {hint(str(name), families)}")
    return _part(families[name])(parts)


def _each(read: Callable[[Any], Any], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise MklvizError(f"A list is expected, but {value!r:.80} was given.")
    return tuple(map(read, value))


def _solver(value: Any) -> SolverChoice:
    parts = _object(value, "A solver")
    _known(parts, ("name", "options"), "A solver")
    options = _object(parts.get("options", {}), "The options of a solver")
    choice = SolverChoice(parts.get("name", ""), {key: _frozen(value) for key, value in options.items()})
    choice.make()  # raises a sentence for an unknown name or option
    return choice


_KERNELS: dict[str, Callable[[Any], Any]] = {
    "families": lambda value: _each(lambda each: _named("kernel family", kernel_families(), each), value),
    "approximation": lambda value: None if value is None else _part(Nystrom)(value),
}
_PROBLEM: dict[str, Callable[[Any], Any]] = {
    "loss": lambda value: _named("loss", loss_families(), value),
    "regularizer": lambda value: _named("regularizer", regularizer_families(), value),
}
_PARTS: dict[str, Callable[[Any], Any]] = {
    "data": _part(DataChoice),
    "split": _part(Split),
    "kernels": _part(KernelChoice, _KERNELS),
    "problem": _part(ProblemChoice, _PROBLEM),
    "solvers": partial(_each, _solver),
    "stop": _part(StopChoice),
}
