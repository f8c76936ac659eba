"""Takes all runs of the process in turn on a few worker threads, so that curves advance together and a core stays free.

Compiled solvers release the interpreter lock, so workers really run side by side with the page. Workers appear when
there is work and end two seconds after the last of it.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from typing import Protocol

from threadpoolctl import threadpool_limits

__all__ = ["SCHEDULER", "Scheduler"]

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
        self._numbers = itertools.count()
        self._queue: list[tuple[float, int, Job]] = []  # due time, order of arrival, job
        self._changed = threading.Condition()
        self._blas: threadpool_limits | None = None

    def submit(self, job: Job, delay: float = 0.0) -> None:
        """Queue a job for a turn after `delay` seconds."""
        with self._changed:
            heapq.heappush(self._queue, (time.monotonic() + delay, next(self._numbers), job))
            if self._workers < min(self._limit, len(self._queue)):
                self._start_worker()
            self._changed.notify()

    def hurry(self, job: Job) -> None:
        """Give a waiting job its turn at once."""
        with self._changed:
            self._queue = [(0.0 if entry[2] is job else entry[0], *entry[1:]) for entry in self._queue]
            heapq.heapify(self._queue)
            self._changed.notify()

    def _start_worker(self) -> None:
        if self._workers == 0:  # one BLAS thread per solver: fair clocks, no fight over the cores
            self._blas = threadpool_limits(limits=1, user_api="blas")
        self._workers += 1
        name = f"{THREAD_PREFIX}-{next(self._numbers)}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while (job := self._take()) is not None:
            job.turn()

    def _take(self) -> Job | None:
        """Wait for the next job that is due; None when nothing came for a while."""
        with self._changed:
            idle_until = time.monotonic() + IDLE_SECONDS
            while True:
                now = time.monotonic()
                if self._queue and self._queue[0][0] <= now:
                    return heapq.heappop(self._queue)[2]
                if not self._queue and now >= idle_until:
                    self._retire()
                    return None
                due = self._queue[0][0] if self._queue else idle_until
                self._changed.wait(max(due - now, 0.0))
                if self._queue:
                    idle_until = time.monotonic() + IDLE_SECONDS

    def _retire(self) -> None:
        self._workers -= 1
        if self._workers == 0 and self._blas is not None:
            self._blas.restore_original_limits()
            self._blas = None


SCHEDULER = Scheduler(workers=max(1, (os.cpu_count() or 2) - 1))
