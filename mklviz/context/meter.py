"""CPU time of one run, split into the parts of `mklviz.context.PARTS`.

Time is that of the thread which computes, read when a part begins and when it ends, and of those that help it: pauses,
drawing and other solvers do not count. Nor does what numba spends on a function that is called for the first time,
compiled or read from its cache: that depends on what ran before, and not on the solver.
"""

from __future__ import annotations

import math
import threading
import time

from numba.core import event

from mklviz.context import PARTS
from mklviz.numbers import duration_text


class _Compiling(threading.local):
    """CPU seconds that a thread has spent under numba's compiler lock, which may be taken again while it is held."""

    seconds, depth, since = 0.0, 0, 0.0


_compiling = _Compiling()
_compiled: dict[int, float] = {}  # by thread, when it last left the lock; infinite while it waits for it or holds it


class _Listener(event.Listener):
    """Told by numba, in the thread that compiles, when it begins and when it ends."""

    def on_start(self, event: event.Event) -> None:
        if _compiling.depth == 0:
            _compiling.since = time.thread_time()
            _compiled[threading.get_ident()] = math.inf
        _compiling.depth += 1

    def on_end(self, event: event.Event) -> None:
        _compiling.depth -= 1
        if _compiling.depth == 0:
            _compiling.seconds += time.thread_time() - _compiling.since
            _compiled[threading.get_ident()] = time.monotonic()


class CompileCounter(event.Listener):
    """Counts functions that were compiled, and not read from the cache, in this process, and the seconds they took."""

    count, about = 0, 100  # about so many functions are compiled for a first race
    usual, trust = 0.3, 5  # seconds that a function takes, as long as hardly more than so many were compiled
    _depth, _spent, _begun = 0, 0.0, math.inf  # of functions within functions; time between them does not count

    def on_start(self, event: event.Event) -> None:
        if self._depth == 0:
            self._begun = time.monotonic()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        self.count += 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._begun
            self._begun = math.inf

    @property
    def begun(self) -> bool:
        """Whether there is anything to be told."""
        return self.count > 0 or self._depth > 0

    @property
    def words(self) -> str:
        """How far it is: "compiling the solvers, 14 of about 100 functions, about 20 s"."""
        spent = self._spent + max(time.monotonic() - self._begun, 0.0)
        each = (spent + self.trust * self.usual) / (self.count + self.trust)
        left = (self.about - self.count) * each
        least = f"{self.count} of about {self.about} functions, about {duration_text(left)}"
        return f"compiling the solvers, {least if left > 0.0 else 'some seconds more'}"


_counter = CompileCounter()
event.register("numba:compiler_lock", _Listener())
event.register("numba:compile", _counter)


def compiled_at(thread: int) -> float:
    """Return when a thread last ended compiling, by `time.monotonic`: infinite while it compiles or waits for that."""
    return _compiled.get(thread, -math.inf)


def cpu_time() -> float:
    """CPU seconds of the calling thread, from any start, without those spent on compiling."""
    return time.thread_time() - _compiling.seconds


class Meter:
    """A clock that knows what it is counting for: `seconds` of CPU by part."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._part, self._since = "other", 0.0
        self._thread = 0
        self._lock = threading.Lock()

    @property
    def compiling(self) -> str:
        """How far the thread that computes is with compiling, in words, or ""."""
        return _counter.words if compiled_at(self._thread) == math.inf and _counter.begun else ""

    @property
    def total(self) -> float:
        """CPU seconds in all, until the part that is being counted began."""
        return sum(self.seconds.values())

    @property
    def elapsed(self) -> float:
        """CPU seconds in all, until now; threads that help count up to their last piece of work."""
        own = self._thread == threading.get_ident()
        return self.total + (cpu_time() - self._since if own else 0.0)

    def start(self) -> None:
        """Begin to count, in the calling thread."""
        self._part, self._since, self._thread = "other", cpu_time(), threading.get_ident()

    def stop(self) -> None:
        """Count no longer, until the next start."""
        self.switch("other")
        self._thread = 0

    def add(self, seconds: float) -> None:
        """Count what other threads spent on the part that is being counted."""
        with self._lock:
            self.seconds[self._part] += seconds

    def switch(self, part: str) -> str:
        """Count what follows as `part`; return what was counted until now."""
        now = cpu_time()
        before = self._part
        self.seconds[before] += now - self._since
        self._part, self._since = part, now
        return before


# -- how far a long step is: what its computations report while they last, for people who wait

PATIENCE = 0.5  # seconds into a step before there is anything to say
LEAST_LEFT = 2.0  # seconds, below which it is not worth saying how many are left


class Progress:
    """What one run is doing in the middle of a step; written by the threads that compute, read by any other."""

    def __init__(self) -> None:
        self._begun = self.since = float("inf")
        self._doing, self._fraction, self._first = "", 1.0, 0.0

    def start(self) -> None:
        """A step begins."""
        self._doing, self._begun = "", time.monotonic()

    def stop(self) -> None:
        """The step has ended."""
        self._begun = float("inf")

    def report(self, doing: str, fraction: float) -> None:
        """Take note of what is being done and which fraction of it is."""
        if doing != self._doing or fraction < self._fraction:
            self.since, self._first = time.monotonic(), fraction  # which took the time before
        self._doing, self._fraction = doing, fraction

    @property
    def text(self) -> str:
        """Such as "computing the slopes of 1,000,000 kernels, 40 %, about 9 s left", or "" where nothing takes long."""
        doing, fraction, now = self._doing, self._fraction, time.monotonic()
        if now - self._begun < PATIENCE or not doing or fraction >= 1.0:
            return ""
        since_first = fraction - self._first
        left = (now - self.since) * (1.0 - fraction) / since_first if since_first > 0.0 else 0.0
        return f"{doing}, {100.0 * fraction:.0f} %{f', about {duration_text(left)} left' if left >= LEAST_LEFT else ''}"
