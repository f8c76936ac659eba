"""Takes all runs of the process in turn on a few worker threads, so that curves advance together and a core stays free.

Compiled solvers release the interpreter lock, so workers really run side by side with the page. Workers appear when
there is work and end two seconds after the last of it.

Time is shared out between parties, not between runs: a party is a race, however many solvers it has, and the one that
has had the least time is served next (start-time fair queueing: Goyal, Vin, Cheng, 1996). A step that takes long is
left in the middle, wherever it asks whether it is still wanted, and taken up again when its party's turn has come. A
step that does not ask for many seconds loses its worker to the others, and after a minute its run is given up. While
its thread compiles, or waits until another one has, it cannot ask: those seconds do not count toward the minute.
"""

from __future__ import annotations

import itertools
import logging
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Protocol

from mklviz.context.blas import one_blas_thread
from mklviz.context.meter import compiled_at

_log = logging.getLogger(__name__)

SLICE_SECONDS = 0.1  # of one turn while others wait
THREAD_PREFIX = "mklviz-worker"


@dataclass(eq=False)
class TimeShare:
    """Time of the workers that the runs of a race have as one."""

    served: float = 0.0  # seconds of worker time that it has had, or is charged with while it asked for none


class Job(Protocol):
    """Something that works in turns."""

    party: TimeShare

    def turn(self) -> None:
        """Do a piece of work, and submit itself again if there is more."""

    def give_up(self, thread: int) -> None:
        """End for good: a turn in that thread has not been heard of for a minute."""


@dataclass(eq=False)
class _ActiveJob:
    """One that is under way."""

    job: Job
    since: float  # when its worker's time was last counted
    heard: float
    thread: int
    alone: bool = False  # goes on beside the workers, as it did not answer
    given_up: bool = False

    def silence(self, now: float) -> float:
        """Return the seconds for which nothing was heard of it though it did not compile."""
        return now - max(self.heard, compiled_at(self.thread))


@dataclass(eq=False)
class _Waiting:
    """A job that waits for its turn, or for a worker to go on with one."""

    due: float
    number: int
    job: Job
    left: bool = False  # in the middle of a turn
    go_on: threading.Event = field(default_factory=threading.Event)

    def rank(self) -> tuple[bool, float, int]:
        return self.due > 0.0, self.job.party.served, self.number  # who is in a hurry comes first


class Scheduler:
    """Gives each submitted job its turn, that of the party with the least time so far first.

    `workers`: turns at the same time.
    """

    idle_seconds = 2.0
    silent_seconds, lost_seconds = 10.0, 60.0  # after which a silent turn loses its worker to others, and is given up
    niceness = 0  # of workers that begin from now on: how far they step back behind its other threads

    def __init__(self, workers: int) -> None:
        self._limit = workers
        self.renew()

    def renew(self) -> None:
        """Begin anew without workers and jobs: a forked process inherits neither."""
        self._busy = 0  # workers' places that are taken
        self._workers = self._free = 0  # threads, and those of them without a job
        self._numbers = itertools.count()
        self._queue: list[_Waiting] = []
        self._turns: dict[int, _ActiveJob] = {}  # by thread
        self._changed = threading.Condition()
        self._clock = 0.0  # what the party served last had had
        self._watched = False

    def submit(self, job: Job, delay: float = 0.0) -> None:
        """Queue a job for a turn after `delay` seconds."""
        with self._changed:
            self._add(_Waiting(time.monotonic() + delay, next(self._numbers), job))

    def hurry(self, job: Job) -> None:
        """Give a waiting job its turn at once."""
        with self._changed:
            for waiting in self._queue:
                if waiting.job is job:
                    waiting.due = 0.0
            self._changed.notify_all()

    def ahead(self, job: Job) -> int:
        """Return how many other parties will be served before a job that waits; 0 while it has its turn."""
        with self._changed:
            mine = next((waiting for waiting in self._queue if waiting.job is job), None)
            now = time.monotonic()
            if mine is None or mine.due > now:
                return 0
            before = {id(other.job.party) for other in self._queue if other.due <= now and other.rank() < mine.rank()}
            before |= {id(turn.job.party) for turn in self._turns.values() if not turn.alone}
            return len(before - {id(job.party)})

    def share(self) -> None:
        """Let others work if they wait and this turn has lasted long; called in the middle of one."""
        turn, now = self._turns.get(threading.get_ident()), time.monotonic()
        if turn is None:
            return
        turn.heard = now
        if turn.alone or now - turn.since < SLICE_SECONDS:
            return
        with self._changed:
            self._count(turn, now)
            mine = _Waiting(now, next(self._numbers), turn.job, left=True)
            rival = self._next(now)
            if rival is None or rival.rank() > mine.rank():
                return
            self._busy -= 1
            self._add(mine)
        mine.go_on.wait()
        turn.since = turn.heard = time.monotonic()

    def answers(self, job: Job) -> bool:
        """Whether a turn of `job` has been heard of lately, if it has one."""
        with self._changed:
            return not any(turn.alone and turn.job is job for turn in self._turns.values())

    def _add(self, waiting: _Waiting) -> None:
        party = waiting.job.party
        party.served = max(party.served, self._clock)  # a party that asked for nothing has saved up no time
        self._queue.append(waiting)
        self._hire()
        self._changed.notify_all()

    def _hire(self) -> None:
        """Start a worker if there is a place for one and none is free."""
        if self._queue and self._free == 0 and self._busy < self._limit:
            self._workers += 1
            self._free += 1
            name = f"{THREAD_PREFIX}-{next(self._numbers)}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        if self._workers and not self._watched:
            self._watched = True
            threading.Thread(target=self._watch, name="mklviz-watchdog", daemon=True).start()

    def _work(self) -> None:
        if sys.platform == "linux" and self.niceness:  # elsewhere a thread has no niceness of its own
            process = os.getpriority(os.PRIO_PROCESS, os.getpid())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(process + self.niceness, 19))
        with one_blas_thread():
            while (turn := self._take()) is not None:
                try:
                    turn.job.turn()
                except BaseException:  # a job handles its own errors; one that does not must not end the worker
                    _log.exception("A turn of %r broke down", turn.job)
                over = self._ended(turn)
                del turn  # a worker that waits for its next job keeps no race in memory
                if over:
                    return

    def _ended(self, turn: _ActiveJob) -> bool:
        """Take a turn off the books; return whether its worker has been replaced meanwhile."""
        with self._changed:
            del self._turns[turn.thread]
            self._count(turn, time.monotonic())
            if turn.alone:
                self._workers -= 1
            else:
                self._busy -= 1
                self._free += 1
            return turn.alone

    def _count(self, turn: _ActiveJob, now: float) -> None:
        turn.job.party.served += now - turn.since
        turn.since = now

    def _next(self, now: float) -> _Waiting | None:
        return min((waiting for waiting in self._queue if waiting.due <= now), key=_Waiting.rank, default=None)

    def _take(self) -> _ActiveJob | None:
        """Wait for the next job that is due; None when nothing came for a while."""
        with self._changed:
            idle_since = time.monotonic()
            while True:
                now = time.monotonic()
                waiting = self._next(now) if self._busy < self._limit else None
                if waiting is not None:
                    self._queue.remove(waiting)
                    self._busy += 1
                    if waiting.due > 0.0:
                        self._clock = max(self._clock, waiting.job.party.served)
                    idle_since = now
                    if waiting.left:  # its own thread goes on
                        waiting.go_on.set()
                        continue
                    self._free -= 1
                    turn = _ActiveJob(waiting.job, now, now, threading.get_ident())
                    self._turns[turn.thread] = turn
                    self._hire()  # for a place beside this one
                    return turn
                if now >= idle_since + self.idle_seconds and (not self._queue or self._free > 1):
                    self._workers -= 1
                    self._free -= 1
                    return None
                due = min((waiting.due for waiting in self._queue), default=idle_since + self.idle_seconds)
                self._changed.wait(max(due - now, 0.0) if self._busy < self._limit else self.idle_seconds)

    def _watch(self) -> None:
        """Look after turns that do not answer, as long as there are workers."""
        while True:
            time.sleep(min(1.0, self.silent_seconds / 4))
            with self._changed:
                if not self._workers:
                    self._watched = False
                    return
                now = time.monotonic()
                silent = [turn for turn in self._turns.values() if now - turn.heard > self.silent_seconds]
                for turn in silent:
                    if not turn.alone and not any(waiting.left and waiting.job is turn.job for waiting in self._queue):
                        turn.alone = True
                        self._busy -= 1
                        self._hire()
                        self._changed.notify_all()
                lost = [turn for turn in silent if turn.alone and turn.silence(now) > self.lost_seconds]
            for turn in lost:
                if not turn.given_up:
                    turn.given_up = True
                    turn.job.give_up(turn.thread)


SCHEDULER = Scheduler(workers=max(1, (os.cpu_count() or 2) - 1))

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SCHEDULER.renew)
