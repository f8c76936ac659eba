"""SCENARIO: a prepared race by name, its lesson, and whether the controls differ from it."""

from __future__ import annotations

from typing import Any

import param

from mklviz.recipe import Recipe
from mklviz.scenarios import DEFAULT, GROUPS, Scenario, load_scenario, scenarios
from mklviz.views.form import Button, FormRow, Group, Heading, Select
from mklviz.views.sidebar.controls import note
from mklviz.views.sidebar.lesson_panel import LessonPanel

__all__ = ["ScenarioPanel"]


class ScenarioPanel(param.Parameterized):
    """Chooses a scenario; `chosen` counts every choice, also of the one already shown.

    `lesson` shows what the scenario asks and says. `changed` is whether the controls differ from the scenario.
    """

    chosen = param.Integer(default=0)
    changed = param.Boolean(default=False)

    def __init__(self, name: str = DEFAULT) -> None:
        super().__init__()
        known = scenarios().values()
        groups = {group: {each.title: each.name for each in known if each.group == group} for group in GROUPS}
        groups = {group: titles for group, titles in groups.items() if titles}
        self.choice = Select(label="Scenario", groups=groups, bare=True, value=load_scenario(name).name)
        self.lesson = LessonPanel(self.scenario)
        self._open = Button(self.open_lesson, label="Open this lesson", variant="outlined")
        self._difference = FormRow(
            note("You changed the scenario's settings; its text may no longer fit.", visible=True),
            Button(self.restore, label="Restore", variant="text"),
            visible=False,
        )
        self.body = Group(Heading(object="Scenario"), self.choice, self._open, self.lesson.told, self._difference)
        self.choice.param.watch(self._choose, "value")
        self.lesson.param.watch(self._offer, "open")
        self._offer()

    @property
    def scenario(self) -> Scenario:
        """The scenario chosen."""
        return load_scenario(self.choice.value)

    def restore(self, *_: Any) -> None:
        """Ask for the controls to be set to the scenario."""
        self.chosen += 1

    def open_lesson(self, *_: Any) -> None:
        """Put the question of the scenario on the stage, where it has one."""
        self.lesson.open = self.scenario.question is not None

    def _choose(self, *_: Any) -> None:
        self.lesson.show(self.scenario)
        self.restore()
        self.open_lesson()
        self._offer()

    def _offer(self, *_: Any) -> None:
        self._open.visible = self.scenario.question is not None and not self.lesson.open

    def compare(self, recipe: Recipe | None) -> None:
        """Compare the controls with the scenario; None stands for controls that cannot be read."""
        self.changed = self._difference.visible = recipe is None or not recipe.same_race(self.scenario.recipe)
