"""One sweep at a time on a server: each takes all the processes that there are to have."""

from __future__ import annotations

import threading

from mklviz.errors import MklvizError
from mklviz.sweeps import SweepRun

__all__ = ["RUNNING_SWEEPS", "RunningSweeps"]


class RunningSweeps:
    """The sweep that pages of this process have begun."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run: SweepRun | None = None

    def begin(self, run: SweepRun) -> None:
        """Start a sweep; raise `MklvizError` while another goes on."""
        with self._lock:
            if self._run is not None and self._run.status in ("running", "paused"):
                raise MklvizError(
                    "Another sweep is going on on this server, perhaps on another page: start this one when it has"
                    " ended."
                )
            self._run = run
            run.start()


RUNNING_SWEEPS = RunningSweeps()
