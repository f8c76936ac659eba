"""What is compiled, in parts that two processes share out; numba's cache on disk is what they hand over by.

numba compiles one function at a time, however many threads ask. A second process uses the second core: whoever is free
takes the next part, and what the other has compiled is loaded from the cache. A part is a module, whose compiled
functions call only each other, so that nothing is compiled twice. Where everything is in the cache already, there is
no second process: it begins with the first function that must be compiled.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numba.core import event

from mklviz.datasets import load_dataset
from mklviz.engine import solve, solver_classes
from mklviz.errors import MklvizError
from mklviz.inner.matrix_game import MatrixGame
from mklviz.inner.svm import COMPACT_FROM, InnerSvm
from mklviz.kernels import Gaussian, KernelBank, LearnedPolynomial, NystromBank, ParametricBank, ProductBank, paper_bank
from mklviz.kernels.interface import Access
from mklviz.problem import (
    BlockL1,
    GroupSquaredPlusL1,
    Hinge,
    L1Penalty,
    Logistic,
    Loss,
    LpPenalty,
    MulticlassHinge,
    Problem,
    Regularizer,
    Simplex,
    loss_families,
)
from mklviz.solvers._level_qp import project_to_level_set

__all__ = ["PARTS", "Sharing", "everything", "few_steps", "kind", "main", "miniatures", "needs", "problems"]

_log = logging.getLogger(__name__)
_STEPS = 6
_FIRST = ("banks", "svm")  # what every solver of an SVM needs
_BEYOND = {"level": ("level",), "silp": ("game",)}


def _banks() -> None:
    X = load_dataset("two_moons", n=40).X
    for points in (X, X.round()):  # rounded: values that repeat are stored once
        bank = paper_bank(points)
        bank.combine(np.ones(len(bank.names)))
        bank.quad(np.ones(len(X)))


def _svm(n: int = 24) -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(n, 2)), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X[:, 0] += y
    InnerSvm(y, 10.0).solve(X @ X.T + np.eye(n), 1e-3)


def _level() -> None:
    project_to_level_set(np.full(2, 0.5), np.array([[1.0, 0.0], [0.0, 0.5]]), 0.4)


def _game() -> None:
    game, cuts = MatrixGame(), np.array([[1.0, 0.0], [0.0, 0.5]])
    for count in (1, 2):
        game.solve(cuts[:count], np.array([1.0, 0.5])[:count])


PARTS: dict[str, Callable[[], None]] = {
    "banks": _banks,
    "svm": _svm,
    "level": _level,
    "game": _game,
    "large svm": partial(_svm, COMPACT_FROM + 8),
}


def needs(solver: str) -> tuple[str, ...]:
    """Return the parts that a solver is known to need; what else it needs is compiled when it takes its first steps."""
    return (*_FIRST, *_BEYOND.get(solver, ()))


class Sharing:
    """The parts, taken one by one by this process and by a second one, which lives as long as the context.

    Attributes
    ----------
    done : set of str
        Parts that are compiled.
    """

    def __init__(self) -> None:
        self.done: set[str] = set()
        self._left = list(PARTS)
        self._changed = threading.Condition()
        self._begun = self._over = False

    @contextmanager
    def open(self) -> Iterator[Sharing]:
        """Let a second process help from the first function on that is compiled."""
        try:
            with event.install_listener("numba:compile", _AtFirst(self._begin)):
                yield self
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def ensure(self, part: str) -> None:
        """Return when `part` is compiled. While the second process is at it, one other part is compiled here."""
        mine = self._take(part) or (self._take() if part not in self.done else "")
        if mine:
            PARTS[mine]()
            self._finish(mine)
        with self._changed:
            self._changed.wait_for(lambda: part in self.done or part in self._left)
        if part not in self.done:  # the second process broke down
            self.ensure(part)

    def _take(self, part: str = "") -> str:
        """Return a part, the first one left if none is named, which is the caller's now; "" if it is not to be had."""
        with self._changed:
            found = part if part in self._left else "" if part or not self._left else self._left[0]
            if found:
                self._left.remove(found)
            return found

    def _finish(self, part: str) -> None:
        with self._changed:
            self.done.add(part)
            self._changed.notify_all()

    def _give_back(self, part: str) -> None:
        with self._changed:
            self._left.insert(0, part)
            self._changed.notify_all()

    def _begin(self) -> None:
        if not self._begun and (os.cpu_count() or 1) > 1:
            self._begun = True
            first = self._take()  # before this process can be free for it
            threading.Thread(target=self._assist, args=(first,), name="mklviz-compile", daemon=True).start()

    def _assist(self, part: str) -> None:
        """Hand one part after the other to the second process; without it, this one compiles all."""
        command = [sys.executable, "-m", "mklviz.engine.compiling"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        try:
            with subprocess.Popen(command, text=True, **pipes) as helper:
                while part:
                    print(part, file=helper.stdin, flush=True)
                    if not (helper.stdout and helper.stdout.readline().strip() == part):
                        raise OSError("it ended before its work")
                    self._finish(part)
                    part = "" if self._over else self._take()
        except OSError as error:
            _log.warning("Without a second process that compiles, this one goes on alone: %s.", error)
            if part:
                self._give_back(part)


class _AtFirst(event.Listener):
    """Calls `act` whenever a compilation begins."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    def on_start(self, event: Any) -> None:
        self._act()

    def on_end(self, event: Any) -> None:
        """Nothing: the beginning is what counts."""


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
        lambda: Problem(ParametricBank.build(X, LearnedPolynomial()), y, Hinge(10.0), L1Penalty(1.0)),
        lambda: Problem(NystromBank.build(X, families, 10), y, Hinge(10.0)),
        lambda: Problem(NystromBank.build(X, families, 10).narrowed(), y, Hinge(10.0)),
    ]


def everything(first: Sequence[str]) -> Iterator[tuple[Problem, str]]:
    """Yield every small problem with every solver, those named `first` ahead, the least to compile in front."""
    names = sorted(solver_classes(), key=lambda name: (name not in first, len(needs(name))))
    for make in problems():  # one after the other: banks take their time to compile, too
        problem = make()
        for name in names:
            yield problem, name


def kind(problem: Problem) -> tuple[object, ...]:
    """Return what decides which compiled functions a solver needs for `problem`."""
    bank, loss = problem.bank, problem.loss
    stored = type(bank), bank.access, "on the fly" in getattr(bank, "backend", "")
    return (*stored, type(loss), getattr(loss, "bias", True), type(problem.regularizer))


def miniatures(problem: Problem) -> list[Problem]:
    """Return problems of 40 points and of the kind of `problem`, none for a bank of a kind of its own.

    Factors in both precisions are of one kind.
    """
    if not isinstance(problem.bank, (KernelBank, ProductBank, NystromBank, ParametricBank)):
        return []
    data = load_dataset("two_moons", n=40)
    X, families = data.X, [Gaussian(on="all+each")]
    y = np.maximum(data.y, 0.0) if problem.loss.multiclass else data.y
    bank: KernelBank | ProductBank | ParametricBank = paper_bank(X)
    if isinstance(problem.bank, NystromBank):
        factored = NystromBank.build(X, families, 10)
        return [replace(problem, bank=few, y=y) for few in (factored, factored.narrowed())]
    if isinstance(problem.bank, ProductBank):
        bank = ProductBank.build(X)
    elif isinstance(problem.bank, ParametricBank):
        bank = ParametricBank.build(X, LearnedPolynomial())  # what is compiled knows no kernel
    elif "on the fly" in problem.bank.backend:
        bank = KernelBank.build(X, families, max_bytes=KernelBank.estimate(len(X), X.shape[1], families)[1] // 2)
    bank.access = problem.bank.access
    return [replace(problem, bank=bank, y=y)]


def few_steps(problem: Problem, solver: str) -> None:
    """Let a solver take a few steps, if it takes this problem."""
    try:
        solve(problem, solver, gap=1e-3, max_iter=_STEPS)
    except MklvizError as error:  # most often: this solver does not take this problem
        _log.debug("Warm-up of %s: %s", solver, error)


def main() -> None:
    """Compile the parts that are named on the input, one a line, and answer each by its name."""
    try:
        for line in sys.stdin:
            PARTS[line.strip()]()
            print(line.strip(), flush=True)
    except (KeyboardInterrupt, BrokenPipeError):  # who asked has gone
        sys.exit(1)


if __name__ == "__main__":
    main()
