"""Takes all runs of the process in turn on a few worker threads, so that curves advance together and a core stays free.

Compiled solvers release the interpreter lock, so workers really run side by side with the page. Workers appear when
there is work and end two seconds after the last of it.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import os
import threading
import time
from typing import Protocol

from mklviz.engine._blas import one_blas_thread

__all__ = ["SCHEDULER", "Scheduler"]

_log = logging.getLogger(__name__)

IDLE_SECONDS = 2.0
THREAD_PREFIX = "mklviz-worker"


class Job(Protocol):
    """Something that works in turns."""

    def turn(self) -> None:
        """Do a piece of work, and submit itself again if there is more."""


class Scheduler:
    """Gives each submitted job its turn, the longest-waiting first."""

    def __init__(self, workers: int) -> None:
        self._limit = workers
        self._workers = 0
        self._waiting = 0  # workers without a job
        self._numbers = itertools.count()
        self._queue: list[tuple[float, int, Job]] = []  # due time, order of arrival, job
        self._changed = threading.Condition()

    def submit(self, job: Job, delay: float = 0.0) -> None:
        """Queue a job for a turn after `delay` seconds."""
        with self._changed:
            heapq.heappush(self._queue, (time.monotonic() + delay, next(self._numbers), job))
            if self._workers < self._limit and len(self._queue) > self._waiting:
                self._start_worker()
            self._changed.notify()

    def hurry(self, job: Job) -> None:
        """Give a waiting job its turn at once."""
        with self._changed:
            self._queue = [(0.0 if entry[2] is job else entry[0], *entry[1:]) for entry in self._queue]
            heapq.heapify(self._queue)
            self._changed.notify()

    def _start_worker(self) -> None:
        self._workers += 1
        self._waiting += 1
        name = f"{THREAD_PREFIX}-{next(self._numbers)}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        with one_blas_thread():
            while (job := self._take()) is not None:
                try:
                    job.turn()
                except Exception:  # a job keeps its own errors; one that does not must not take the worker along
                    _log.exception("A turn of %r broke down", job)
                with self._changed:
                    self._waiting += 1

    def _take(self) -> Job | None:
        """Wait for the next job that is due; None when nothing came for a while."""
        with self._changed:
            idle_until = time.monotonic() + IDLE_SECONDS
            while True:
                now = time.monotonic()
                if self._queue and self._queue[0][0] <= now:
                    self._waiting -= 1
                    return heapq.heappop(self._queue)[2]
                if not self._queue and now >= idle_until:
                    self._workers -= 1
                    self._waiting -= 1
                    return None
                due = self._queue[0][0] if self._queue else idle_until
                self._changed.wait(max(due - now, 0.0))
                if self._queue:
                    idle_until = time.monotonic() + IDLE_SECONDS


SCHEDULER = Scheduler(workers=max(1, (os.cpu_count() or 2) - 1))
