"""The compiled kernels are loaded (or compiled, the first time on a machine) before somebody waits for a curve.

Once per process, in one background thread: every solver does a few steps on problems of 40 points that it takes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial

import numpy as np

from mklviz.datasets import load_dataset
from mklviz.engine import solve, solver_classes
from mklviz.errors import MklvizError
from mklviz.problem import (
    BlockL1,
    Gaussian,
    GroupSquaredPlusL1,
    Hinge,
    KernelBank,
    L1Penalty,
    Logistic,
    Loss,
    LpPenalty,
    MulticlassHinge,
    NystromBank,
    Problem,
    ProductBank,
    Regularizer,
    Simplex,
    loss_families,
    paper_bank,
)
from mklviz.problem._interface import Access

__all__ = ["WARMING", "WARMUP", "Warmup", "problems"]

_log = logging.getLogger(__name__)
_STEPS = 6
WARMING = (
    "Preparing the compiled kernels: some seconds after a start of the server, a minute the first time. A race begins"
    " when they are ready."
)


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

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended yet."""
        return self._started.locked() and not self._done.is_set()

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
            solvers = {name: made() for name, made in solver_classes().items()}
            makers = problems()
            for count, make in enumerate(makers):  # one after the other: banks take their time to compile, too
                posed = make()
                for nth, name in enumerate(solvers):
                    if not solvers[name].supports(posed):
                        _few_steps(posed, name)
                    self.fraction = (count + (nth + 1) / len(solvers)) / len(makers)
        except Exception:
            _log.exception("Preparing the compiled kernels failed")
        finally:
            self.fraction = 1.0
            self._done.set()


def problems() -> list[Callable[[], Problem]]:
    """Return makers of small problems that together need all that is compiled: every loss, norm and kind of bank."""
    data = load_dataset("two_moons", n=40)
    X, y, families = data.X, data.y, [Gaussian(on="all+each")]

    def added(loss: Loss, regularizer: Regularizer) -> Problem:
        return Problem(paper_bank(X), np.maximum(y, 0.0) if loss.multiclass else y, loss, regularizer)

    def multiplied(access: Access) -> Problem:
        bank = ProductBank.build(X)
        bank.access = access  # by rows as if the kernel were too large to form
        return Problem(bank, y, Hinge(10.0), L1Penalty(1.0))

    def streamed() -> Problem:
        room = KernelBank.estimate(len(X), X.shape[1], families)[1] // 2
        return Problem(KernelBank.build(X, families, max_bytes=room), y, Hinge(10.0))

    pairs: list[tuple[Loss, Regularizer]] = [(loss(10.0), Simplex()) for loss in loss_families().values()]
    pairs += [(Hinge(10.0), norm) for norm in (L1Penalty(1.0), LpPenalty(2.0, 1.0), BlockL1(1.0))]
    without_bias: list[Loss] = [Hinge(10.0, bias=False), Logistic(10.0, bias=False), MulticlassHinge(10.0)]
    pairs += [(loss, GroupSquaredPlusL1(alpha=0.0)) for loss in without_bias]
    return [
        *(partial(added, loss, regularizer) for loss, regularizer in pairs),
        partial(multiplied, "matrix"),
        partial(multiplied, "rows"),
        streamed,
        lambda: Problem(NystromBank.build(X, families, 10), y, Hinge(10.0)),
        lambda: Problem(NystromBank.build(X, families, 10).narrowed(), y, Hinge(10.0)),
    ]


def _few_steps(problem: Problem, solver: str) -> None:
    try:
        solve(problem, solver, gap=1e-3, max_iter=_STEPS)
    except MklvizError as error:  # most often: this solver does not take this problem
        _log.debug("Warm-up of %s: %s", solver, error)


WARMUP = Warmup()
