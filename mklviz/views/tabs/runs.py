"""RUNS: the races of this session and of files, to be named, shown again with every step, and laid over each other.

A pinned race is drawn in grey behind later races.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from html import escape
from time import monotonic
from typing import Any

import panel as pn

from mklviz.context.memory import LEDGER, MemoryRequest
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.quoting import MOST_NAME, named, one_line
from mklviz.record.bundle import bundle_bytes, read_bundle
from mklviz.views.export.page import race_page
from mklviz.views.form import Alert, Button, Checkbox, File, Form, FormPart, FormRow, Group, Note, TextBox
from mklviz.views.look import cards
from mklviz.views.session.race_history import KeptRace, overlaid
from mklviz.views.session.session import Session
from mklviz.views.tabs._tab import Tab

__all__ = ["Runs"]

PATIENCE = 60.0  # seconds that a file waits for memory
LOOK_SECONDS = 0.2
_log = logging.getLogger(__name__)
_NONE = "Every race that ends is kept here until this page is closed. Run one, or open a file of runs."
_HOW = (
    "Tick one race to see all its steps, or several on the same problem to compare them. Pin one to have it in grey"
    " behind the next races."
)
_PIN = "Draw objective and gap of this race in grey behind the next ones"
_MOST = f"{LIMITS.upload_bytes / 2**20:.0f} MB"
_FILE = f"One run, or a zip archive of several, as Share or mklviz --save writes them; up to {_MOST}"
_STYLE = "width: 100%; height: max(560px, calc(100vh - 130px)); border: 0; color-scheme: "


class Runs(Tab):
    """A list of races and, below it, those that were chosen, as a page of its own.

    `list`: a row for each race; `file`: opens runs from a file; `trouble`: why something cannot be shown; `shown_page`:
    the page below the list, "" where there is none.
    """

    title, order = "Runs", 30

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._revision = -1
        self._rows: dict[int, tuple[KeptRace, Checkbox]] = {}
        self._pins: dict[int, Button] = {}
        self.shown_page = ""
        self._said = Note(object=_NONE)
        self.list = Group()
        self.trouble = Alert(visible=False, closeable=True)
        self.button = Button(self.show, label="Show", variant="contained", disabled=True, width=90)
        self.file = File(label="Open a file of runs", accept=".zip,.npz", limit=LIMITS.upload_bytes, description=_FILE)
        self.file.param.watch(self._received, "value")
        self.file.param.watch(lambda event: self._say_wrong(event.new), "trouble")
        form = Form(self._said, self.trouble, self.list, FormRow(self.button, self.file, wrap=True))
        self._frame = pn.pane.HTML(margin=0, sizing_mode="stretch_width")
        self.root = pn.Column(
            cards.card(cards.html(cards.title("Races of this session")), form),
            self._frame,
            margin=(8, 0, 0, 0),
            sizing_mode="stretch_width",
        )

    def follow(self, session: Session) -> None:
        """List the session's races."""
        self._session = session
        self.root.stylesheets = [cards.variables(session.theme)]
        self._draw()
        self._list()
        self._name_pins()

    def tick(self, now: float) -> None:
        """List a race that has ended."""
        self._list()

    def _list(self) -> None:
        if self._session is None or self._session.race_history.revision == self._revision:
            return
        race_history = self._session.race_history
        self._revision = race_history.revision
        known = self._rows
        self._rows = {id(race): known.get(id(race)) or (race, self._box(race)) for race in race_history.races}
        for race, box in self._rows.values():
            box.label = race.summary  # a branch may have come
        self._pins = {key: self._pins.get(key) or self._pin(race) for key, (race, _) in self._rows.items()}
        self.list.objects = [self._row(race, box) for race, box in self._rows.values()]
        self._said.object = _HOW if race_history.races else _NONE
        self._offer()

    def _box(self, race: KeptRace) -> Checkbox:
        box = Checkbox(label=race.summary)
        box.param.watch(self._offer, "value")
        return box

    def _row(self, race: KeptRace, box: Checkbox) -> FormPart:
        name = TextBox(label="name", value=race.name)

        def rename(event: Any) -> None:
            race.name = one_line(event.new.strip(), MOST_NAME) or race.name
            if self._session is not None and race in self._session.pinned:
                self._session.pinned = (*self._session.pinned,)  # its name is in the legend

        name.param.watch(rename, "value")
        forget = Button(self._forgetting(race), label="Forget", variant="text", width=70)
        return FormRow(name, box, self._pins[id(race)], forget, wrap=True)

    def _pin(self, race: KeptRace) -> Button:
        def turn(_event: Any) -> None:
            if self._session is None:
                return
            if race in self._session.pinned:
                self._session.unpin(race)
            else:
                self._say_wrong(self._session.pin(race))

        return Button(turn, label="Pin", variant="text", width=70, description=_PIN)

    def _name_pins(self) -> None:
        """Say on the buttons which races are pinned."""
        for key, (race, _) in self._rows.items():
            pinned = self._session is not None and race in self._session.pinned
            self._pins[key].label = "Unpin" if pinned else "Pin"

    def _forgetting(self, race: KeptRace) -> Callable[..., None]:
        def forget(_event: Any) -> None:
            if self._session is not None:
                self._session.race_history.forget(race)
                self._session.unpin(race)

        return forget

    @property
    def chosen(self) -> list[KeptRace]:
        """The races that are ticked."""
        return [race for race, box in self._rows.values() if box.value]

    def _offer(self, *_: Any) -> None:
        self.button.disabled = not self.chosen

    async def show(self, *_: Any) -> None:
        """Show the races that are ticked, over each other."""
        self._say_wrong("")
        try:
            self.shown_page = await asyncio.to_thread(race_page, overlaid(self.chosen))
        except MklvizError as error:
            self._say_wrong(str(error))
            return
        self._draw()

    def _draw(self) -> None:
        """Put the page into a frame of its own, which has no access to this page."""
        if not self.shown_page or self._session is None:
            return
        scheme = "dark" if self._session.theme.dark else "light"
        self._frame.object = (
            f'<iframe title="Races shown again" sandbox="allow-scripts" style="{_STYLE}{scheme}"'
            f' srcdoc="{escape(self.shown_page)}"></iframe>'
        )

    async def _received(self, event: Any) -> None:
        if event.new is not None:
            await self.receive(event.new, self.file.filename or "The file", self.file.size)

    async def receive(self, content: bytes, name: str, size: int) -> None:
        """Read a file of runs off the event loop, and show them; any other file is refused in a sentence."""
        try:
            if not content:
                raise MklvizError(f"{named(name)} has {size / 2**20:.0f} MB; from 1 byte to {_MOST} are read.")
            request = LEDGER.line_up(partial(int, await asyncio.to_thread(bundle_bytes, content, name)), "this file")
            try:
                await self._wait_for(request)
                traces = await asyncio.to_thread(read_bundle, content, name)
            finally:
                request.leave()
        except MklvizError as error:
            self._say_wrong(str(error))
            return
        except Exception:
            _log.exception("The file %s could not be read", name)
            self._say_wrong(f"{named(name)} could not be read; the server's log says more.")
            return
        race = None if self._session is None else self._session.race_history.add(name, traces)
        if race is None:
            self._say_wrong(f"{named(name)} holds no steps, or more than can be kept here.")
            return
        self._list()
        for each, box in self._rows.values():
            box.value = each is race
        await self.show()

    async def _wait_for(self, request: MemoryRequest) -> None:
        """Wait for memory, but not for ever: the page may be closed by then."""
        said, until = self._said.object, monotonic() + PATIENCE
        try:
            while not request.admitted():
                self._said.object = request.message
                if monotonic() > until:
                    raise MklvizError("There was no memory for this file for a minute: try again when others are done.")
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._said.object = said

    def _say_wrong(self, sentence: str) -> None:
        self.trouble.param.update(object=sentence, visible=bool(sentence))

    def __panel__(self) -> Any:
        return self.root
