"""SCENARIO: a prepared race by name, its lesson, and whether the controls differ from it; or a claim of a paper."""

from __future__ import annotations

from typing import Any

import param

from mklviz.recipe import Recipe
from mklviz.reproduce import PaperClaim
from mklviz.scenarios import DEFAULT, GROUPS, Scenario, load_scenario, scenarios
from mklviz.views.form import Button, FormRow, Group, Heading, Select
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.lesson_panel import LessonPanel

__all__ = ["ScenarioPanel"]

CHANGED = "You changed the scenario's settings; its text may no longer fit."
CHANGED_CLAIM = "You changed the settings of the claim's race."
OF_CLAIM = "The controls are set to the race of the claim above the tabs."


class ScenarioPanel(param.Parameterized):
    """Chooses a scenario; `chosen` counts every choice, also of the one already shown.

    `lesson` shows what the scenario asks and says. `changed` is whether the controls differ from the scenario. `claim`
    is the claim of a paper that takes its place until a scenario is chosen, None where there is none.
    """

    chosen = param.Integer(default=0)
    changed = param.Boolean(default=False)
    claim = param.ClassSelector(default=None, class_=PaperClaim, allow_None=True)

    def __init__(self, name: str = DEFAULT) -> None:
        super().__init__()
        known = scenarios().values()
        groups = {group: {each.title: each.name for each in known if each.group == group} for group in GROUPS}
        groups = {group: titles for group, titles in groups.items() if titles}
        self.choice = Select(label="Scenario", groups=groups, bare=True, value=load_scenario(name).name)
        self.lesson = LessonPanel(self.scenario)
        self._open = Button(self.open_lesson, label="Open this lesson", variant="outlined")
        self._of_claim, self._changed = note(OF_CLAIM), note(visible=True)
        leave = Button(self.leave_claim, label="Close the claim", variant="text")
        self._leave = FormRow(leave, visible=False)
        restore = Button(self.restore, label="Restore", variant="text")
        self._difference = FormRow(self._changed, restore, visible=False)
        parts = self.choice, self._open, self.lesson.description, self._of_claim, self._difference, self._leave
        self.body = Group(Heading(object="Scenario"), *parts)
        self.choice.param.watch(self._choose, "value")
        self.lesson.param.watch(self._offer, "open")
        self.param.watch(self._offer, "claim")
        self._offer()

    @property
    def scenario(self) -> Scenario:
        """The scenario chosen."""
        return load_scenario(self.choice.value)

    @property
    def recipe(self) -> Recipe:
        """The race that is set up as long as no control is changed: that of the claim, or of the scenario."""
        return self.claim.race if self.races_claim else self.scenario.recipe

    @property
    def races_claim(self) -> bool:
        """Whether there is a claim that has a race."""
        return self.claim is not None and not self.claim.untestable

    def restore(self, *_: Any) -> None:
        """Ask for the controls to be set to the scenario or the claim."""
        self.chosen += 1

    def leave_claim(self, *_: Any) -> None:
        """Put the claim away, and set the controls to the scenario if they were set to the claim's race."""
        raced, self.claim = self.races_claim, None
        if raced:
            self.restore()

    def open_lesson(self, *_: Any) -> None:
        """Put the question of the scenario on the stage, where it has one."""
        self.lesson.open = self.scenario.question is not None

    def _choose(self, *_: Any) -> None:
        self.claim = None
        self.lesson.show(self.scenario)
        self.restore()
        self.open_lesson()
        self._offer()

    def _offer(self, *_: Any) -> None:
        alone = not self.races_claim
        asks = self.scenario.question is not None
        self._open.visible = alone and asks and not self.lesson.open
        self.lesson.description.visible = alone and not asks
        self._of_claim.visible = not alone
        self._leave.visible = self.claim is not None

    def compare(self, recipe: Recipe | None) -> None:
        """Compare the controls with the scenario or the claim; None stands for controls that cannot be read."""
        self.changed = recipe is None or not recipe.same_race(self.scenario.recipe)
        self._difference.visible = recipe is None or not recipe.same_race(self.recipe)
        say(self._changed, CHANGED_CLAIM if self.races_claim else CHANGED)
