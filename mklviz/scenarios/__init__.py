"""Scenarios for the classroom: each Markdown file is one, here and in the folder MKLVIZ_LESSONS of the environment.

SCENARIO of a plug-in's module is one, or a tuple.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from mklviz.datasets import list_datasets
from mklviz.errors import UnknownName
from mklviz.limits import LESSONS
from mklviz.plugins import leave_out, left_out, modules_with
from mklviz.quoting import hint
from mklviz.record.bundle import OWN
from mklviz.scenarios._lesson_file import read_lesson, recording_beside, solved
from mklviz.scenarios._scenario import GROUPS, Answer, Evidence, Outcome, Question, Scenario

__all__ = [
    "DEFAULT", "GROUPS", "Answer", "Evidence", "Outcome", "Question", "Scenario", "lessons", "load_scenario",
    "read_lesson", "recording_beside", "scenarios", "solved",
]  # fmt: skip

DEFAULT = "silp-oscillates"


def scenarios() -> dict[str, Scenario]:
    """Return every scenario by name, in the order in which they are taught, the default one first."""
    modules = modules_with(sys.modules[__name__], "SCENARIO", _misfit).values()
    known = {each.name: each for module in modules for each in _of(module)} | _shipped()
    return {each.name: each for each in sorted((_own() | known).values(), key=_place)}


def lessons() -> dict[str, Scenario]:
    """Return the scenarios that ask a question by name, in the order in which they are taught."""
    return {name: each for name, each in scenarios().items() if each.question is not None}


@cache
def _shipped() -> dict[str, Scenario]:
    return {path.stem: read_lesson(path) for path in Path(__file__).parent.glob("*.md")}


def _own() -> dict[str, Scenario]:
    """Return the lessons in the folder of one's own; what is wrong with the others is logged."""
    folder = os.environ.get(LESSONS)
    files = sorted(Path(folder).expanduser().glob("*.md")) if folder else ()
    lessons = (_read(file, file.stat().st_mtime_ns) for file in files if file.is_file())
    return {lesson.name: lesson for lesson in lessons if lesson is not None}


_GOOD: dict[Path, Scenario] = {}  # as each file was read before it had a mistake: pages that show it go on


@cache
def _read(file: Path, changed: int) -> Scenario | None:
    try:
        if file.stem in _shipped():
            raise UnknownName(f"the name {file.stem!r} is already that of a lesson of the package.")
        lesson = read_lesson(file)
    except Exception as error:  # no error in one file may affect the others
        leave_out(str(file), str(error))
        logging.getLogger(__name__).warning("%s is left out: %s", file, error)
        return _GOOD.get(file)
    leave_out(str(file), "")
    _GOOD[file] = lesson
    OWN[lesson.name] = recording_beside(file, lesson)
    return lesson


def _of(module: ModuleType) -> tuple[Any, ...]:
    return module.SCENARIO if isinstance(module.SCENARIO, tuple) else (module.SCENARIO,)


def _place(scenario: Scenario) -> tuple[bool, int, int, str]:
    return scenario.name != DEFAULT, GROUPS.index(scenario.group), scenario.place, scenario.name


def _misfit(module: ModuleType, others: Iterable[ModuleType]) -> str:
    """Say why a module's scenarios cannot be used beside the others, or ""."""
    taken = dict.fromkeys(_shipped(), __name__) | {s.name: other.__name__ for other in others for s in _of(other)}
    for scenario in _of(module):
        if not isinstance(scenario, Scenario):
            return f"its SCENARIO is {scenario!r:.60}, not a Scenario."
        if scenario.recipe.data.source not in list_datasets():
            return f"there is no data set {scenario.recipe.data.source!r}."
        if scenario.name in taken:
            return f"the name {scenario.name!r} is already that of {taken[scenario.name]}."
    return ""


def load_scenario(name: str) -> Scenario:
    """Return one scenario; another one in place of the default, should its file be broken."""
    every = scenarios()
    if name == DEFAULT and every:
        return next(iter(every.values()))
    if name not in every:
        raise UnknownName(" ".join([f"There is no scenario called {name!r:.80}; {hint(name, every)}", *left_out()]))
    return every[name]
