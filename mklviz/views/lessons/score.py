"""How many lessons were done in a browser, which of them were guessed right, and which one comes next."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import param

from mklviz.language import ENGLISH, Language
from mklviz.scenarios import Scenario, lessons
from mklviz.views.form import Button, FormRow
from mklviz.views.host.beside import beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.look import cards
from mklviz.views.look.styles import MILESTONES, row_html, table_html
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.scenario_panel import LessonPanel

Guesses = dict[str, tuple[str | None, str]]
"""The guess, None where nothing was guessed, and the right answer of each lesson that was done, by its name."""


class KeptGuesses(ScriptedComponent):
    """Invisible part of a page that brings the guesses on lessons from the browser's storage, and keeps them there."""

    kept = param.String(default="", doc="Guesses as JSON, beside which those of other pages stay; none clear them all")
    # not before the page is loaded, for it shows no answer until then
    asked = param.Boolean(default=False, doc="Whether the page can take the guesses of earlier pages")

    _esm = beside(__file__, "kept_guesses.js")

    def __init__(self, lessons: Mapping[str, Scenario], on_found: Callable[[Guesses], None]) -> None:
        super().__init__(width=0, height=0, margin=0)
        self._lessons, self._on_found = lessons, on_found

    def receive(self, message: Any) -> None:
        """Hand on what was kept, as far as it can be used."""
        kept = message.get("kept") if isinstance(message, dict) else None
        if isinstance(kept, dict):
            self._on_found(read_guesses(kept, self._lessons))


def read_guesses(kept: Mapping[str, Any], lessons: Mapping[str, Scenario]) -> Guesses:
    """Return the guesses on lessons and choices that there still are."""
    guesses: Guesses = {}
    for name, lesson in lessons.items():
        entry = kept.get(name)
        choices = () if lesson.question is None else lesson.question.choices
        if isinstance(entry, list) and len(entry) == 2 and entry[1] in choices and entry[0] in (None, *choices):
            guesses[name] = (entry[0], entry[1])
    return guesses


_HEADS = "Lesson", "You said", "It was"
_FORGET = "Forgets what was guessed in lessons, on this page and in this browser"


class LessonScore:
    """What came of the lessons, which the browser keeps in `storage`.

    `choose` turns to the lesson of a name, where there is a page that can. `line` stands below an answer, and before it
    where lessons were done; `summary` below the stage once all lessons are done; `done`: the guesses.
    """

    def __init__(self, choose: Callable[[str], Any] | None, language: Language = ENGLISH) -> None:
        self.done: Guesses = {}
        self._choose, self._next, self._language = choose, "", language
        self._panel: LessonPanel | None = None
        self._forgotten = ""  # the lesson whose answer was on the page when everything was forgotten
        self.storage = KeptGuesses(lessons(), self._recall)
        self.count = note()
        self.next = Button(self._go_on, label=language("Next lesson"), variant="outlined", visible=False)
        self.forget = Button(self._clear, label=language("Forget"), variant="text", description=language(_FORGET))
        self.line = FormRow(self.count, self.next, self.forget, wrap=True, visible=False)
        self._table = cards.html()
        self.summary = cards.card(cards.html(cards.title(language("All lessons are done"))), self._table, visible=False)

    @property
    def right(self) -> int:
        """How many were guessed right."""
        return sum(guess == answer for guess, answer in self.done.values())

    def take(self, panel: LessonPanel) -> None:
        """Count the lesson shown, if its answer is known, and offer the next one that is not done yet."""
        self._panel = panel
        name, result = panel.scenario.name, (panel.guess.value, panel.guess.right)
        if not panel.guess.right or name != self._forgotten:
            self._forgotten = ""
        if panel.guess.right and not self._forgotten and self.done.get(name) != result:
            self.done[name] = result
            self.storage.kept = json.dumps(self.done)
        self._tell(panel)

    def _recall(self, kept: Guesses) -> None:
        """Count what was guessed on an earlier page, too."""
        self.done = {**kept, **self.done}
        if self._panel is not None:
            self._tell(self._panel)

    def _clear(self, *_: Any) -> None:
        """Forget all guesses, that of the lesson shown as well."""
        self.done = {}
        self.storage.kept = "{}"
        if self._panel is not None:
            self._forgotten = self._panel.scenario.name
            self._tell(self._panel)

    def _tell(self, panel: LessonPanel) -> None:
        """Say how many lessons are done, and offer the one that comes next."""
        known, answered = lessons(), bool(panel.guess.right)
        after = [*known, *known]
        after = after[after.index(panel.scenario.name) + 1 :] if panel.scenario.name in known else after
        self._next = next((name for name in after if name not in self.done), "")
        guesses = sum(guess is not None for guess, _ in self.done.values())
        # the first has no race
        told = self._language("Lessons 2 to {last}: {done} done", last=len(known) + 1, done=len(self.done))
        if guesses:
            told += self._language.several(
                "; {right} of {n} guess right", "; {right} of {n} guesses right", guesses, right=self.right
            )
        say(self.count, f"{told}.")
        self.next.visible = bool(answered and self._choose and self._next)
        self.forget.visible = bool(self.done)
        self.line.visible = answered or bool(self.done)
        self._sum_up(known)

    def _sum_up(self, known: dict[str, Scenario]) -> None:
        language, self.summary.visible = self._language, all(name in self.done for name in known)
        if self.summary.visible:
            rows = (_row(lesson.title, *self.done[name], language) for name, lesson in known.items())
            words = cards.lines(language("You guessed {right} of {n} right.", right=self.right, n=len(known)))
            heads = [(language(name), "") for name in _HEADS]
            self._table.object = words + table_html(language("Lessons"), heads, rows, MILESTONES)

    def _go_on(self, *_: Any) -> None:
        if self._choose is not None and self._next:
            self._choose(self._next)


def _row(title: str, guess: str | None, right: str, language: Language) -> str:
    shown = "–" if guess is None else f"{language(guess)} {'✓' if guess == right else '✕'}"
    return row_html(escape(language(title)), map(escape, (shown, language(right))))
