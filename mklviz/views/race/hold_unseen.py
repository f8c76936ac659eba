"""Whoever watches a race keeps it going: it is held while nobody does, and cancelled if nobody comes back."""

from __future__ import annotations

import panel as pn

from mklviz.engine import Race, Run
from mklviz.views.host.visibility import Visibility

__all__ = ["HoldUnseen"]


class HoldUnseen:
    """Holds the runs of a race while the page has no connection, and lets them go on when it has one again.

    Attributes
    ----------
    decides : bool
        Whether the race is the page's own; others only look at it.
    """

    decides = True

    def __init__(self) -> None:
        self._presence = Visibility()
        self._held: list[Run] = []

    def begin(self) -> None:
        """Expect another race, of which nothing is held."""
        self._held = []

    def release(self) -> None:
        """Let what is held go on: another page looks after it now."""
        for run in self._held:
            run.start()
        self._held = []

    def look(self, race: Race, now: float) -> str:
        """Hold, cancel or resume as is due; return "here", or "back" after an absence, and something else else."""
        event = self._presence.look(self.connected(), now)
        if not self.decides:
            return event
        if event == "hold":
            self._held = [run for run in race.runs.values() if run.status == "running"]
            race.pause()
        elif event == "cancel":
            race.cancel()
        elif event == "back":
            self.release()
        return event

    def connected(self) -> bool:
        """Is there a browser on the other end?"""
        document = pn.state.curdoc  # not the figures': they are nowhere while another tab is open
        context = document.session_context if document is not None else None
        session = context.session if context is not None else None
        return session is None or session.connection_count > 0
