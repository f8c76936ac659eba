"""A race of the past whose problem is posed anew, in a thread, before it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from mklviz.engine.reopened import ReopenedRace
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.views.session.launcher import Entry
from mklviz.views.session.session import Session

__all__ = ["Reopening"]


class Reopening(Entry):
    """A recorded race whose problem is being prepared.

    `stored`: key of the race in the store, "" where it came from elsewhere.
    """

    failed = "The race could not be opened"
    no_memory = "There is not enough memory to open this race."

    def __init__(self, recipe: Recipe, traces: Mapping[str, Trace], stored: str = "") -> None:
        self._traces, self._stored = traces, stored
        super().__init__(recipe)

    def show(self, session: Session, prepared: Prepared, threads: int, pace: float) -> None:
        """Show the recorded steps; nothing is started."""
        rules = self.recipe.stop.rules(self.recipe.convex)
        session.reopen(ReopenedRace(prepared.problem, self._traces, rules, self._stored), self.recipe, prepared)
