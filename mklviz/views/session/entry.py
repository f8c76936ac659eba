"""What is prepared in a thread and then shown in a session, so that the page never waits: a new race, or a past one."""

from __future__ import annotations

import logging
from typing import ClassVar

from mklviz.datasets import DataError
from mklviz.errors import Interrupted, MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.preparation import Preparation
from mklviz.recipe.prepared import Prepared
from mklviz.views.session.session import Session

__all__ = ["Entry"]

_log = logging.getLogger(__name__)


class Entry:
    """A recipe that is being prepared, for a race that is then shown.

    `failed` and `no_memory` say what went wrong.
    """

    failed: ClassVar[str]
    no_memory: ClassVar[str]

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.preparation = Preparation(recipe)
        self.preparation.start()

    def cancel(self) -> None:
        """Give up."""
        self.preparation.cancel()

    def enter(self, session: Session, threads: int, pace: float) -> str:
        """Show the race in `session`; return a sentence if that is impossible."""
        try:
            self.show(session, self.preparation.result(), threads, pace)
        except Interrupted:
            return ""
        except (MklvizError, DataError) as error:
            return str(error)
        except MemoryError:
            return self.no_memory
        except Exception as error:
            _log.exception(self.failed)
            return f"{self.failed} ({type(error).__name__}); the server's log says more."
        return ""

    def show(self, session: Session, prepared: Prepared, threads: int, pace: float) -> None:
        """Show the race on its prepared problem."""
        raise NotImplementedError
