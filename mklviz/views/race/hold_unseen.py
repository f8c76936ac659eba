"""A race goes on while it is watched: a closed tab must not burn a core, and a lost connection not lose the race.

It is held when its page has had no connection for `HOLD_AFTER` seconds, and cancelled after `GIVE_UP_AFTER`.
"""

from __future__ import annotations

from mklviz.engine import Race, Run
from mklviz.views.host.page_session import GIVE_UP_AFTER, is_connected

__all__ = ["HOLD_AFTER", "PAGE_CLOSED", "HoldUnseen"]

HOLD_AFTER = 5.0
PAGE_CLOSED = "The page was closed, or without a connection for minutes; the run's steps so far are kept."


class HoldUnseen:
    """Holds the runs of a race while the page has no connection, and lets them go on when it has one again."""

    decides = True  # whether the race is the page's own, not one it follows

    def __init__(self) -> None:
        self._lost_at: float | None = None
        self._held: list[Run] = []

    def begin(self) -> None:
        """Expect another race, of which nothing is held."""
        self._held = []

    def release(self) -> None:
        """Let the held race go on: another page looks after it now."""
        for run in self._held:
            run.start()
        self._held = []

    def update(self, race: Race, now: float) -> bool:
        """Hold, cancel or resume the race as needed; return whether there is a browser on the other end."""
        if is_connected():
            self._lost_at = None
            self.release()
            return True
        self._lost_at = now if self._lost_at is None else self._lost_at
        if self.decides:
            self._keep(race, now - self._lost_at)
        return False

    def _keep(self, race: Race, absent: float) -> None:
        """Do with a race what is due when its page has been absent for so many seconds."""
        if absent > GIVE_UP_AFTER:
            race.cancel(PAGE_CLOSED)
        elif absent > HOLD_AFTER and not self._held:
            self._held = [run for run in race.runs.values() if run.status == "running"]
            if self._held:
                race.pause()
