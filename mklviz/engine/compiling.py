"""Compile in parts, in processes of their own, which hand over the code through numba's cache on disk.

numba compiles one function at a time, however many threads ask, and keeps Python's lock most of that time: a server
that compiled by itself would build no page meanwhile. So a process that finds a function that must be compiled leaves
it to helpers, one for each core, and loads what they have done from the cache. Where everything is in the cache
already, there are no helpers.
"""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numba.core import event

from mklviz.contract import Solver
from mklviz.datasets import load_dataset
from mklviz.engine import solve, solver_classes
from mklviz.errors import Interrupted, MklvizError
from mklviz.inner import svm_state
from mklviz.inner.matrix_game import MatrixGame
from mklviz.inner.svm import InnerSvm
from mklviz.inner.svm_newton import newton_step
from mklviz.inner.svm_steps import pair_steps
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
    SimplexRidge,
    loss_families,
)
from mklviz.solvers._level_qp import project_to_level_set
from mklviz.typing import Array

_log = logging.getLogger(__name__)
_STEPS = 6
SHORTEST = 5.0  # seconds that are said to be left, where it takes longer than before
USUAL = 60.0  # seconds for all parts, before any is compiled
_MOST_HELPERS = 4  # as many as the first race has parts
_FIRST = ("banks", "svm", "game")  # what solvers of an SVM need; a matrix game averages their dual variables
_BEYOND = {"level": ("level",)}
_AFTER = {"svm": ("newton steps", "pair steps")}  # compiled apart, and then loaded by what calls them


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
    InnerSvm.of_labels(y, 10.0).solve(X @ X.T + np.eye(n), 1e-3)


def _posed(n: int = 8) -> tuple[Array, Array]:
    """Return a kernel and the state of an SVM on it."""
    K, S = np.eye(n), np.zeros((svm_state.ROWS, n))
    S[svm_state.F] = S[svm_state.HI] = 1.0
    svm_state.begin(K, S)
    return K, S


def _newton_steps() -> None:
    K, S = _posed()
    newton_step(K, S, 1.0, np.arange(S.shape[1]), np.zeros(svm_state.SLOTS))


def _pair_steps() -> None:
    K, S = _posed()
    svm_state.gradient(K, S, 0, len(K))
    pair_steps(K, S, 1e-3, 1, np.zeros(svm_state.SLOTS))


def _game() -> None:
    game, cuts = MatrixGame(), np.array([[1.0, 0.0], [0.0, 0.5]])
    for count in (1, 2):
        game.solve(cuts[:count], np.array([1.0, 0.5])[:count])


def needs(solver: str) -> tuple[str, ...]:
    """Return the parts that a solver is known to need; what else it needs is compiled when it takes its first steps."""
    return (*_FIRST, *_BEYOND.get(solver, ()))


def seconds_left(done: int, left: int, taken: float, waited: float) -> float:
    """Return how long the parts that are left may take: `done` others took `taken` seconds, `waited` ago."""
    return max(left / done * taken - waited, SHORTEST) if done else USUAL


class CompilePool:
    """The parts, compiled by helping processes, which live as long as the context.

    `done`: parts that this process has loaded, or compiled where no process helped.
    """

    def __init__(self) -> None:
        self.done: set[str] = set()
        self._cached: set[str] = set()  # what helpers have compiled
        self._left = list(PARTS)
        self._changed = threading.Condition()
        self._helpers = 0
        self._begun = self._over = False
        self._since = self._latest = 0.0  # when the first part was begun, and when the newest was compiled
        self._loaded = 0  # parts that need not be compiled

    @property
    def fraction(self) -> float:
        """How much is compiled, as far as it is known."""
        with self._changed:
            return len(self.done | self._cached) / len(PARTS)

    def progress(self) -> tuple[int, int, float]:
        """Return how many parts are compiled, of how many (0 before the first), and seconds that the rest may take."""
        with self._changed:
            done, total = len(self.done | self._cached), len(PARTS) if self._begun else 0
            now = time.monotonic()
            here = done - self._loaded
            return done, total, seconds_left(here, total - done, self._latest - self._since, now - self._latest)

    def awaits(self, part: str) -> bool:
        """Whether helpers have begun and `part` is not compiled yet."""
        with self._changed:
            return self._helpers > 0 and part not in self._cached

    @contextmanager
    def open(self) -> Iterator[CompilePool]:
        """Let processes help, beginning with the first function that must be compiled."""
        try:
            yield self
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def ensure(self, part: str) -> None:
        """Return when `part` is ready in this process."""
        if part in self.done:
            return
        if self.attempt(part, PARTS[part]):
            self.done.add(part)
            return
        with self._changed:
            first = [each for each in (*_AFTER.get(part, ()), part) if each in self._left]
            self._left = first + [each for each in self._left if each not in first]
            self._changed.wait_for(lambda: part in self._cached or not self._helpers)
        PARTS[part]()
        self.done.add(part)
        if part not in self._cached:
            self._latest = time.monotonic()

    def attempt(self, part: str, act: Callable[[], object]) -> bool:
        """Run `part`, and return whether that succeeded; if not, helpers are compiling it."""
        if not self._begun and self._loads(act):
            return True
        self._begin()
        with self._changed:
            ready = part in self._cached or not self._helpers
        if ready:
            act()
        return ready

    def _loads(self, act: Callable[[], object]) -> bool:
        """Run something up to the first function that must be compiled; return whether there was none."""
        refusal = _NoCompiling()
        with event.install_listener("numba:compile", refusal), suppress(Interrupted):
            act()
        return not refusal.refused

    def _begin(self) -> None:
        """Start the helpers, once."""
        with self._changed:
            if self._begun:
                return
            self._begun, self._since = True, time.monotonic()
            self._latest, self._loaded = self._since, len(self.done)
            self._left = [part for part in self._left if part not in self.done]
            self._helpers = min(os.cpu_count() or 1, _MOST_HELPERS)
        for _ in range(self._helpers):
            threading.Thread(target=self._assist, name="mklviz-compile", daemon=True).start()

    def take(self) -> str:
        """Return a part for the caller to compile, "" where none is left or wanted."""
        with self._changed:
            while self._left and not self._over:
                for part in self._left:
                    if self._ready(part):
                        self._left.remove(part)
                        return part
                self._changed.wait()  # for what another helper compiles
        return ""

    def hand_over(self, *parts: str) -> None:
        """Note that a helper has compiled some parts."""
        with self._changed:
            self._cached.update(parts)
            self._latest = time.monotonic()
            self._changed.notify_all()

    def _ready(self, part: str) -> bool:
        """Whether what `part` calls is compiled."""
        return self.done.union(self._cached).issuperset(_AFTER.get(part, ()))

    def _assist(self) -> None:
        """Hand one part after the other to a process; where none helps, the thread that needs a part compiles it."""
        command = [sys.executable, "-m", "mklviz.engine.compiling", str(os.getpid())]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        part = ""
        try:
            with subprocess.Popen(command, text=True, **pipes) as helper:
                while part := self.take():
                    print(part, file=helper.stdin, flush=True)
                    if not (helper.stdout and helper.stdout.readline().strip() == part):
                        raise OSError("it ended before its work")
                    self.hand_over(part)
        except OSError as error:
            _log.warning("A process that compiles has failed, and the others go on without it: %s.", error)
        finally:
            with self._changed:
                self._helpers -= 1
                self._left[:0] = [part] if part else []
                self._changed.notify_all()


class _NoCompiling(event.Listener):
    """Refuses to compile in the thread that made it: what is done there is interrupted.

    `refused`: whether that has happened.
    """

    def __init__(self) -> None:
        self.refused = False
        self._thread = threading.get_ident()

    def on_start(self, event: Any) -> None:
        if threading.get_ident() == self._thread:
            self.refused = True
            raise Interrupted("This must be compiled, which is left to another process.")

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
    pairs += [(Hinge(10.0), norm) for norm in (L1Penalty(1.0), LpPenalty(2.0, 1.0), BlockL1(1.0), SimplexRidge(1.0))]
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


def everything() -> Iterator[tuple[str, Callable[[], Problem], str]]:
    """Yield every part that is a small problem, its maker and each solver; those with least to compile come first."""
    for part, make in SMALL.items():  # one after the other: banks take their time to compile, too
        once = cache(make)
        for solver in _least_first():
            yield part, once, solver


def _least_first() -> list[str]:
    return sorted(solver_classes(), key=lambda name: len(needs(name)))


def kind(problem: Problem) -> tuple[object, ...]:
    """Return what decides which compiled functions a solver needs for `problem`."""
    bank, loss = problem.bank, problem.loss
    stored = type(bank), bank.access, "on the fly" in getattr(bank, "backend", "")
    return (*stored, type(loss), getattr(loss, "bias", True), type(problem.regularizer))


def miniatures(problem: Problem) -> list[Problem]:
    """Return problems of 40 points and of the kind of `problem`, none for a bank that has no miniatures."""
    data = load_dataset("two_moons", n=40)
    y = np.maximum(data.y, 0.0) if problem.loss.multiclass else data.y
    weights = None if problem.sample_weight is None else np.resize([1.0, 2.0], len(y))
    return [replace(problem, bank=bank, y=y, sample_weight=weights) for bank in problem.bank.miniatures(data.X)]


def few_steps(problem: Problem, solver: str | Solver) -> None:
    """Let a solver take a few steps, if it takes this problem."""
    try:
        solve(problem, solver, gap=1e-3, max_iter=_STEPS)
    except MklvizError as error:  # most often: this solver does not take this problem
        _log.debug("Warm-up of %s: %s", solver, error)


def _solve_all(make: Callable[[], Problem]) -> None:
    """Let every solver take a few steps on a small problem."""
    problem = make()
    for solver in _least_first():
        few_steps(problem, solver)


BASIC: dict[str, Callable[[], object]] = {  # what the first point waits for, what takes longest first, then the rest
    "newton steps": _newton_steps,
    "pair steps": _pair_steps,
    "banks": _banks,
    "game": _game,
    "svm": _svm,
    "level": partial(project_to_level_set, np.full(2, 0.5), np.array([[1.0, 0.0], [0.0, 0.5]]), 0.4),
    "large svm": partial(_svm, InnerSvm.compact_from + 8),
}
SMALL = {f"problem {number}": make for number, make in enumerate(problems(), 1)}
PARTS = BASIC | {part: partial(_solve_all, make) for part, make in SMALL.items()}


def main() -> None:
    """Compile the parts that are named on the input, one a line, and answer each by its name.

    The one argument is the process that asks.
    """
    gc.set_threshold(20_000, 50)  # looking for cycles among what numba makes would take a tenth of the time
    if hasattr(os, "nice"):
        os.nice(5)  # the page and whatever runs already come first
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    try:
        for line in sys.stdin:
            PARTS[line.strip()]()
            print(line.strip(), flush=True)
    except (KeyboardInterrupt, BrokenPipeError):  # who asked has gone
        sys.exit(1)


def _end_with(parent: int) -> None:
    """End this process soon after the one that asked, in the middle of a part if need be."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
