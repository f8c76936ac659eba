"""Whether the objectives of several runs can be compared: they can where all solved one problem."""

from __future__ import annotations

from collections.abc import Iterable

from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.record import Trace

__all__ = ["difference", "recipe_of", "shared_recipe"]


def difference(traces: Iterable[Trace]) -> str:
    """Return a sentence on why the objectives of these runs cannot be compared, or ""."""
    traces = list(traces)
    problems = {trace.problem for trace in traces}
    if len(problems) > 1:
        one, other = sorted(problems)[:2]
        return (
            f"These runs solved different problems, such as “{one}” and “{other}”, and their objectives cannot be"
            " compared: choose runs on one problem."
        )
    recipes = filter(None, map(recipe_of, traces))
    if len({(recipe.bank_key, recipe.problem) for recipe in recipes}) > 1:
        return (
            "These runs solved problems that differ in data, split or kernels, and their objectives cannot be"
            " compared: choose runs on one problem."
        )
    return ""


def recipe_of(trace: Trace) -> Recipe | None:
    """Return the recipe of a run; None if it has none, or an unreadable one."""
    try:
        return Recipe.from_json(trace.recipe) if trace.recipe else None
    except MklvizError:
        return None


def shared_recipe(traces: Iterable[Trace]) -> Recipe | None:
    """Return the recipe of runs on one problem, with the solvers of all; None if none of them has one."""
    recipes = list(filter(None, map(recipe_of, traces)))
    if not recipes:
        return None
    return recipes[0].changed(solvers=list(dict.fromkeys(choice for each in recipes for choice in each.solvers)))
