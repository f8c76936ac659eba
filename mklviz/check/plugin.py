"""The plug-ins in a file or module, and how they keep their promises."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from mklviz.check.hard import HARD_PROMISES
from mklviz.check.kernels import KERNEL_PROMISES
from mklviz.check.losses import LOSS_PROMISES
from mklviz.check.regularizers import REGULARIZER_PROMISES
from mklviz.check.solvers import SOLVER_PROMISES
from mklviz.contract import Solver
from mklviz.engine import solver_classes
from mklviz.errors import ContractError, MklvizError
from mklviz.kernels import KernelFamily, kernel_families
from mklviz.plugins import classes_in, unfit, what_is_wrong
from mklviz.problem import Loss, Regularizer, loss_families, regularizer_families

__all__ = ["CheckResult", "Plugin", "checked", "found_in"]

Promise = Callable[[type[Any]], None]


@dataclass(frozen=True)
class CheckResult:
    """A promise in words, and "" or how it is broken."""

    promise: str
    broken: str


@dataclass(frozen=True)
class Plugin:
    """A class that is checked."""

    kind: str  # "solver", "loss", "regularizer" or "kernel family"
    made: type[Any]


_BASES: dict[str, tuple[type[Any], tuple[Promise, ...], Callable[[], dict[str, Any]]]] = {
    "solver": (Solver, (*SOLVER_PROMISES, *HARD_PROMISES), solver_classes),
    "loss": (Loss, LOSS_PROMISES, loss_families),
    "regularizer": (Regularizer, REGULARIZER_PROMISES, regularizer_families),
    "kernel family": (KernelFamily, KERNEL_PROMISES, kernel_families),
}


def found_in(where: str) -> list[Plugin]:
    """Return the plug-ins that a file, such as my_solver.py, or a module, such as my_package.idle, defines.

    Raises `ContractError` if it cannot be imported, or defines none.
    """
    module = _loaded(where)
    every = [Plugin(kind, made) for kind, (base, _, _) in _BASES.items() for made in classes_in(module, base)]
    named = [plugin for plugin in every if getattr(plugin.made, "name_", "")] or every  # others are shared parts
    if not named:
        bases = ", ".join(base.__name__ for base, _, _ in _BASES.values())
        raise ContractError(f"{where} defines nothing to check: a class derived from one of {bases}.")
    return named


def _loaded(where: str) -> ModuleType:
    file = Path(where)
    if file.suffix == ".py" and not file.is_file():
        raise ContractError(f"There is no file {where}.")
    try:
        return _from_file(file) if file.suffix == ".py" else importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise ContractError(f"{where} cannot be imported: {what_is_wrong(error)}") from None


def _from_file(file: Path) -> ModuleType:
    """Import a file under a name of its own."""
    name = f"_mklviz_checks_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def checked(plugin: Plugin) -> Iterator[CheckResult]:
    """Yield the promises of a plug-in's kind, and how they are kept; stop if it cannot be constructed."""
    _, promises, registry = _BASES[plugin.kind]
    why = unfit(plugin.made, {}) or _name_taken(plugin.made, registry())
    yield CheckResult("It can be made without arguments, under a name of its own.", why)
    if why:
        return
    for promise in promises:
        yield CheckResult((inspect.getdoc(promise) or "").splitlines()[0], _how_broken(promise, plugin.made))


def _name_taken(made: type[Any], others: dict[str, type[Any]]) -> str:
    name = str(getattr(made, "name_", ""))
    if not name:
        return f"{made.__name__} has no name_, such as name_ = 'my-method'."
    other = others.get(name)
    if other is None or other is made or inspect.getfile(other) == inspect.getfile(made):
        return ""
    return f"Its name {name!r} is already that of {other.__module__}."


def _how_broken(promise: Promise, made: type[Any]) -> str:
    try:
        promise(made)
    except MklvizError as error:
        return str(error)
    except Exception as error:  # an error of the plug-in, or of the values it returns
        text = f"{type(error).__name__}{f', {error}' if str(error) else ''}"
        return f"{text}{_place(error, inspect.getfile(made))}".rstrip(".") + "."
    return ""


def _place(error: Exception, file: str) -> str:
    """Return in which line of the plug-in's file an error came up, "" where it was elsewhere."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f", in line {lines[-1]} of {Path(file).name}" if lines else ""
