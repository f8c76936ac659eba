"""The list of races: one component, whatever their number. The browser asks for the rows that it is about to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar

import param

from mklviz.engine import solver_classes
from mklviz.errors import MklvizError
from mklviz.quoting import MOST_NAME, one_line
from mklviz.record.store import Store, StoredRun
from mklviz.record.store.stored import CUT_OFF
from mklviz.views.form import FormRow, Group, Note, TextBox
from mklviz.views.history.past_race import ENDED, PastRace, when
from mklviz.views.host.beside import CONTROLS, beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.look.palette import LIGHT, RunStyle, Theme, swatch
from mklviz.views.look.styles import own_style

PAGE = 40  # rows that are sent at once


class RaceList(ScriptedComponent):
    """Races as rows that scroll, of which those in view are drawn; `act` takes "open" or "pin", and a race's key."""

    total = param.Integer(default=0)
    version = param.Integer(default=0, doc="Grows when rows say something else")
    first = param.List(default=[], doc="The first page of rows")
    chosen = param.List(default=[], doc="Keys of the races that are ticked")

    _esm = CONTROLS + beside(__file__, "race_list.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "race_list.css")]

    def __init__(self, act: Callable[[str, str], None], **params: Any) -> None:
        super().__init__(**{"sizing_mode": "stretch_width", "margin": 0, **params})
        self._act, self._races, self._theme = act, list[PastRace](), LIGHT

    def show(self, races: Sequence[PastRace], theme: Theme) -> None:
        self._races, self._theme = list(races), theme
        there = {race.id for race in races}
        chosen = [key for key in self.chosen if key in there]
        self.param.update(total=len(races), first=self.rows(0), version=self.version + 1, chosen=chosen)

    def rows(self, page: int) -> list[dict[str, Any]]:
        """Return what stands in the rows of a page."""
        now = datetime.now().astimezone()
        return [self._row(race, now) for race in self._races[page * PAGE : (page + 1) * PAGE]]

    def _row(self, race: PastRace, now: datetime) -> dict[str, Any]:
        first = race.first
        return {
            "id": race.id,
            "name": race.name,
            "words": race.words,
            "lesson": race.lesson,
            "tags": list(first.tags),
            "pinned": first.pinned,
            "when": when(first.created, now),
            "at": f"{datetime.fromtimestamp(first.created):%A, %d %B %Y, %H:%M:%S}",
            "state": "" if race.state == ENDED else race.state,
            "result": race.result,
            "solvers": [[run.label, swatch(_style(run, self._theme))] for run in race.runs],
        }

    def receive(self, message: Any) -> None:
        """Send rows that are asked for, or take what the visitor did to one."""
        page, done, key = (message.get(name) for name in ("page", "act", "id"))
        if type(page) is int and 0 <= page * PAGE < len(self._races):
            self.send({"page": page, "version": self.version, "rows": self.rows(page)})
        elif done in ("open", "pin") and any(race.id == key for race in self._races):
            self._act(done, key)


def _style(run: StoredRun, theme: Theme) -> RunStyle:
    """Return the style of a run's solver; a branch is dashed in figures alone, for its label says where it began."""
    kind = solver_classes().get(run.solver)
    return RunStyle(run.label, theme.muted, "solid", "circle") if kind is None else own_style(kind, run.label, theme)


# What a person says of a race in the store, name, tags and note, and what each of its runs came to.

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
        self._about, self._cut_off = Note(), Note(object=_CUT_OFF, visible=False)
        self.body = Group(
            self._cut_off, FormRow(self.name, self.tags, wrap=True), self.note, self._about, visible=False
        )
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
        self._about.object = _facts_html(race)

    def _fill(self, race: PastRace) -> None:
        self._filling = True
        try:
            self.name.value, self.note.value = race.name, race.first.note
            self.tags.value = ", ".join(race.first.tags)
        finally:
            self._filling = False

    def _say(self, _event: Any) -> None:
        if self._filling or self._race is None or self.store is None:
            return
        tags = [one_line(tag.strip(), MOST_NAME) for tag in self.tags.value.split(",")]
        name = one_line(self.name.value.strip(), MOST_NAME) or self._race.name
        try:
            tags = list(dict.fromkeys(filter(None, tags)))
            self.store.describe(self._race.id, name=name, note=self.note.value.strip(), tags=tags)
        except MklvizError as error:
            self._say_wrong(str(error))


def _facts_html(race: PastRace) -> str:
    """Return when and where a race ran, its recipe, and each of its runs in a line."""
    first = race.first
    began = f"{datetime.fromtimestamp(first.created):%A, %d %B %Y, %H:%M:%S}"
    made = f", made in the {first.made_by}" if first.made_by in ("dashboard", "notebook") else ""
    seed = "" if first.seed is None else f"; seed {first.seed}"
    return "\n".join(filter(None, (f"{began}{made}{seed}", race.words, race.lines)))
