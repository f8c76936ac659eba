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

from mklviz.views.host.process_of import name_of_this_process
from mklviz.views.session.session import Session

__all__ = ["SHARED_RACES", "SharedRace", "SharedRaces"]


_KEY = re.compile(r"([\w-]{16})\.[\w-]{16}", re.ASCII)


def _unguessable() -> str:
    return secrets.token_urlsafe(12)


@dataclass(eq=False)
class SharedRace:
    """A page that has a race, or a sweep."""

    session: Session
    present: Callable[[], bool]  # returns whether a browser shows the page
    # `name`: others follow it by this; `key`: a reload takes it over by this
    name: str = field(default_factory=lambda: name_of_this_process(_unguessable))
    key: str = field(default="", init=False)
    left: bool = False  # whether another page has taken the race over

    def __post_init__(self) -> None:
        self.key = f"{self.name}.{_unguessable()}"


class SharedRaces:
    """The rooms of this process; used from the thread of its event loop alone."""

    def __init__(self) -> None:
        self._rooms: dict[str, SharedRace] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    def open(self, room: SharedRace) -> None:
        """Let the room be found."""
        self._rooms[room.name] = room

    def close(self, room: SharedRace) -> None:
        """Let the room be found no more; one that took its names over stays."""
        if self._rooms.get(room.name) is room:
            del self._rooms[room.name]

    def find(self, name: str) -> SharedRace | None:
        """Return the room of that name."""
        return self._rooms.get(name)

    def has(self, key: str) -> bool:
        """Return whether there is a room with that key."""
        return self._by_key(key) is not None

    def _by_key(self, key: str) -> SharedRace | None:
        encoded = key.encode(errors="replace")  # text from a link: digests are compared of ASCII or bytes only
        return next((room for room in self._rooms.values() if secrets.compare_digest(room.key.encode(), encoded)), None)

    def take_over(self, key: str, mine: SharedRace) -> bool:
        """Take over race, sweep and names of the room with that key, if it has any and no page is in it."""
        old = self._by_key(key)
        if old is None or old is mine or old.present() or not old.session.at_work:
            return False
        if old.session.owner != mine.session.owner:  # a link that was passed on shows others no race
            return False
        self.close(mine)
        old.left, mine.name, mine.key = True, old.name, old.key
        self.open(mine)
        mine.session.take(old.session)
        mine.session.sweep, old.session.sweep = old.session.sweep, None  # which ends with the page that has it
        return True

    def restore(self, key: str, mine: SharedRace) -> None:
        """Give a room the names of one that is gone, so that whoever followed its race follows it again."""
        if (known := _KEY.fullmatch(key)) and known[1] not in self._rooms:
            self.close(mine)
            mine.name, mine.key = known[1], key
            self.open(mine)


SHARED_RACES = SharedRaces()
