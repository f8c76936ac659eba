"""THE LESSON: a question before the race, what to watch in it, and afterwards what came out and what it teaches."""

from __future__ import annotations

import param

from mklviz.scenarios import Answer, Scenario
from mklviz.views.form import Choices, Group
from mklviz.views.sidebar.controls import note, say

__all__ = ["LessonPanel"]

OPEN = "The race did not come to its end, so the question stays open: let it run to the end."


class LessonPanel(param.Parameterized):
    """What a scenario says before and after its race.

    Attributes
    ----------
    scenario : Scenario
    guess : Choices
        The question with its answers, and the one that was chosen.
    look_for, verdict, teaches, source : note
    """

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
        self.guess = Choices(visible=False)
        self.look_for, self.verdict = note(), note(strong=True, spoken=True)
        self.teaches, self.source = note(), note(small=True)
        self.body = Group(self.guess, self.look_for, self.verdict, self.teaches, self.source)
        self.show(scenario)

    def show(self, scenario: Scenario) -> None:
        """Turn to another scenario, of which nothing is guessed and nothing known yet."""
        self.scenario = scenario
        self.take_back()
        question = scenario.question
        choices = () if question is None else question.choices
        self.guess.param.update(
            label="" if question is None else question.text,
            options={choice: choice for choice in choices},
            value=None,
            visible=question is not None,
        )
        say(self.look_for, scenario.look_for)

    @property
    def chosen(self) -> str:
        """The place of the answer that was guessed, from "1" on; "" where none was."""
        answers = list(self.guess.options)
        return str(answers.index(self.guess.value) + 1) if self.guess.value in answers else ""

    def choose(self, place: str) -> bool:
        """Guess the answer at a place, from "1" on; return whether there is one."""
        places = dict(zip(map(str, range(1, len(self.guess.options) + 1)), self.guess.options, strict=True))
        if place in places:
            self.guess.value = places[place]
        return place in places

    def announce(self, verdict: Answer | str | None) -> None:
        """Say what came of the race, as the session has it: see `Session.verdict`."""
        if verdict is None:
            self.take_back()
        elif isinstance(verdict, Answer):
            self.tell(verdict)
        elif verdict:
            self.leave_open(verdict)
        else:
            self.tell(None)

    def tell(self, answer: Answer | None) -> None:
        """Say what came of the race, what it teaches and where it is from; None where nothing was asked."""
        if answer is not None:
            self.guess.right = answer.choice
            say(self.verdict, _compared(self.guess.value, answer))
        source = self.scenario.source
        say(self.teaches, self.scenario.teaches)
        say(self.source, f"From: {source}." if source else "")

    def leave_open(self, sentence: str = OPEN) -> None:
        """Say why there is no answer."""
        say(self.verdict, sentence)

    def take_back(self) -> None:
        """Say nothing of what came of a race, of which there is another; the guess stays."""
        self.guess.right = ""
        for line in (self.verdict, self.teaches, self.source):
            say(line, "")


def _compared(guess: str | None, answer: Answer) -> str:
    """Return what came out, compared with what somebody had said before."""
    if guess is None:
        return f"It was “{answer.choice}”: {answer.because}."
    if guess == answer.choice:
        return f"You said “{guess}”, and so it was: {answer.because}."
    return f"You said “{guess}”. It was “{answer.choice}”: {answer.because}."
