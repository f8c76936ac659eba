"""Races by names that cannot be guessed: a page that was reloaded finds its own again, and others follow a teacher's.

Every page has a room with two names. The `name` lets a visitor look; the `key`, which begins with the name, takes
the race over when no page is in the room any more. A room is gone when its page is, or its server; the page that
finds its race in the store then gives its new room the names of the old one.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from mklviz.views.host.page_session import Reconnect
from mklviz.views.lessons.pooled import PooledAnswers
from mklviz.views.links import FOLLOW, RACE_KEY, name_of_this_process
from mklviz.views.links.link import Address, query_value
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import RunPanel

_KEY = re.compile(r"([\w-]{16})\.[\w-]{16}", re.ASCII)


def _unguessable() -> str:
    return secrets.token_urlsafe(12)


@dataclass(eq=False)
class SharedRace:
    """A page that has a race, a sweep, or answers of a class."""

    session: Session
    present: Callable[[], bool]  # returns whether a browser shows the page
    # `name`: others follow it by this; `key`: a reload takes it over by this
    name: str = field(default_factory=lambda: name_of_this_process(_unguessable))
    key: str = field(default="", init=False)
    left: bool = False  # whether another page has taken the race over
    wake: Callable[[], None] = lambda: None  # called when it has, as a hidden page does not look

    def __post_init__(self) -> None:
        self.key = f"{self.name}.{_unguessable()}"
        self.answers = PooledAnswers(self.session.store, self.name)

    @property
    def at_work(self) -> bool:
        """Whether there is what a page that is reloaded takes over."""
        return self.session.at_work or bool(self.answers.questions)


class SharedRaces:
    """The rooms of this process; used from the thread of its event loop alone."""

    def __init__(self) -> None:
        self._rooms: dict[str, SharedRace] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    def open(self, room: SharedRace) -> None:
        self._rooms[room.name] = room

    def close(self, room: SharedRace) -> None:
        """Let the room be found no more; one that took its names over stays."""
        if self._rooms.get(room.name) is room:
            del self._rooms[room.name]

    def find(self, name: str) -> SharedRace | None:
        return self._rooms.get(name)

    def by_key(self, key: str) -> SharedRace | None:
        """Return the room with that key, None where there is none."""
        encoded = key.encode(errors="replace")  # text from a link: digests are compared of ASCII or bytes only
        return next((room for room in self._rooms.values() if secrets.compare_digest(room.key.encode(), encoded)), None)

    def take_over(self, key: str, mine: SharedRace) -> bool:
        """Take over race, sweep and names of the room with that key, if it has any and no page is in it."""
        old = self.by_key(key)
        if old is None or old is mine or old.present() or not old.at_work:
            return False
        if old.session.owner != mine.session.owner:  # a link that was passed on shows others no race
            return False
        self.close(mine)
        old.left, mine.name, mine.key, mine.answers = True, old.name, old.key, old.answers
        old.wake()
        self.open(mine)
        mine.session.take(old.session)
        mine.session.sweep, old.session.sweep = old.session.sweep, None  # which ends with the page that has it
        return True

    def restore(self, key: str, mine: SharedRace) -> None:
        """Give a room the names of one that is gone, so that pages that followed its race follow it again."""
        if (known := _KEY.fullmatch(key)) and known[1] not in self._rooms:
            self.close(mine)
            mine.name, mine.key = known[1], key
            mine.answers = PooledAnswers(mine.session.store, mine.name)
            self.open(mine)


SHARED_RACES = SharedRaces()


GONE = "The race of this link is not here any more. If it was kept, it is under Runs."
OTHERS = "The race of this link belongs to another visitor, who finds a link for others to follow it under Run."
ELSEWHERE = "The race of this link is on another page of yours. To see it here as well, open the link under Run there."


class PageRecovery:
    """Keeps the race of a page within reach of those who follow it, and of the page itself after a reload."""

    def __init__(self, session: Session, address: Address, run_panel: RunPanel, reconnect: Reconnect) -> None:
        self._session, self._address, self._run_panel = session, address, run_panel
        self.reconnect = reconnect  # knows whether a browser shows the page, and writes its address
        self.section = ""  # that is open, for the address
        self.shared_race = SharedRace(session, lambda: self.reconnect.present)
        self._key = ""  # of the race that the page had before a reload
        self._stored = self.kept = ""  # that race in the store; what is left of it where no page has it any more
        self.where = ""  # a sentence on where that race is, once it is known that this page cannot have it
        self.awaits = False  # whether the page is to show that race, and no recording of another
        self._former = ""  # the key of what is left
        self._until, self._loaded, self.recover_for = 0.0, False, 10.0  # seconds for a reloaded page to have its race

    def ask(self) -> None:
        """Take note of the race that the address of the page asks for."""
        name, _, rest = query_value(RACE_KEY).partition(".")
        secret, _, self._stored = rest.partition(".")
        self._key = name and f"{name}.{secret}"
        self.awaits = bool(name)

    def open(self) -> None:
        """Let the race be found, now that the page is loaded; a notebook has no address."""
        self._until, self._loaded = monotonic() + self.recover_for, bool(self.reconnect.session)
        if self._loaded:
            SHARED_RACES.open(self.shared_race)
        self.tell()

    def tell(self) -> None:
        """Keep the address of a page that has been loaded up to date, and tell others where to follow its race."""
        if self._loaded:
            followed = self._session.race is not None or self._address.sidebar.scenario.lesson.open
            self._session.room = f"?{FOLLOW}={self.shared_race.name}" if followed else ""
            self._run_panel.offer_link(self._session.room)
            recorded = self._session.recorded
            key = self.shared_race.key if self.shared_race.at_work else self._key
            kept = recorded is not None and recorded.ids
            stored = recorded.race if recorded is not None and kept else getattr(self._session.race, "stored", "")
            self.reconnect.query = self._address.text(key and ".".join(filter(None, (key, stored))), page=self.section)

    def tick(self, empty: bool, now: float) -> bool:
        """Take over the race of before the reload unless the page has one; return whether that happened now."""
        if not self._key:
            return False
        taken = empty and SHARED_RACES.take_over(self._key, self.shared_race)
        if taken or not empty or now >= self._until or SHARED_RACES.by_key(self._key) is None:
            gone = empty and not taken
            self.where = self._where() if gone else ""
            self.kept = self._stored if self.where in (GONE, OTHERS) else ""
            self._former, self._key = self._key, ""
            if self.where == GONE and not self._stored:
                self._restore_answers()
            self.tell()
        return taken

    def _where(self) -> str:
        room = SHARED_RACES.by_key(self._key)
        if room is None:
            return GONE
        return OTHERS if room.session.owner != self._session.owner else ELSEWHERE

    def restore(self) -> None:
        """Let those who followed the race before follow what is left of it."""
        SHARED_RACES.restore(self._former, self.shared_race)
        self.tell()

    def _restore_answers(self) -> None:
        """Go on with the answers of a class, where this visitor led it and there was no race yet."""
        known = _KEY.fullmatch(self._former)
        if known and PooledAnswers(self._session.store, known[1]).questions:
            self.restore()
            self.where, self.awaits = "", False

    def close(self) -> None:
        SHARED_RACES.close(self.shared_race)
