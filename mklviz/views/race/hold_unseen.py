"""A race goes on while it is watched: it is held while it is not, and cancelled if no browser comes back."""

from __future__ import annotations

from collections.abc import Callable

from mklviz.engine import Race, Run
from mklviz.views.host.page_session import is_connected
from mklviz.views.host.visibility import Connection, Visibility

__all__ = ["PAGE_CLOSED", "HoldUnseen"]

PAGE_CLOSED = "The page was closed, or without a connection for minutes; the run's steps so far are kept."


class HoldUnseen:
    """Holds the runs of a race while the page has no connection, and lets them go on when it has one again."""

    decides = True  # whether the race is the page's own, not one it follows

    def __init__(self, on_return: Callable[[], None]) -> None:
        self._on_return = on_return
        self._visibility = Visibility()
        self._held: list[Run] = []

    def begin(self) -> None:
        """Expect another race, of which nothing is held."""
        self._held = []

    def release(self) -> None:
        """Let the held race go on: another page looks after it now."""
        for run in self._held:
            run.start()
        self._held = []

    def update(self, race: Race, now: float) -> Connection:
        """Hold, cancel or resume the race as needed; return the state of the page's connection."""
        connection = self._visibility.update(is_connected(), now)
        if self.decides:
            self._keep_going(race, connection)
        if connection is Connection.RESUMED:
            self._on_return()
        return connection

    def _keep_going(self, race: Race, connection: Connection) -> None:
        if connection is Connection.LOST_FOR_LONG:
            self._held = [run for run in race.runs.values() if run.status == "running"]
            race.pause()
        elif connection is Connection.GIVEN_UP:
            race.cancel(PAGE_CLOSED)
        elif connection is Connection.RESUMED:
            self.release()
