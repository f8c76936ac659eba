"""The compiled kernels are loaded (or compiled, the first time on a machine) before somebody waits for a curve.

Once per process, in a background thread: every solver does a few steps on problems of 40 points that it takes. What a
race waits for comes first, then the scenario that the page opens with, then the rest.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from mklviz.engine import solver_classes
from mklviz.engine.compiling import PARTS, Sharing, everything, few_steps, kind, miniatures, needs, problems
from mklviz.problem import Problem

__all__ = ["PREPARING", "WARMING", "WARMUP", "Warmup"]

_log = logging.getLogger(__name__)
WARMING = (
    "Preparing the compiled kernels: some seconds after a start of the server, a minute the first time. A race begins"
    " as soon as one of its solvers is ready."
)
PREPARING = "is being compiled, once on this machine, and joins the race when it is ready"


class Warmup:
    """Runs once, however often it is started.

    Attributes
    ----------
    fraction : float
        How much is done.
    """

    def __init__(self) -> None:
        self.fraction = 0.0
        self._first: Sequence[str] = ()
        self._started = threading.Lock()
        self._done = threading.Event()
        self._wanted: list[tuple[Problem, str]] = []
        self._ready: set[tuple[object, ...]] = set()

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended yet."""
        return self._started.locked() and not self._done.is_set()

    def start(self, first: Sequence[str] = ()) -> None:
        """Start in the background, with the solvers that are likely to be raced `first`, unless that has happened."""
        if self._started.acquire(blocking=False):
            self._first = first
            threading.Thread(target=self.work, name="mklviz-warm-up", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; return whether everything is ready."""
        return self._done.wait(seconds)

    def want(self, problem: Problem, solvers: Sequence[str]) -> None:
        """Start, and let solvers that somebody waits for come first."""
        self._wanted += [(problem, solver) for solver in sorted(solvers, key=lambda name: len(needs(name)))]
        self.start()

    def held(self, problem: Problem, solver: str) -> str:
        """Return why a solver cannot begin on `problem` yet, or ""."""
        return "" if self._done.is_set() or (solver, *kind(problem)) in self._ready else PREPARING

    def work(self) -> None:
        """Do it, in the calling thread. A solver that breaks here is reported when somebody races it."""
        try:
            with Sharing().open() as sharing:
                self._work(sharing)
        except Exception:
            _log.exception("Preparing the compiled kernels failed")
        finally:
            self.fraction = 1.0
            self._done.set()

    def _work(self, sharing: Sharing) -> None:
        rest, total = everything(self._first), len(PARTS) + len(problems()) * len(solver_classes())
        steps = 0
        while True:
            wanted = self._wanted.pop(0) if self._wanted else None
            pair = wanted or next(rest, None)
            if pair is None:
                break
            problem, solver = pair
            if wanted is None or self.held(problem, solver):
                for part in needs(solver):
                    sharing.ensure(part)
                for small in miniatures(problem) if wanted else [problem]:
                    few_steps(small, solver)
                self._ready.add((solver, *kind(problem)))
            steps += wanted is None
            self.fraction = min((steps + len(sharing.done)) / total, 1.0)
        for part in PARTS:
            sharing.ensure(part)


WARMUP = Warmup()
