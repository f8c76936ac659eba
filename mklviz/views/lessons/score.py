"""How many lessons were done on a page, which of them were guessed right, and which one comes next."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from mklviz.scenarios import Scenario, scenarios
from mklviz.views.form import Button, FormRow
from mklviz.views.look import cards
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.lesson_panel import LessonPanel

__all__ = ["LessonScore"]


class LessonScore:
    """What came of the lessons of a page.

    `choose` turns to the lesson of a name, where there is somebody to ask. `line` stands below an answer, `summary`
    below the stage once all lessons are done; `done`: the guess, None where nothing was guessed, and the right answer
    of each lesson by its name.
    """

    def __init__(self, choose: Callable[[str], Any] | None) -> None:
        self.done: dict[str, tuple[str | None, str]] = {}
        self._choose, self._next = choose, ""
        self._count = note()
        self.next = Button(self._go_on, label="Next lesson", variant="outlined", visible=False)
        self.line = FormRow(self._count, self.next, wrap=True, visible=False)
        self._table = cards.html()
        self.summary = cards.card(cards.html(cards.title("All lessons are done")), self._table, visible=False)

    @property
    def right(self) -> int:
        """How many were guessed right."""
        return sum(guess == answer for guess, answer in self.done.values())

    def take(self, panel: LessonPanel) -> None:
        """Count the lesson shown, if its answer is known, and offer the next one that is not done yet."""
        answered = bool(panel.guess.right)
        if answered:
            self.done[panel.scenario.name] = panel.guess.value, panel.guess.right
        lessons = _lessons()
        after = [*lessons, *lessons]
        after = after[after.index(panel.scenario.name) + 1 :] if panel.scenario.name in lessons else after
        self._next = next((name for name in after if name not in self.done), "")
        say(self._count, f"{len(self.done)} of {len(lessons)} done, {self.right} guessed right.")
        self.next.visible = bool(self._choose and self._next)
        self.line.visible = answered
        self._sum_up(lessons)

    def _sum_up(self, lessons: dict[str, Scenario]) -> None:
        self.summary.visible = all(name in self.done for name in lessons)
        if self.summary.visible:
            rows = (_row(lesson.title, *self.done[name]) for name, lesson in lessons.items())
            head = "<tr><th>Lesson</th><th>You said</th><th>It was</th></tr>"
            table = f'<table class="results milestones"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'
            words = f"You guessed {self.right} of {len(lessons)} right."
            self._table.object = f'<p class="why">{words}</p><div class="scroll">{table}</div>'

    def _go_on(self, *_: Any) -> None:
        if self._choose is not None and self._next:
            self._choose(self._next)


def _lessons() -> dict[str, Scenario]:
    return {name: each for name, each in scenarios().items() if each.question is not None}


def _row(title: str, guess: str | None, right: str) -> str:
    said = "–" if guess is None else f"{guess} {'✓' if guess == right else '✕'}"
    return f"<tr><th>{escape(title)}</th><td>{escape(said)}</td><td>{escape(right)}</td></tr>"
