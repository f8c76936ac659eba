"""Several threads for one solver share the pieces of its long computations, in any order. The pieces do not depend on
the number of threads, so every result is the same, bit for bit.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any

from mklviz.context.meter import Meter, cpu_time
from mklviz.errors import Interrupted, MklvizError
from mklviz.numbers import is_whole

__all__ = ["Helpers", "check_threads", "interrupt", "watch"]

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
