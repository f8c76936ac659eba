"""One sweep at a time on a server: each takes all the processes that there are to have."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mklviz.errors import MklvizError
from mklviz.sweeps import SweepRun

__all__ = ["RUNNING_SWEEPS", "RunningSweeps"]


class RunningSweeps:
    """The sweep that pages of this process have begun."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run: SweepRun | None = None

    def begin(self, run: SweepRun) -> None:
        """Start a sweep; raise `MklvizError` while another goes on. One that is paused keeps nobody waiting."""
        self._go_on(run, run.start)

    def resume(self, run: SweepRun) -> None:
        """Go on with a sweep that was paused; raise `MklvizError` while another goes on."""
        self._go_on(run, run.resume)

    def _go_on(self, run: SweepRun, go: Callable[[], None]) -> None:
        with self._lock:
            if self._run is not None and self._run is not run and self._run.status == "running":
                raise MklvizError(
                    "Another sweep is going on on this server, perhaps on another page: start this one when it has"
                    " ended."
                )
            self._run = run
            go()


RUNNING_SWEEPS = RunningSweeps()
