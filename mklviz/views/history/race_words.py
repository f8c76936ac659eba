"""What a person says of a race in the store, name, tags and note, and what each of its runs came to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from mklviz.errors import MklvizError
from mklviz.quoting import MOST_NAME, one_line
from mklviz.record.store import Store
from mklviz.record.store.stored import CUT_OFF
from mklviz.views.form import FormRow, Group, Note, TextBox
from mklviz.views.history.past_race import PastRace

__all__ = ["RaceWords"]

_CUT_OFF = (
    "This race was cut off: its program ended without a word. Open replays it up to its last frame; Repeat runs it"
    " anew; and from the tab Timeline, once it is open, “Continue from here” goes on from any of its steps."
)


class RaceWords:
    """Fields for one race; `body` is what a form draws, hidden while there is no race."""

    def __init__(self, say_wrong: Callable[[str], None]) -> None:
        self.store: Store | None = None  # as the visitor has it
        self._say_wrong = say_wrong
        self._race: PastRace | None = None
        self._filling = False
        self.name, self.tags = TextBox(label="Name"), TextBox(label="Tags", placeholder="such as thesis, chapter 3")
        self.note = TextBox(label="Note", placeholder="what it showed")
        self._told, self._cut_off = Note(), Note(object=_CUT_OFF, visible=False)
        self.body = Group(self._cut_off, FormRow(self.name, self.tags, wrap=True), self.note, self._told, visible=False)
        for part in (self.name, self.tags, self.note):
            part.param.watch(self._say, "value")

    def show(self, race: PastRace | None) -> None:
        """Show a race, or none; what is being typed stays as it is while the race does."""
        other = race is None or self._race is None or race.id != self._race.id
        self._race = race
        self.body.visible = race is not None
        if race is None:
            return
        if other:
            self._fill(race)
        self._cut_off.visible = race.state == CUT_OFF
        self._told.object = _told(race)

    def _fill(self, race: PastRace) -> None:
        self._filling = True
        try:
            self.name.value, self.note.value = race.name, race.first.note
            self.tags.value = ", ".join(race.first.tags)
        finally:
            self._filling = False

    def _say(self, _event: Any) -> None:
        """Store what was typed."""
        if self._filling or self._race is None or self.store is None:
            return
        tags = [one_line(tag.strip(), MOST_NAME) for tag in self.tags.value.split(",")]
        name = one_line(self.name.value.strip(), MOST_NAME) or self._race.name
        try:
            tags = list(dict.fromkeys(filter(None, tags)))
            self.store.describe(self._race.id, name=name, note=self.note.value.strip(), tags=tags)
        except MklvizError as error:
            self._say_wrong(str(error))


def _told(race: PastRace) -> str:
    """Return when and where a race ran, its recipe, and each of its runs in a line."""
    first = race.first
    began = f"{datetime.fromtimestamp(first.created):%A, %d %B %Y, %H:%M:%S}"
    made = f", made in the {first.made_by}" if first.made_by in ("dashboard", "notebook") else ""
    seed = "" if first.seed is None else f"; seed {first.seed}"
    return "\n".join(filter(None, (f"{began}{made}{seed}", race.words, race.lines)))
