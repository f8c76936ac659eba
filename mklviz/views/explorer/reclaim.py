"""The address by which others find the race of a page, and the key by which a reload finds it again."""

from __future__ import annotations

from time import monotonic

from mklviz.views.explorer.shared_races import SHARED_RACES, SharedRace
from mklviz.views.host.reconnect import Reconnect
from mklviz.views.links import FOLLOW, RACE_KEY
from mklviz.views.links.link import Address, query_value
from mklviz.views.session.session import Session
from mklviz.views.sidebar.run_panel import RunPanel

__all__ = ["Reclaim"]

RECLAIM_FOR = 10.0  # seconds in which a page that was reloaded takes its race over


class Reclaim:
    """Keeps the race of a page within reach of those who follow it, and of the page itself after a reload."""

    def __init__(self, session: Session, address: Address, run_panel: RunPanel, reconnect: Reconnect) -> None:
        self._session, self._address, self._run_panel = session, address, run_panel
        self.reconnect = reconnect  # knows whether a browser shows the page, and writes its address
        self.section = ""  # that is open, for the address
        self.shared_race = SharedRace(session, lambda: self.reconnect.present)
        self._key = ""  # of the race that the page had before a reload
        self._stored = self.kept = ""  # that race in the store; what is left of it where no page has it any more
        self._former = ""  # the key of what is left
        self._until, self._loaded = 0.0, False

    def ask(self) -> None:
        """Take note of the race that the address of the page asks for."""
        name, _, rest = query_value(RACE_KEY).partition(".")
        secret, _, self._stored = rest.partition(".")
        self._key = name and f"{name}.{secret}"

    def open(self) -> None:
        """Let the race be found, now that the page is loaded; a notebook has no address."""
        self._until, self._loaded = monotonic() + RECLAIM_FOR, bool(self.reconnect.session)
        if self._loaded:
            SHARED_RACES.open(self.shared_race)
        self.tell()

    def tell(self) -> None:
        """Keep the address of a page that has been loaded up to date, and tell others where to follow its race."""
        if self._loaded:
            has_race = self._session.race is not None
            self._run_panel.offer_link(f"?{FOLLOW}={self.shared_race.name}" if has_race else "")
            recorded = self._session.recorded
            key = self.shared_race.key if self._session.at_work else self._key
            stored = f".{recorded.race}" if recorded is not None and recorded.ids else ""
            self.reconnect.query = self._address.text(key and key + stored, page=self.section)

    def tick(self, empty: bool, now: float) -> bool:
        """Take over the race of before the reload, once its connection is gone; return whether that happened now.

        A page that is not `empty` has a race of its own.
        """
        self.reconnect.tick(now)
        if not self._key:
            return False
        taken = empty and SHARED_RACES.take_over(self._key, self.shared_race)
        if taken or not empty or now >= self._until or not SHARED_RACES.has(self._key):
            self.kept, self._former, self._key = self._stored if empty and not taken else "", self._key, ""
            self.tell()
        return taken

    def restore(self) -> None:
        """Let those who followed the race before follow what is left of it."""
        SHARED_RACES.restore(self._former, self.shared_race)
        self.tell()

    def close(self) -> None:
        """The session is over."""
        SHARED_RACES.close(self.shared_race)
