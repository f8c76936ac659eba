"""Processes on this machine, each with one thread; a process that dies is replaced, and its member solved again."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from mklviz.errors import MklvizError, SolverError
from mklviz.numbers import is_whole
from mklviz.sweeps.command import CANCEL, GO_ON
from mklviz.sweeps.engine import Work
from mklviz.sweeps.member import Member
from mklviz.sweeps.outcome import MemberOutcome
from mklviz.sweeps.process_worker import Assignment

__all__ = ["Processes", "usual_workers"]

LOOK_SECONDS = 0.1  # between looks at what is asked for
PATIENCE_SECONDS = 3.0  # for processes that were asked to end
HINT = "perhaps there is not enough memory, or their error stream says more."
LOST = f"The process that solved it ended before its time, three times: {HINT}"
MOST_LOST = 12
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_PROGRAM = "from mklviz.sweeps.process_worker import main; main()"


def usual_workers() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class Processes:
    """Solve the members of a sweep in processes on this machine, which serve several sweeps inside a ``with``.

    Parameters
    ----------
    workers : int, optional
        How many; by default one for each core.

    Raises
    ------
    MklvizError
        If that is no whole number of at least 1.
    """

    def __init__(self, workers: int | None = None) -> None:
        if not (workers is None or (is_whole(workers) and workers > 0)):
            raise MklvizError(f"Workers are a whole number of at least 1, but {workers!r:.80} was given.")
        self._workers = usual_workers() if workers is None else int(workers)
        self._pool: _Pool | None = None
        self._inbox = _Inbox()
        self._waiting: list[_Process] = []
        self._kept = False

    def __enter__(self) -> Processes:
        self._kept = True
        return self

    def __exit__(self, *error: object) -> None:
        self._kept = False
        for process in self._waiting:
            process.end()
        self._waiting = []

    def __repr__(self) -> str:
        return f"Processes({self._workers})"

    @property
    def workers(self) -> int:
        """How many members are solved at once."""
        return self._workers

    @property
    def pids(self) -> list[int]:
        """The processes at work now, or kept for another sweep."""
        return [process.pid for process in self._waiting] if self._pool is None else self._pool.pids

    def share(self, members: Sequence[Member]) -> tuple[Member, ...]:
        """Return all of them."""
        return tuple(members)

    def run(self, work: Work) -> None:
        """Solve all of the queue, and return when that is done or the command says to end."""
        self._pool = _Pool(self.workers, work, self._waiting, self._inbox)
        try:
            self._pool.run()
        finally:
            self._waiting = self._pool.leave(self._kept)
            self._pool = None


_Inbox = queue.SimpleQueue["tuple[_Process, MemberOutcome | None]"]


class _Process:
    """One process, which puts the results, and at last None, into a queue."""

    def __init__(self, inbox: _Inbox) -> None:
        self.member: Member | None = None
        self._inbox = inbox

    def start(self) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for the process that started it, which asks it to end
        )
        threading.Thread(target=self._read, name="mklviz-sweep-worker", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def send(self, message: Assignment | str) -> None:
        assert self._popen.stdin is not None
        with suppress(OSError, ValueError):  # where it has died, None will be read from it
            pickle.dump(message, self._popen.stdin)
            self._popen.stdin.flush()

    def end(self) -> None:
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        try:
            while True:
                self._inbox.put((self, pickle.load(self._popen.stdout)))
        except Exception:  # it has died, perhaps in the middle of a word
            self._inbox.put((self, None))


def _environment() -> dict[str, str]:
    """Return the environment of a process with one thread, which finds the modules that this one finds."""
    return {**os.environ, **dict.fromkeys(_THREADS, "1"), "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}


class _Pool:
    """The processes of one sweep."""

    def __init__(self, count: int, work: Work, processes: list[_Process], inbox: _Inbox) -> None:
        self._count, self._work, self._processes, self._inbox = count, work, processes, inbox
        self._word = GO_ON
        self._lost = 0  # one after another, before any has said something

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in [*self._processes]]

    def run(self) -> None:
        while (len(self._work.queue) or self._busy) and self._work.command.word != CANCEL:
            self._pass_on()
            self._hand_out()
            self._hear(LOOK_SECONDS)
        self._wind_up()

    def leave(self, kept: bool) -> list[_Process]:
        """End the processes, and return those that are kept for another sweep: they have done all that was asked."""
        waiting = [*self._processes] if kept and self._word == GO_ON and not self._busy else []
        for process in self._processes:
            if process not in waiting:
                process.end()
        return waiting

    @property
    def _busy(self) -> list[_Process]:
        return [process for process in self._processes if process.member is not None]

    def _pass_on(self) -> None:
        """Tell all processes what is asked for now."""
        word = self._work.command.word
        if word != self._word:
            self._word = word
            for process in self._processes:
                process.send(word)

    def _hand_out(self) -> None:
        if self._word != GO_ON:
            return
        for process in self._processes:
            if process.member is None and (member := self._work.queue.take(process)) is not None:
                self._give(process, member)
        while len(self._processes) < self._count:
            another = _Process(self._inbox)
            member = self._work.queue.take(another)
            if member is None:  # what is left are paths of the others, or of another process
                self._work.queue.leave(another)
                return
            another.start()
            self._processes.append(another)
            self._give(another, member)

    def _give(self, process: _Process, member: Member) -> None:
        process.member = member
        self._work.begun(member)
        store = self._work.store
        folder = store.folder if store is not None and store.enabled else None
        process.send(Assignment(member, self._work.head(member), folder))

    def _hear(self, seconds: float) -> None:
        """Wait for a process to say something, so long at most."""
        try:
            process, outcome = self._inbox.get(timeout=seconds)
        except queue.Empty:
            return
        if process not in self._processes:  # one of a sweep before
            return
        member, process.member = process.member, None
        self._lost = 0 if outcome is not None else self._lost + 1
        if outcome is None:
            self._replace(process, member)
        elif member is not None:
            self._work.ended(member, outcome)

    def _replace(self, process: _Process, member: Member | None) -> None:
        """Do without a process that has died, and solve its member again."""
        process.end()
        self._processes.remove(process)
        self._work.queue.leave(process)
        if self._lost >= MOST_LOST:
            raise SolverError(f"{MOST_LOST} processes ended one after another, and none has solved anything: {HINT}")
        if member is not None and not self._work.queue.again(member):
            self._work.ended(member, MemberOutcome(member.key, "failed", LOST))

    def _wind_up(self) -> None:
        """Wait a moment for those that were asked to end."""
        self._pass_on()
        until = time.monotonic() + PATIENCE_SECONDS
        while self._busy and time.monotonic() < until:
            self._hear(LOOK_SECONDS)
