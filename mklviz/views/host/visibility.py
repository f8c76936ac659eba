"""Is anybody watching? A closed tab must not burn a core, and a lost connection must not lose the race.

Without a websocket for `HOLD_AFTER` seconds the race is held, after `GIVE_UP_AFTER` it is cancelled; a browser that
comes back in time gets everything once more, since messages sent to a dead socket are gone.
"""

from __future__ import annotations

__all__ = ["GIVE_UP_AFTER", "HOLD_AFTER", "Visibility"]

HOLD_AFTER = 5.0
GIVE_UP_AFTER = 60.0


class Visibility:
    """Turns "connected or not" at each tick into what is to be done."""

    def __init__(self) -> None:
        self._away_since: float | None = None
        self._held = self._gave_up = False

    def look(self, connected: bool, now: float) -> str:
        """Return "here", "back" (send everything again), "away" (wait), "hold" or "cancel" (each once)."""
        if connected:
            was_away = self._away_since is not None
            self._away_since, self._held, self._gave_up = None, False, False
            return "back" if was_away else "here"
        if self._away_since is None:
            self._away_since = now
        absent = now - self._away_since
        if absent > GIVE_UP_AFTER and not self._gave_up:
            self._gave_up = True
            return "cancel"
        if absent > HOLD_AFTER and not self._held:
            self._held = True
            return "hold"
        return "away"
