"""What somebody has guessed in lessons, kept in the browser alone, so that a reload or another day still knows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import param

from mklviz.scenarios import Scenario
from mklviz.views.host.beside import beside
from mklviz.views.host.component import ScriptedComponent

__all__ = ["Guesses", "KeptGuesses", "read_guesses"]

Guesses = dict[str, tuple[str | None, str]]
"""The guess, None where nothing was guessed, and the right answer of each lesson that was done, by its name."""


class KeptGuesses(ScriptedComponent):
    """Invisible part of a page that brings the guesses from the browser's storage, and writes them there.

    `lessons` are those that there are, by their names; `on_found` is called with the guesses of an earlier page.
    """

    kept = param.String(default="", doc="The guesses as JSON; an empty object clears the storage")
    asked = param.Boolean(default=False, doc="Whether the page can take what is found")

    _esm = beside(__file__, "kept_guesses.js")

    def __init__(self, lessons: Mapping[str, Scenario], on_found: Callable[[Guesses], None]) -> None:
        super().__init__(width=0, height=0, margin=0)
        self._lessons, self._on_found = lessons, on_found

    def keep(self, guesses: Guesses) -> None:
        """Write the guesses, and those of other pages of this browser stay; none clears all."""
        self.kept = json.dumps(guesses)

    def ask(self) -> None:
        """Ask for the guesses of earlier pages; not before the page is loaded, for it shows no answer until then."""
        self.asked = True

    def receive(self, message: Any) -> None:
        """Hand on what was found, as far as it can be used."""
        found = message.get("found") if isinstance(message, dict) else None
        if isinstance(found, dict):
            self._on_found(read_guesses(found, self._lessons))


def read_guesses(found: Mapping[str, Any], lessons: Mapping[str, Scenario]) -> Guesses:
    """Return the guesses on lessons and choices that there still are."""
    guesses: Guesses = {}
    for name, lesson in lessons.items():
        entry = found.get(name)
        choices = () if lesson.question is None else lesson.question.choices
        if isinstance(entry, list) and len(entry) == 2 and entry[1] in choices and entry[0] in (None, *choices):
            guesses[name] = (entry[0], entry[1])
    return guesses
