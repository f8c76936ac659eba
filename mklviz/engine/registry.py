"""Solvers by name: every file in the solvers folder is one, and nothing else has to know of it."""

from __future__ import annotations

import difflib
from functools import cache
from typing import Any

import mklviz.solvers
from mklviz._discover import classes
from mklviz.contract import Solver
from mklviz.errors import MklvizError, UnknownName
from mklviz.problem import Problem

__all__ = ["available_solvers", "make_solver", "solver_classes"]


@cache
def solver_classes() -> dict[str, type[Solver]]:
    """Return every solver found, by registry name."""
    return {found.name_: found for found in classes(mklviz.solvers, Solver) if found.name_}


def available_solvers(problem: Problem | None = None) -> list[str]:
    """Return the names of all solvers, or of those that can solve `problem`."""
    found = solver_classes()
    return [name for name in found if problem is None or not found[name]().supports(problem)]


def make_solver(solver: str | Solver, **options: Any) -> Solver:
    """Return a solver from its registry name and options; a ready solver is returned as it is.

    Raises
    ------
    UnknownName
        If no solver has that name.
    MklvizError
        If an option does not exist or has a value out of bounds.
    """
    if isinstance(solver, Solver):
        if options:
            raise MklvizError("Options belong to a solver's name; set those of a ready solver on the solver.")
        return solver
    found = solver_classes()
    if solver not in found:
        near = difflib.get_close_matches(solver, found, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UnknownName(f"There is no solver called {solver!r}.{hint} Available: {', '.join(found)}.")
    unknown = sorted(set(options) - set(found[solver].param))
    if unknown:
        known = ", ".join(sorted(key for key in found[solver].param if key != "name"))
        raise MklvizError(f"{found[solver].label} has no option {unknown[0]!r}. Its options are: {known}.")
    try:
        return found[solver](**options)
    except (TypeError, ValueError) as error:
        raise MklvizError(f"{found[solver].label} cannot take these options: {error}") from error
