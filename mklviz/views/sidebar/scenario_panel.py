"""SCENARIO: a prepared race by name, and whether the controls differ from it; a claim of a paper; a lesson in words."""

from __future__ import annotations

from typing import Any

import param

from mklviz.language import ENGLISH
from mklviz.recipe import Recipe
from mklviz.reproduce import PaperClaim
from mklviz.scenarios import DEFAULT, GROUPS, Answer, Scenario, load_scenario, scenarios
from mklviz.views.form import Button, Choices, FormRow, Group, Heading, Select
from mklviz.views.host.page_session import page_language
from mklviz.views.session.session import LessonResult
from mklviz.views.sidebar.controls import note, say

OPEN = "The race did not come to its end, so the question stays open: let it run to the end."


class LessonPanel(param.Parameterized):
    """What a scenario says before and after its race; `guess` is its question with the answer chosen.

    `words` and then `reasons` are for beside its picture, `description` for where a scenario has no question and so no
    picture. `open`: whether a lesson stands on the stage, above the tabs; one without a question never does.
    """

    open = param.Boolean(default=False)

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
        self.page_language = page_language()
        self.guess = Choices()
        self.headline, self.because, self.why = note(strong=True, spoken=True), note(), note()
        self.look_for, self.teaches, self.source = note(), note(), note(small=True)
        self.words = Group(self.headline, self.because, self.look_for)
        self.reasons = Group(self.why, self.teaches, self.source, visible=False)
        self.description = Group(self.look_for, self.teaches, self.source)
        self.show(scenario)

    def show(self, scenario: Scenario) -> None:
        """Show another scenario, without a guess and without an answer."""
        self.scenario = scenario
        question, shown = scenario.question, self.page_language(scenario.look_for)
        self.language = ENGLISH if shown == scenario.look_for else self.page_language  # a lesson is in one language
        choices = {} if question is None else {self.language(choice): choice for choice in question.choices}
        asked = "" if question is None else self.language(question.text)
        self.guess.param.update(label=asked, options=choices, value=None, counts=[])
        self.description.visible = question is None
        self.clear_answer()
        if question is None:
            self.open = False

    @property
    def chosen(self) -> str:
        """The number of the answer that was guessed, from "1" on; "" where none was."""
        answers = list(self.guess.options.values())
        return str(answers.index(self.guess.value) + 1) if self.guess.value in answers else ""

    def choose(self, number: str) -> bool:
        """Guess the answer of that number, from "1" on; return whether there is one."""
        answers = {str(k): answer for k, answer in enumerate(self.guess.options.values(), 1)}
        if number in answers:
            self.guess.value = answers[number]
        return number in answers

    def show_result(self, result: LessonResult | None) -> None:
        """Show what came of the question; None stands for a race that has not ended."""
        if result is None:
            self.clear_answer()
        elif result.left_open:
            say(self.headline, self.language(result.left_open))
        else:
            self._show_answer(result.answer)

    def _show_answer(self, answer: Answer | None) -> None:
        """Show the answer, what the race teaches and where it is from; None where nothing was asked."""
        if answer is not None:
            self.guess.right = answer.choice
            say(self.headline, self._compared(self.guess.value, answer.choice))
            because, why = self.language.answer(answer.because, answer.why)
            say(self.because, f"{because[0].upper()}{because[1:]}.")
            say(self.why, why)
            say(self.look_for, "")
            self.reasons.visible = True
        source = self.scenario.source
        say(self.teaches, self.language(self.scenario.teaches))
        say(self.source, self.language("From: {source}.", source=source) if source else "")

    def clear_answer(self) -> None:
        """Hide the answer, as for a race that has just begun; the guess stays."""
        self.guess.right, self.reasons.visible = "", False
        for line in (self.because, self.why, self.teaches, self.source):
            say(line, "")
        say(self.headline, self.language("What to watch") if self.scenario.question is not None else "")
        say(self.look_for, self.language(self.scenario.look_for))

    def _compared(self, guess: str | None, right: str) -> str:
        """Return the answer in words, compared with the guess."""
        said, was = self.language(guess or ""), self.language(right)
        if guess is None:
            return self.language("It was “{was}”.", was=was)
        if guess == right:
            return self.language("You said “{said}”, and so it was.", said=said)
        return self.language("You said “{said}”. It was “{was}”.", said=said, was=was)


CHANGED = "You changed the scenario's settings; its text may no longer fit."
CHANGED_CLAIM = "You changed the settings of the claim's race."
LINKED = "The link has settings other than the scenario's, whose text may not fit."
LINKED_CLAIM = "The link has settings other than those of the claim's race."
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
        self._linked: Recipe | None = None
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
        linked = recipe is not None and recipe == self._linked
        of_claim, of_scenario = (LINKED_CLAIM, LINKED) if linked else (CHANGED_CLAIM, CHANGED)
        say(self._changed, of_claim if self.races_claim else of_scenario)

    def came_by_link(self, recipe: Recipe | None) -> None:
        """Remember that the controls stand as a link has set them."""
        self._linked = recipe
        self.compare(recipe)
