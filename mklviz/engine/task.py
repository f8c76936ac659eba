"""Work in threads. For a page, which looks now and then: the newest question wins, and its answer is taken once.

Where a question is asked on an event loop, which may have pages to answer, the loop goes first: every few reports the
work waits until the loop has come round. Two threads that both want the interpreter hand it over every 5 ms, and on a
busy machine each of them then queues for a core once more, so that an answer of a tenth of a second took two.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, Generic, Protocol, TypeVar

from mklviz.context import interruptible
from mklviz.context.meter import Meter, cpu_time
from mklviz.datasets import DataError
from mklviz.errors import Interrupted, MklvizError
from mklviz.numbers import is_whole

_log = logging.getLogger(__name__)

STOPPED = "Stopped by hand."
SLICE = 0.02  # seconds of work between two rounds of the loop
PATIENCE = 1.0  # seconds to wait for a round at most: the loop may wait for what this thread holds
PAUSE = 0.05  # seconds between two checks whether the loop still runs
TURN = 0.1  # seconds between two checks whether work that waits for its turn is still wanted

T = TypeVar("T")


class ProgressReport(Protocol):
    """What the work calls now and then."""

    def __call__(self, fraction: float, sentence: str = "") -> None:
        """Say how much is done, and maybe what is being done; raise `Interrupted` once it is not wanted."""


class _EventLoop:
    """The event loop that a question was asked on, if any."""

    def __init__(self) -> None:
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        self._since = time.monotonic()

    def go_first(self) -> None:
        """Wait until the loop has answered whatever it has to, if the last time was a slice ago."""
        if self._loop is None or time.monotonic() - self._since < SLICE:
            return
        round_ = threading.Event()
        try:
            self._loop.call_soon_threadsafe(round_.set)
        except RuntimeError:  # closed: no page is left to go first
            self._loop = None
            return
        until = time.monotonic() + PATIENCE
        while not round_.wait(PAUSE) and self._loop.is_running() and time.monotonic() < until:
            pass  # a loop that ends meanwhile comes round no more
        self._since = time.monotonic()


class _Attempt(Generic[T]):
    """The work on one question, in a thread of its own."""

    def __init__(self, compute: Callable[[ProgressReport], T], what: str, turn: threading.Lock) -> None:
        self.fraction, self.sentence, self.fault = 0.0, "", ""
        self.result: T | None = None
        self.cancelled, self.ended = threading.Event(), threading.Event()
        self._loop, self._turn = _EventLoop(), turn
        threading.Thread(target=self._run, args=(compute, what), name="mklviz-task", daemon=True).start()

    def _run(self, compute: Callable[[ProgressReport], T], what: str) -> None:
        try:
            self.result = self._in_turn(compute)
        except Interrupted:
            self.fault = STOPPED
        except (MklvizError, DataError) as error:
            self.fault = str(error)
        except BaseException:  # also errors of plug-ins, which are reported here alone
            _log.exception(what)
            self.fault = f"{what}; the server's log says more."
        finally:
            self.ended.set()

    def _in_turn(self, compute: Callable[[ProgressReport], T]) -> T:
        while not self._turn.acquire(timeout=TURN):
            self._check()
        try:
            self._check()
            with interruptible(self._check):
                return compute(self._report)
        finally:
            self._turn.release()

    def _report(self, fraction: float, sentence: str = "") -> None:
        self.fraction, self.sentence = fraction, sentence
        self._check()

    def _check(self) -> None:
        self._loop.go_first()
        if self.cancelled.is_set():
            raise Interrupted(STOPPED)


class Task(Generic[T]):
    """One question at a time, answered in a thread; nothing here touches the page.

    The caller looks now and then, on the event loop, whether the work has `ended`, and takes the answer. `key` tells
    the question asked last from others; `fault` says in a sentence for people why it has no answer. Tasks that share a
    `turn` compute one after the other.
    """

    def __init__(self, turn: threading.Lock | None = None) -> None:
        self.key: object = None
        self.fault = ""
        self._turn = turn
        self._progress = ""
        self._attempt: _Attempt[T] | None = None

    def ask(self, key: object, compute: Callable[[ProgressReport], T], what: str, progress: str = "") -> None:
        """Begin to compute, unless this was asked last; an older question is given up.

        `compute` is called in the thread with a `ProgressReport`, which raises `Interrupted` once no page waits for the
        answer any more, as does every checkpoint within. `what` says what has failed if there is no answer, such as
        "The map could not be computed". `progress` is the sentence shown meanwhile, with {} for the percentage that is
        done, unless the work reports sentences of its own.
        """
        if key != self.key:
            self.forget()
            self.key, self._progress = key, progress
            self._attempt = _Attempt(compute, what, self._turn or threading.Lock())

    @property
    def working(self) -> bool:
        """Whether an answer is still to be taken."""
        return self._attempt is not None

    @property
    def ended(self) -> bool:
        """Whether the thread has ended, and its answer is still to be taken."""
        return self._attempt is not None and self._attempt.ended.is_set()

    @property
    def fraction(self) -> float:
        """How much is done."""
        return 0.0 if self._attempt is None else self._attempt.fraction

    @property
    def status(self) -> str:
        """How far the work is, or why there is no answer."""
        if self._attempt is None:
            return self.fault
        return self._attempt.sentence or self._progress.format(f"{100 * self.fraction:.0f} %")

    def take(self) -> T | None:
        """Return the answer once, when it is there."""
        if self._attempt is None or not self._attempt.ended.is_set():
            return None
        attempt, self._attempt = self._attempt, None
        self.fault = attempt.fault
        return attempt.result

    def cancel(self) -> None:
        """Stop soon: the question then has no answer, or the result so far."""
        if self._attempt is not None:
            self._attempt.cancelled.set()

    def forget(self) -> None:
        """Give up the question, and keep nothing of it."""
        self.cancel()
        self.key, self.fault, self._attempt = None, "", None


# Several threads for one solver share the pieces of its long computations, in any order. The pieces do not depend on
# the number of threads, so every result is the same, bit for bit.

THREAD_PREFIX = "mklviz-helper"
LOOK_SECONDS = 0.02


def check_threads(threads: int, solvers: int = 1) -> None:
    """Raise `MklvizError` unless so many solvers may have so many threads each."""
    if not is_whole(threads) or threads < 1:
        raise MklvizError(f"A solver needs a whole number of threads, at least one, but {threads!r} was given.")
    if threads > 1 and solvers > 1:
        raise MklvizError(
            f"More than one thread is for a solver that runs alone: a race of {solvers} gives each of them one, so that"
            " their clocks can be compared. Choose one solver, or one thread."
        )


def watch(work: Callable[[], Any], meter: Meter, check: Callable[[], None]) -> Any:
    """Return ``work()``, done in another thread so that `check` may raise meanwhile; then the thread ends by itself.

    `meter` is told its CPU time, where the system lets one thread read another's clock already while it works.
    """
    results: list[Any] = []
    errors: list[BaseException] = []
    clocks: list[int] = []
    seconds: list[float] = []
    ended, read = threading.Event(), threading.Event()

    def other() -> None:
        if hasattr(time, "pthread_getcpuclockid"):
            clocks.append(time.pthread_getcpuclockid(threading.get_ident()))
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        seconds.append(cpu_time())
        ended.set()
        read.wait()  # the clock of a thread that is gone must not be read

    threading.Thread(target=other, name=THREAD_PREFIX, daemon=True).start()
    counted = 0.0
    try:
        while not ended.wait(LOOK_SECONDS):
            if clocks:
                now = time.clock_gettime(clocks[0])
                meter.add(now - counted)
                counted = now
            check()
        meter.add(seconds[0] - counted)
    finally:
        read.set()
    if errors:
        raise errors[0]
    return results[0]


def interrupt(thread: int) -> None:
    """Raise `Interrupted` in another thread as soon as it computes in Python again, which may be never."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Interrupted))


class Helpers:
    """Threads that share the pieces of one run's work with its own thread.

    `threads`: in all, that of the run among them; `meter`: told the CPU time of the helpers.
    """

    def __init__(self, threads: int, meter: Meter) -> None:
        self._others, self._meter = threads - 1, meter
        self._pool = ThreadPoolExecutor(max(self._others, 1), THREAD_PREFIX)  # starts no thread before it has work

    def spread(self, piece: Callable[[int], None], pieces: int) -> None:
        """Call ``piece(k)`` for every k below `pieces`; an error in one of them ends all and is raised here."""
        left = deque(range(pieces))

        def work(done: Callable[[], None]) -> None:
            try:
                while (k := left.popleft() if left else -1) >= 0:
                    piece(k)
                    done()
            except BaseException:
                left.clear()
                raise

        def help_out() -> None:
            since = cpu_time()

            def tell() -> None:  # after each piece, as a limit of seconds holds for all threads together
                nonlocal since
                now = cpu_time()
                self._meter.add(now - since)
                since = now

            try:
                work(tell)
            finally:
                tell()

        futures = [self._pool.submit(copy_context().run, help_out) for _ in range(min(self._others, pieces - 1))]
        try:
            work(lambda: None)
        finally:
            busy = [future for future in futures if not future.cancel()]
            wait(busy)  # also after an error: no process may still be writing when the caller goes on
        for future in busy:
            future.result()

    def dismiss(self) -> None:
        """Let the threads end."""
        self._pool.shutdown(wait=False)
