"""Open a recorded race: pose its problem anew, in a thread, and show its steps as if it had just ended."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from mklviz.datasets import DataError
from mklviz.engine.reopened import ReopenedRace
from mklviz.errors import Interrupted, MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.preparation import Preparation
from mklviz.record import Trace
from mklviz.views.session.session import Session

__all__ = ["Reopening"]

_log = logging.getLogger(__name__)


class Reopening:
    """A recorded race whose problem is being prepared.

    `stored`: key of the race in the store, "" where it came from elsewhere.
    """

    def __init__(self, recipe: Recipe, traces: Mapping[str, Trace], stored: str = "") -> None:
        self.recipe, self._traces, self._stored = recipe, traces, stored
        self.preparation = Preparation(recipe)
        self.preparation.start()

    def cancel(self) -> None:
        """Give up."""
        self.preparation.cancel()

    def enter(self, session: Session, threads: int, pace: float) -> str:
        """Show the race in `session`; return a sentence if that is impossible."""
        try:
            prepared = self.preparation.result()
            rules = self.recipe.stop.rules(self.recipe.convex)
            race = ReopenedRace(prepared.problem, self._traces, rules, self._stored)
            session.reopen(self.recipe, prepared, race)
        except Interrupted:
            return ""
        except (MklvizError, DataError) as error:
            return str(error)
        except MemoryError:
            return "There is not enough memory to open this race."
        except Exception as error:
            _log.exception("A recorded race could not be opened")
            return f"The race could not be opened ({type(error).__name__}); the server's log says more."
        return ""
