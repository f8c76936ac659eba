"""Solvers by name: every file in the solvers folder is one, and nothing else has to know of it."""

from __future__ import annotations

from typing import Any

import param

import mklviz.solvers
from mklviz.contract import Solver
from mklviz.errors import ProblemError, UnknownName
from mklviz.plugins import classes_in, left_out, module_called, named
from mklviz.problem import Problem
from mklviz.quoting import suggestions

__all__ = ["available_solvers", "make_solver", "solver_classes", "why_not"]


def solver_classes() -> dict[str, type[Solver]]:
    """Return every solver found, by registry name."""
    return named(mklviz.solvers, Solver)


def available_solvers(problem: Problem | None = None) -> list[str]:
    """Return the names of all solvers, or of those that can solve `problem`."""
    classes = solver_classes()
    return [name for name in classes if problem is None or not why_not(classes[name](), problem)]


def why_not(solver: Solver, problem: Problem) -> str:
    """Return "" or why a solver cannot solve `problem`; an error of one solver must not stop the others."""
    try:
        return solver.refusal(problem)
    except Exception as error:
        return f"{solver.label} broke down when asked about this problem ({type(error).__name__}: {error})."


def make_solver(solver: str | Solver, **options: Any) -> Solver:
    """Return a solver from its registry name and options; a ready solver is returned as it is.

    Raises
    ------
    UnknownName
        If no solver has that name.
    ProblemError
        If an option does not exist or has a value out of bounds.
    """
    if isinstance(solver, Solver):
        if options:
            raise ProblemError("Options belong to a solver's name; set those of a ready solver on the solver.")
        return solver
    if not isinstance(solver, str):
        raise ProblemError(f"A solver is given by its name, such as 'level', or ready made, not as {solver!r:.80}.")
    kind = _class_called(solver)
    unknown = sorted(set(options) - set(kind.param))
    if unknown:
        known = ", ".join(sorted(key for key in kind.param if key != "name"))
        raise ProblemError(f"{kind.label} has no option {unknown[0]!r:.80}. Its options are: {known}.")
    for key, value in options.items():
        option = kind.param[key]
        try:
            kind(**{key: value})
            fits = not (isinstance(value, bool) and isinstance(option, param.Number))
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ProblemError(f"{kind.label} cannot take {key}={value!r:.80}: it must be {_expected(option)}.")
    return kind(**options)


def _expected(option: param.Parameter[Any]) -> str:
    """Return what an option may be, as the end of a sentence."""
    if isinstance(option, param.Selector):
        return "one of " + ", ".join(repr(value) for value in option.objects)
    if isinstance(option, param.Boolean):
        return "True or False"
    kind = "a whole number" if isinstance(option, param.Integer) else "a number"
    if not isinstance(option, param.Number):
        return f"of the type of {option.default!r}"
    low, high = option.bounds or (None, None)
    limits = [f"not {side} {limit:g}" for side, limit in (("below", low), ("above", high)) if limit is not None]
    return f"{kind} {' and '.join(limits)}".strip() + (", or None" if option.allow_None else "")


def _class_called(name: str) -> type[Solver]:
    """Return the solver of that name; if its file has the same name, no other solver is imported."""
    module = module_called(mklviz.solvers, name)
    for made in classes_in(module, Solver) if module else ():
        if made.name_ == name:
            return made
    classes = solver_classes()
    if name not in classes:
        near = suggestions(str(name), classes)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        sentence = f"There is no solver called {name!r:.80}.{meant} Available: {', '.join(classes)}."
        raise UnknownName(" ".join([sentence, *left_out()]))
    return classes[name]
