"""Open the tab and the step that the address of a page names: the tab at once, the step when the race reaches it."""

from __future__ import annotations

from mklviz.views.explorer.shell import Shell
from mklviz.views.links.link import STEP, TAB, query_value, unusable
from mklviz.views.session.session import Session

__all__ = ["DeepLink"]


class DeepLink:
    """Where a page opens."""

    def __init__(self, session: Session, shell: Shell) -> None:
        self._session, self._shell = session, shell
        self.step: int | None = None  # that is still to be shown

    def open(self) -> str:
        """Open the tab of the address, and its step soon; return a sentence on what does not exist."""
        wrong = [] if not query_value(TAB) or self._shell.turn_to(query_value(TAB)) else [unusable(TAB)]
        if query_value(STEP).isdecimal() and len(query_value(STEP)) < 10:
            self.step = int(query_value(STEP))
        elif query_value(STEP):
            wrong.append(unusable(STEP))
        return " ".join(wrong)

    def go_to_step(self) -> None:
        """Show the step of the address once the race has reached it or has ended before."""
        session = self._session
        if self.step is None or session.race is None:
            return
        if session.last_step >= self.step or session.race.finished:
            session.cursor = min(self.step, max(session.last_step, 0))
            self.step = None
