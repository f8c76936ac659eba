"""The solvers are warmed up: what they compile is loaded, or compiled the first time, before a race waits for it.

Once per process, in a background thread: every solver does a few steps on problems of 40 points that it takes. What a
race waits for comes first.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from mklviz.engine.compiling import BASIC, CompilePool, everything, few_steps, kind, miniatures, needs
from mklviz.numbers import duration_text
from mklviz.problem import Problem

_log = logging.getLogger(__name__)
_LOOK = 0.01  # seconds between two looks at what has become ready
BEGINS = "a race begins when its first solver is ready."
PREPARING = "being compiled, once on this machine; joins the race when it is ready"


class Warmup:
    """Runs once, however often it is started. `fraction`: how much is done."""

    def __init__(self) -> None:
        self.fraction = 0.0
        self._pool = CompilePool()
        self._started = threading.Lock()
        self._done = threading.Event()
        self._wanted: list[tuple[Problem, str]] = []
        self._ready: set[tuple[object, ...]] = set()

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended yet."""
        return self._started.locked() and not self._done.is_set()

    @property
    def sentence(self) -> str:
        """How far it is, in words: what is compiled, and about how long the rest takes."""
        done, total, seconds = self._pool.progress()
        if not total:
            return f"Loading the compiled solvers, {100 * self.fraction:.0f} %; {BEGINS}"
        rest = duration_text(5.0 * math.ceil(seconds / 5.0))
        return f"Compiling solvers, {done} of {total}, about {rest}, once on this machine; {BEGINS}"

    def start(self) -> None:
        """Start in the background, unless that has happened."""
        if self._started.acquire(blocking=False):
            threading.Thread(target=self.work, name="mklviz-warm-up", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; return whether everything is ready."""
        return self._done.wait(seconds)

    def want(self, problem: Problem, solvers: Sequence[str]) -> None:
        """Start, and let solvers that a race waits for come first."""
        self._wanted += [(problem, solver) for solver in sorted(solvers, key=lambda name: len(needs(name)))]
        self.start()
        self._forget_wanted()

    def held(self, problem: Problem, solver: str) -> str:
        """Return why a solver cannot begin on `problem` yet, or ""."""
        return "" if self._done.is_set() or (solver, *kind(problem)) in self._ready else PREPARING

    def delays(self, solvers: Sequence[str]) -> bool:
        """Whether each of these solvers needs something that is being compiled, so that no race of theirs can begin."""
        return all(any(self.compiling(part) for part in needs(solver)) for solver in solvers)

    def compiling(self, part: str) -> bool:
        """Whether another process is compiling a part; using the part now would compile it twice."""
        return self.running and self._pool.awaits(part)

    def work(self) -> None:
        """Do it, in the calling thread. A solver that breaks here is reported when it is raced."""
        try:
            with self._pool.open() as pool:
                self._work(pool)
        except Exception:
            _log.exception("Warming up the solvers failed")
        finally:
            self.fraction = 1.0
            self._done.set()
            self._forget_wanted()

    def _forget_wanted(self) -> None:
        """Keep no problems, which are large, once everything is ready."""
        if self._done.is_set():
            self._wanted.clear()

    def _work(self, pool: CompilePool) -> None:
        rest = deque(everything())
        total = len(rest)
        while rest or self._wanted:
            if self._wanted:
                self._prepare(pool, *self._wanted.pop(0))
                continue
            part, make, solver = rest.popleft()
            if not pool.attempt(part, partial(self._touch, make, solver)):
                rest.append((part, make, solver))
                time.sleep(_LOOK)
            self.fraction = max(pool.fraction, 1.0 - len(rest) / total)
        for part in BASIC:
            pool.ensure(part)

    def _touch(self, make: Callable[[], Problem], solver: str) -> None:
        problem = make()
        few_steps(problem, solver)
        self._ready.add((solver, *kind(problem)))

    def _prepare(self, pool: CompilePool, problem: Problem, solver: str) -> None:
        """Make a solver that a race waits for ready."""
        if not self.held(problem, solver):
            return
        for part in needs(solver):
            pool.ensure(part)
        for small in miniatures(problem):
            few_steps(small, solver)
        self._ready.add((solver, *kind(problem)))


WARMUP = Warmup()
