"""Scenarios for the classroom: SCENARIO of a file is one, or a tuple; the first is what the explorer opens with."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from mklviz.datasets import list_datasets
from mklviz.errors import UnknownName
from mklviz.plugins import left_out, modules_with
from mklviz.quoting import suggestions
from mklviz.scenarios._scenario import GROUPS, Answer, Evidence, Outcome, Question, Scenario

__all__ = ["DEFAULT", "GROUPS", "Answer", "Evidence", "Outcome", "Question", "Scenario", "load_scenario", "scenarios"]

DEFAULT = "silp-oscillates"


def scenarios() -> dict[str, Scenario]:
    """Return every scenario by name, in the order in which they are taught, the default one first."""
    modules = modules_with(sys.modules[__name__], "SCENARIO", _misfit).values()
    return {each.name: each for each in sorted((each for module in modules for each in _of(module)), key=_place)}


def _of(module: ModuleType) -> tuple[Any, ...]:
    return module.SCENARIO if isinstance(module.SCENARIO, tuple) else (module.SCENARIO,)


def _place(scenario: Scenario) -> tuple[bool, int, int, str]:
    return scenario.name != DEFAULT, GROUPS.index(scenario.group), scenario.place, scenario.name


def _misfit(module: ModuleType, others: Iterable[ModuleType]) -> str:
    """Say why a module's scenarios cannot be used beside the others, or ""."""
    taken = {scenario.name: other for other in others for scenario in _of(other)}
    for scenario in _of(module):
        if not isinstance(scenario, Scenario):
            return f"its SCENARIO is {scenario!r:.60}, not a Scenario."
        if scenario.recipe.data.source not in list_datasets():
            return f"there is no data set {scenario.recipe.data.source!r}."
        if scenario.name in taken:
            return f"the name {scenario.name!r} is already that of {taken[scenario.name].__name__}."
    return ""


def load_scenario(name: str) -> Scenario:
    """Return one scenario; another one in place of the default, should its file be broken."""
    every = scenarios()
    if name == DEFAULT and every:
        return next(iter(every.values()))
    if name not in every:
        near = suggestions(name, every)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        sentence = f"There is no scenario called {name!r:.80}.{meant} Available: {', '.join(every)}."
        raise UnknownName(" ".join([sentence, *left_out()]))
    return every[name]
