"""A lesson in words: a question before the race, what to watch in it, and afterwards the answer and what it teaches."""

from __future__ import annotations

import param

from mklviz.scenarios import Answer, Scenario
from mklviz.views.form import Choices, Group
from mklviz.views.session.session import LessonResult
from mklviz.views.sidebar.controls import note, say

__all__ = ["OPEN", "LessonPanel"]

OPEN = "The race did not come to its end, so the question stays open: let it run to the end."
WATCH = "What to watch"


class LessonPanel(param.Parameterized):
    """What a scenario says before and after its race; `guess` is its question with the answer chosen.

    `words` and then `reasons` are for beside its picture, `description` for where a scenario has no question and so no
    picture. `open`: whether a lesson stands on the stage, above the tabs; one without a question never does.
    """

    open = param.Boolean(default=False)

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
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
        question = scenario.question
        choices = () if question is None else question.choices
        self.guess.param.update(
            label="" if question is None else question.text, options={choice: choice for choice in choices}, value=None
        )
        self.description.visible = question is None
        self.clear_answer()
        if question is None:
            self.open = False

    @property
    def chosen(self) -> str:
        """The number of the answer that was guessed, from "1" on; "" where none was."""
        answers = list(self.guess.options)
        return str(answers.index(self.guess.value) + 1) if self.guess.value in answers else ""

    def choose(self, number: str) -> bool:
        """Guess the answer of that number, from "1" on; return whether there is one."""
        answers = {str(k): answer for k, answer in enumerate(self.guess.options, 1)}
        if number in answers:
            self.guess.value = answers[number]
        return number in answers

    def show_result(self, result: LessonResult | None) -> None:
        """Show what came of the question; None stands for a race that has not ended."""
        if result is None:
            self.clear_answer()
        elif result.left_open:
            say(self.headline, result.left_open)
        else:
            self._show_answer(result.answer)

    def _show_answer(self, answer: Answer | None) -> None:
        """Show the answer, what the race teaches and where it is from; None where nothing was asked."""
        if answer is not None:
            self.guess.right = answer.choice
            say(self.headline, _compared(self.guess.value, answer.choice))
            say(self.because, f"{answer.because[0].upper()}{answer.because[1:]}.")
            say(self.why, answer.why)
            say(self.look_for, "")
            self.reasons.visible = True
        source = self.scenario.source
        say(self.teaches, self.scenario.teaches)
        say(self.source, f"From: {source}." if source else "")

    def clear_answer(self) -> None:
        """Hide the answer, as for a race that has just begun; the guess stays."""
        self.guess.right, self.reasons.visible = "", False
        for line in (self.because, self.why, self.teaches, self.source):
            say(line, "")
        say(self.headline, WATCH if self.scenario.question is not None else "")
        say(self.look_for, self.scenario.look_for)


def _compared(guess: str | None, right: str) -> str:
    """Return the answer in words, compared with the guess."""
    if guess is None:
        return f"It was “{right}”."
    if guess == right:
        return f"You said “{guess}”, and so it was."
    return f"You said “{guess}”. It was “{right}”."
