"""The compiled kernels are loaded (or compiled, the first time on a machine) before somebody waits for a curve.

Once per process, in one background thread: every solver does a few steps on a problem of 40 points.
"""

from __future__ import annotations

import logging
import threading

import numpy as np

from mklviz.datasets import load_dataset
from mklviz.engine import solve, solver_classes
from mklviz.errors import MklvizError
from mklviz.problem import (
    Hinge,
    L1Penalty,
    Loss,
    LpPenalty,
    Problem,
    Regularizer,
    Simplex,
    loss_families,
    paper_bank,
)

__all__ = ["WARMUP", "Warmup"]

_log = logging.getLogger(__name__)
_STEPS = 6


class Warmup:
    """Runs once, however often it is started.

    Attributes
    ----------
    fraction : float
        How much is done.
    """

    def __init__(self) -> None:
        self.fraction = 0.0
        self._started = threading.Lock()
        self._done = threading.Event()

    def start(self) -> None:
        """Start in the background, unless that has happened before."""
        if self._started.acquire(blocking=False):
            threading.Thread(target=self.work, name="mklviz-warm-up", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; return whether everything is ready."""
        return self._done.wait(seconds)

    def work(self) -> None:
        """Do it, in the calling thread. A solver that breaks here is reported when somebody races it."""
        try:
            bank_of = load_dataset("two_moons", n=40)
            bank = paper_bank(bank_of.X)
            kinds: list[tuple[Loss, Regularizer]] = [(loss(10.0), Simplex()) for loss in loss_families().values()]
            kinds += [(Hinge(10.0), L1Penalty(1.0)), (Hinge(10.0), LpPenalty(2.0, 1.0))]
            names = list(solver_classes())
            for count, name in enumerate(names):
                for loss, regularizer in kinds:
                    y = np.maximum(bank_of.y, 0.0) if loss.multiclass else bank_of.y
                    _few_steps(Problem(bank, y, loss=loss, regularizer=regularizer), name)
                self.fraction = (count + 1) / len(names)
        except Exception:
            _log.exception("Preparing the compiled kernels failed")
        finally:
            self.fraction = 1.0
            self._done.set()


def _few_steps(problem: Problem, solver: str) -> None:
    try:
        solve(problem, solver, gap=1e-3, max_iter=_STEPS)
    except MklvizError as error:  # most often: this solver does not take this problem
        _log.debug("Warm-up of %s: %s", solver, error)


WARMUP = Warmup()
