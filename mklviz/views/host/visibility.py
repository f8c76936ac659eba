"""Whether anybody watches: a closed tab must not burn a core, and a lost connection must not lose the race.

A race is held when its page has had no connection for `HOLD_AFTER` seconds, and cancelled after `GIVE_UP_AFTER`. A
browser that comes back in time asks for the document, as messages to a dead socket are lost.
"""

from __future__ import annotations

from enum import Enum, auto

__all__ = ["GIVE_UP_AFTER", "HOLD_AFTER", "Connection", "Visibility"]

HOLD_AFTER = 5.0
GIVE_UP_AFTER = 360.0  # a laptop may sleep for some minutes; a page that is left says so


class Connection(Enum):
    """The state of a page's connection; some values come once after each loss."""

    OPEN = auto()
    RESUMED = auto()
    """Once: the browser has come back."""
    LOST = auto()
    LOST_FOR_LONG = auto()
    """Once: the race is to be held."""
    GIVEN_UP = auto()
    """Once: the race is to be cancelled."""

    @property
    def shows_page(self) -> bool:
        """Whether there is a browser on the other end."""
        return self in (Connection.OPEN, Connection.RESUMED)


class Visibility:
    """Turns "connected or not" at each tick into an action."""

    def __init__(self) -> None:
        self._lost_at: float | None = None
        self._held = self._gave_up = False

    def update(self, connected: bool, now: float) -> Connection:
        """Return the state of the connection."""
        if connected:
            was_lost = self._lost_at is not None
            self._lost_at, self._held, self._gave_up = None, False, False
            return Connection.RESUMED if was_lost else Connection.OPEN
        if self._lost_at is None:
            self._lost_at = now
        absent = now - self._lost_at
        if absent > GIVE_UP_AFTER and not self._gave_up:
            self._gave_up = True
            return Connection.GIVEN_UP
        if absent > HOLD_AFTER and not self._held:
            self._held = True
            return Connection.LOST_FOR_LONG
        return Connection.LOST
