"""Scenarios for the classroom, one file each; the first is what the explorer opens with."""

from __future__ import annotations

import difflib
import sys

from mklviz.errors import UnknownName
from mklviz.plugins import left_out, modules_with
from mklviz.scenarios._scenario import Scenario

__all__ = ["DEFAULT", "Scenario", "load_scenario", "scenarios"]

DEFAULT = "silp-oscillates"


def scenarios() -> dict[str, Scenario]:
    """Return every scenario found, here and in installed packages, by name, the default one first."""
    modules = modules_with(sys.modules[__name__], "SCENARIO").values()
    found = {module.SCENARIO.name: module.SCENARIO for module in modules}
    return {DEFAULT: found[DEFAULT], **found}


def load_scenario(name: str) -> Scenario:
    """Return one scenario.

    Raises
    ------
    UnknownName
        If there is none of that name.
    """
    found = scenarios()
    if name not in found:
        near = difflib.get_close_matches(name, found, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        sentence = f"There is no scenario called {name!r}.{hint} Available: {', '.join(found)}."
        raise UnknownName(" ".join([sentence, *left_out()]))
    return found[name]
