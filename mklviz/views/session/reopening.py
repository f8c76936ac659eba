"""Open a recorded race: pose its problem anew, in a thread, and show its steps as if it had just ended.

Where its data are not at hand, its steps are shown alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from mklviz.engine.reopened import ReopenedRace, UnposedProblem
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.views.session.launcher import Entry
from mklviz.views.session.session import Session

__all__ = ["NO_RECIPE", "Reopening", "show_unposed"]

NO_RECIPE = (
    "This race was recorded without its data and kernels, so its problem cannot be posed again: only what its"
    " steps say can be shown."
)


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
        session.reopen(self.recipe, prepared, ReopenedRace(prepared.problem, self._traces, rules, self._stored))


def show_unposed(session: Session, traces: Mapping[str, Trace], stored: str, missing: str) -> str:
    """Show recorded steps without their problem, and why it is `missing`; return why that is impossible, or ""."""
    try:
        race = ReopenedRace(UnposedProblem(traces.values(), missing), traces, stored=stored)
    except MklvizError as error:
        return str(error)
    session.reopen_unposed(race)
    return ""
