"""RUNS: the history of all races in the store, or else of this session, and files of runs, taken in and given out."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from mklviz.context.memory import LEDGER
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.numbers import counted
from mklviz.quoting import named, one_line
from mklviz.record import Trace
from mklviz.record.bundle import bundle_bytes, read_bundle
from mklviz.record.store import Store
from mklviz.views.form import Alert, Button, File, Form, FormRow, Group, Heading, Note, Select, Switch, TextBox
from mklviz.views.form.inputs import follow
from mklviz.views.history.past_race import ORDERS, STATES, FoundRaces, PastRace, RaceList, RaceWords, Sought
from mklviz.views.host.panel_setup import with_page_locked
from mklviz.views.look import cards
from mklviz.views.session.session import KeptRace, Session, difference, overlaid, shared_recipe
from mklviz.views.sidebar.controls import say
from mklviz.views.tabs import Tab

T = TypeVar("T")

_log = logging.getLogger(__name__)
_NONE = "No race is saved here yet. Races are saved while they run: run one, or drop a file of runs."
_NONE_FOUND = "No race is like that: search for fewer words, or clear the filters."
_SEARCH = (
    "Words of the recipe, the name, tags or solvers, all of which must occur, and conditions: solver:level, data:sonar,"
    " status:converged, tag:thesis, gap<1e-3, svm<100, seconds>1, since:2026-11-01"
)
_KEEP = "Whether new races are kept on this computer. Those that are kept already stay."
_OPEN = "Show it in all tabs; several on one problem lie over each other"
_REPEAT = "Set the controls to its recipe and seed, and run it"
_BEHIND = "Draw its objective and gap in grey behind the race shown"
_MOST = f"{LIMITS.upload_bytes / 2**20:.0f} MB"
_FILE = f"Or drop it anywhere here: one run, or a zip archive of several, of Export or mklviz --save; up to {_MOST}"
_FOLLOWS = "This page follows another page's race. Races of the past are opened on a dashboard of your own."


class Runs(Tab):
    """The history: a search, the list of races, what can be done with those chosen, and words on one of them."""

    title, order = "Runs", 30

    def __init__(self) -> None:
        super().__init__()
        self.store: Store
        self.listed = FoundRaces()
        self._deleted: list[str] = []
        self._build_search()
        self._build_actions()
        self.list = RaceList(self._act)
        self.list.param.watch(self._offer, "chosen")
        self.words = RaceWords(partial(say, self.trouble))
        self._note = Note(object=_NONE)
        line = FormRow(self._note, self.keep, wrap=True)
        top = Form(Heading(object="Races"), self._store_trouble, self.trouble, self._search_rows, self._actions, line)
        self._bottom = Form(self.undo, self.words.body, margin=(8, 0, 0, 0))
        self.root = cards.column(cards.card(top, self.list, self._bottom))
        self._offer()

    def _build_search(self) -> None:
        self.search = TextBox(label="Search", placeholder="such as sonar level gap<1e-3", description=_SEARCH)
        self.state = Select(label="Ended", bare=True, options={"all states": "", **{s: s for s in STATES}}, value="")
        self.lesson = Select(label="Lesson", bare=True, options={"all lessons": ""}, value="")
        self.pinned = Select(label="Pinned", bare=True, options={"pinned or not": False, "pinned": True}, value=False)
        orders = {name: name for name in ORDERS}
        self.order_by = Select(label="Order", bare=True, options=orders, value=next(iter(orders)))
        self.keep = Switch(label="Keep my races", description=_KEEP)
        self.trouble = Alert(visible=False, closeable=True)
        self._store_trouble = Alert(visible=False, severity="warning")
        for part in (self.search, self.state, self.lesson, self.pinned, self.order_by):
            part.param.watch(lambda *_: self.look(), "value")
        filters = FormRow(self.state, self.lesson, self.pinned, self.order_by, wrap=True)
        self._search_rows = Group(self.search, filters)

    def _build_actions(self) -> None:
        self.open = Button(self.show, label="Open", variant="contained", description=_OPEN)
        self.repeat = Button(self._repeat, label="Repeat", description=_REPEAT)
        self.behind = Button(self._pin_behind, label="Draw in grey", description=_BEHIND)
        self.export = Button(self._export, label="Export", description="A file of runs, which opens here and in Python")
        self.delete = Button(self._delete, label="Delete", variant="text", description="It can be undone for a day")
        self.file = File(
            label="Open a file of runs", accept=".zip,.npz", limit=LIMITS.upload_bytes, description=_FILE, dropped=True
        )
        self.file.param.watch(self._received, "value")
        self.file.param.watch(lambda event: say(self.trouble, event.new), "trouble")
        self._chosen_note = Note(small=True)
        buttons = (self.open, self.repeat, self.behind, self.export, self.delete, self.file)
        self._actions = FormRow(*buttons, self._chosen_note, wrap=True)
        self._deleted_note = Note(spoken=True)
        self.undo = FormRow(self._deleted_note, Button(self._restore, label="Undo", variant="text"), visible=False)

    # -- what is listed

    def follow(self, session: Session) -> None:
        """List the races that the session may see."""
        if self.listed.session is None:
            follow(self.keep, session, "keeps")
        self._session = self.listed.session = session
        self.store = self.words.store = session.store
        self.keep.visible = session.can_keep and not session.follows
        self.look()

    def tick(self, now: float) -> None:
        """List what is new, while the tab is seen."""
        if not self.shown:
            return
        trouble = self.store.trouble
        shown = self.trouble.visible and self.trouble.object == trouble  # of what was just tried
        self._store_trouble.param.update(object=trouble, visible=bool(trouble) and not shown)
        if self.listed.taken(now):
            self._list()

    def look(self) -> None:
        sought = Sought(self.search.value, self.state.value, self.lesson.value, self.pinned.value, self.order_by.value)
        self.listed.look(sought)

    def _list(self) -> None:
        races = self.listed.listing
        self.search.helper_text = races.fault
        lessons = {"all lessons": "", **races.lessons}
        if lessons != self.lesson.options:
            self.lesson.offer(lessons)
        self.list.show(races.races, self._session.theme)
        none = _NONE if not races.total else _NONE_FOUND
        shown = counted(len(races.races), "race")
        of_all = "" if len(races.races) == races.total else f" of {races.total:,}"
        self._note.object = f"{shown}{of_all}. Choose one to name it, several to compare them." if races.races else none
        self._offer()

    @property
    def chosen(self) -> list[PastRace]:
        return [race for race in self.listed.listing.races if race.id in self.list.chosen]

    def _offer(self, *_: Any) -> None:
        """Offer what can be done with the races chosen."""
        chosen = self.chosen
        for button in (self.open, self.behind, self.export, self.delete):
            button.disabled = not chosen
        self.repeat.disabled = len(chosen) != 1
        self._chosen_note.object = f"{len(chosen)} chosen" if len(chosen) > 1 else ""
        self.words.show(chosen[0] if len(chosen) == 1 and chosen[0].id not in self.listed.in_memory else None)

    # -- what is done with them

    def _act(self, what: str, key: str) -> None:
        race = next((race for race in self.listed.listing.races if race.id == key), None)
        if what == "open":
            self.list.chosen = [key]
            self.open.clicks += 1
        elif race is not None and key not in self.listed.in_memory:
            self._try(lambda: self.store.describe(key, pinned=not race.first.pinned))

    def _traces(self, race: PastRace) -> Mapping[str, Trace]:
        """Return the traces of a race as they are now; of one that goes on, what there is of it."""
        kept = self.listed.in_memory.get(race.id)
        traces = self.store.traces(race.id) if kept is None else kept.traces
        return {key: trace.snapshot() for key, trace in traces.items() if len(trace)}

    def _kept(self, races: list[PastRace]) -> list[KeptRace]:
        names = [race.name for race in races]
        labels = [name if names.count(name) == 1 else f"{name} {k}" for k, name in enumerate(names, 1)]
        return [KeptRace(name, self._traces(race), race.id) for name, race in zip(labels, races, strict=True)]

    async def show(self, *_: Any) -> None:
        """Open the races chosen in the tabs, over each other."""
        chosen = self.chosen
        if not chosen:
            return
        try:
            kept = await asyncio.to_thread(self._kept, chosen)
            opened = partial(self._open, kept, chosen[0].id if len(chosen) == 1 else "")
            with_page_locked(lambda: self._try(opened))
        except MklvizError as error:
            with_page_locked(partial(say, self.trouble, str(error)))

    def _open(self, races: list[KeptRace], stored: str) -> None:
        traces = overlaid(races)
        apart = difference(traces.values())
        if apart:
            raise MklvizError(apart)
        opens = self._session.on_open
        say(self.trouble, opens(traces, stored) if opens is not None else _FOLLOWS)

    def _repeat(self, *_: Any) -> None:
        """Run the recipe of the race chosen once more."""
        traces = self._try(lambda: self._traces(self.chosen[0])) or {}
        recipe = shared_recipe(traces.values())
        repeats = self._session.on_repeat
        if recipe is None:
            say(self.trouble, "This race was recorded without its data and kernels: it cannot be repeated.")
        elif repeats is None:
            say(self.trouble, "This page follows another page's race. Races are repeated on a dashboard of your own.")
        else:
            say(self.trouble, repeats(recipe))

    def _pin_behind(self, *_: Any) -> None:
        """Draw the races chosen in grey behind the one shown, or take them off again."""
        for race in self.chosen:
            there = next((pinned for pinned in self._session.pinned if pinned.stored == race.id), None)
            if there is not None:
                self._session.unpin(there)
                continue
            traces = self._try(partial(self._traces, race))
            if traces:
                say(self.trouble, self._session.pin(KeptRace(race.name, traces, race.id)))

    def _export(self, *_: Any) -> None:
        """Let the browser save a file of the races chosen."""
        file = io.BytesIO()
        stored = [race.id for race in self.chosen if race.id not in self.listed.in_memory]
        if not stored:
            say(self.trouble, "These races are in memory alone: save them in the tab Share while they are shown.")
            return
        damaged = self._try(lambda: self.store.export(stored, file))
        if damaged is not None:
            self._bottom.hand_over("races.zip", file.getvalue())
            say(self.trouble, f"{counted(damaged, 'damaged run')} left out." if damaged else "")

    def _delete(self, *_: Any) -> None:
        """Delete the races chosen; it can be undone."""
        gone = []
        for race in self.chosen:
            kept = self.listed.in_memory.get(race.id)
            if kept is not None:
                self._session.race_history.forget(kept)
            elif self._try(partial(self._deleted_one, race.id)):
                gone.append(race.id)
        self.list.chosen = []
        self._deleted = gone
        self._deleted_note.object = f"{counted(len(gone), 'race')} deleted."
        self.undo.visible = bool(gone)
        self.look()

    def _deleted_one(self, key: str) -> bool:
        self.store.delete(key)
        return True

    def _restore(self, *_: Any) -> None:
        for key in self._deleted:
            self._try(partial(self.store.restore, key))
        self._deleted, self.undo.visible = [], False
        self.look()

    def _try(self, ask: Callable[[], T]) -> T | None:
        """Ask the store; show what goes wrong, and return None then."""
        try:
            answer = ask()
        except MklvizError as error:
            say(self.trouble, str(error))
            return None
        self.look()
        return answer

    # -- files of runs

    async def _received(self, event: Any) -> None:
        if event.new is not None:
            await self.receive(event.new, self.file.filename or "The file", self.file.size)

    async def receive(self, content: bytes, name: str, size: int) -> None:
        """Read a file of runs off the event loop, keep and open them; any other file is refused in a sentence."""
        try:
            if not content:
                raise MklvizError(f"{named(name)} has {size / 2**20:.0f} MB; from 1 byte to {_MOST} are read.")
            size = await asyncio.to_thread(bundle_bytes, content, name)
            with LEDGER.room(int(size), "this file", "open a file of fewer runs"):
                traces = await asyncio.to_thread(read_bundle, content, name)
            if not any(map(len, traces.values())):
                raise MklvizError(f"{named(name)} holds no steps.")
            keys = await asyncio.to_thread(self.store.import_file, content, name) if self.store.enabled else []
            with_page_locked(partial(self._take, name, traces, keys))
        except MklvizError as error:
            with_page_locked(partial(say, self.trouble, str(error)))
        except Exception:
            _log.exception("The file %s could not be read", name)
            wrong = f"{named(name)} could not be read; the server's log says more."
            with_page_locked(partial(say, self.trouble, wrong))

    def _take(self, name: str, traces: Mapping[str, Trace], keys: list[str]) -> None:
        """Open the runs of a file; several races are listed, for one to be chosen."""
        say(self.trouble, "")
        if not keys:
            self._session.race_history.add(name, traces)
        self.look()
        if len(keys) > 1:
            self.list.chosen = keys
            return
        begun = {key: trace for key, trace in traces.items() if len(trace)}
        self._try(partial(self._open, [KeptRace(one_line(name), begun)], keys[0] if keys else ""))

    def close(self) -> None:
        self.listed.close()
