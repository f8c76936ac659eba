"""Several solvers on one problem, stepped in turn, one trace each."""

from __future__ import annotations

import math
import time
from collections.abc import Container, Iterable, Sequence
from copy import copy
from itertools import count
from typing import Any

from mklviz.contract import Iterate, Solver
from mklviz.engine.branch import BRANCH_DASH, branch_label, branch_start, origin_of
from mklviz.engine.helpers import check_threads
from mklviz.engine.registry import make_solver
from mklviz.engine.run import Run
from mklviz.engine.scheduler import Party
from mklviz.engine.stop import StopRule
from mklviz.engine.task import STOPPED
from mklviz.errors import MklvizError
from mklviz.html import table
from mklviz.kernels.interface import Approximate
from mklviz.problem import Problem
from mklviz.record.origin import Origin
from mklviz.record.summary import COLUMNS, label, summarize
from mklviz.record.trace import FINAL, Trace

__all__ = ["Race", "entered"]


def _branch_name(solver: Solver, origin: Origin, taken: Container[str]) -> tuple[str, Solver]:
    """Return a key for a branch that is not taken, and its solver with a name and a dash of its own."""
    name = branch_label(solver, origin)
    named = type(solver)(**{**solver.options(), "name": name})
    named.dash = BRANCH_DASH  # type: ignore[misc]
    key = next(key for k in count(1) if (key := name if k == 1 else f"{name}, {k}") not in taken)
    return key, named


def entered(solvers: Iterable[Solver]) -> dict[str, Solver]:
    """Return solvers by the keys of their runs; one that enters twice has its settings in its key ("PGD+N")."""
    by_key: dict[str, Solver] = {}
    for solver in solvers:
        name, shown = str(solver.name), {str(other.name) for other in by_key.values()}
        candidates = [solver.name_, name, *(f"{name} {k}" for k in range(2, len(by_key) + 3))]
        by_key[next(key for key in candidates if key not in by_key and key not in shown)] = solver
    return by_key


class Race:
    """Runs of several solvers on one problem.

    Parameters
    ----------
    problem : Problem
    solvers : sequence of str or Solver
        Registry names, or solvers with their options set.
    rules : sequence of StopRule, optional
        One set of stop rules for all.
    pace : float
        Steps per second of each run; 0 for full speed.
    seed : int
        Seed handed to the solvers that are given by name.
    threads : int
        Threads of a solver that runs alone; several solvers have one each.
    start : Iterate, optional
        Where all of them begin, see `Run`.
    origin : Origin, optional
        The step of another run that `start` is, see `Run`.

    Attributes
    ----------
    runs : dict of str to Run
        In the order given; a solver that enters twice has its settings in its key ("PGD+N").
    """

    def __init__(
        self,
        problem: Problem,
        solvers: Sequence[str | Solver],
        rules: Sequence[StopRule] | None = None,
        pace: float = 0.0,
        seed: int = 0,
        threads: int = 1,
        start: Iterate | None = None,
        origin: Origin | None = None,
    ) -> None:
        if not isinstance(solvers, Iterable) or isinstance(solvers, str):
            raise MklvizError(f"A race needs a list of solvers, such as ['level', 'spg'], not {solvers!r:.80}.")
        if not solvers:
            raise MklvizError("A race needs at least one solver.")
        check_threads(threads, len(solvers))
        self.problem = problem
        self.runs: dict[str, Run] = {}
        party = Party()
        made = [make_solver(entry, seed=seed) if isinstance(entry, str) else make_solver(entry) for entry in solvers]
        for key, solver in entered(made).items():
            self.runs[key] = Run(problem, solver, rules, pace, start, threads, party, origin)

    def __repr__(self) -> str:
        return f"Race({self.status}: {', '.join(self.runs)})"

    def _repr_html_(self) -> str | None:
        if not self.finished:
            return None
        rows = (summarize(key, run.status, run.trace) for key, run in self.runs.items())
        return table("Result of the race", COLUMNS, rows)

    @property
    def traces(self) -> dict[str, Trace]:
        """The trace of each run."""
        return {key: run.trace for key, run in self.runs.items()}

    @property
    def pace(self) -> float:
        """Steps per second of each run; 0 for full speed."""
        return next(iter(self.runs.values())).pace

    @pace.setter
    def pace(self, steps_per_second: float) -> None:
        for run in self.runs.values():
            run.pace = steps_per_second

    @property
    def status(self) -> str:
        """ "ready", "running", "paused" or "finished"."""
        states = {run.status for run in self.runs.values()}  # read once: a run may end meanwhile
        if states <= set(FINAL):
            return "finished"
        for state in ("running", "paused"):
            if state in states:
                return state
        return "ready"

    @property
    def finished(self) -> bool:
        return all(run.finished for run in self.runs.values())

    @property
    def closest(self) -> str | None:
        """Key of the run with the smallest gap; None as long as no run has begun."""
        gaps = {key: run.trace.gap_at(len(run.trace) - 1) for key, run in self.runs.items() if len(run.trace)}
        return min(gaps, key=lambda key: math.inf if math.isnan(gaps[key]) else gaps[key], default=None)

    @property
    def precision(self) -> str:
        """What is exact and what approximate, by the weights of the run with the smallest gap; "" if all is exact."""
        bank = self.problem.bank
        if not isinstance(bank, Approximate):
            return ""
        if self.closest is None:
            return bank.words()
        trace = self.traces[self.closest]
        return bank.words(trace.best.weights, label(self.closest, trace))

    def start(self) -> None:
        """Start or resume every run that has not ended."""
        for run in self.runs.values():
            run.start()

    resume = start

    def pause(self) -> None:
        """Hold every run after the step under way."""
        for run in self.runs.values():
            run.pause()

    def step(self, count: int = 1) -> None:
        """Let every run do `count` steps and pause."""
        for run in self.runs.values():
            run.step(count)

    def cancel(self, reason: str = STOPPED) -> None:
        """Stop every run for good; its trace says the reason, a sentence."""
        for run in self.runs.values():
            run.cancel(reason)

    def branch(self, key: str, step: int, solver: str | Solver, **options: Any) -> Race:
        """Return a race with one more run, which goes on from a step of another one and is ready to start.

        Its trace says so in `origin`, and counts steps, SVM solves and seconds on from there. Both races share the
        existing runs.

        Parameters
        ----------
        key : str
            Of the run to go on from.
        step : int
        solver : str or Solver
            A registry name, or a solver with its options set, which gets a name and a dash of its own.
        **options
            Options of a solver given by name.

        Raises
        ------
        UnsupportedProblem
            If the solver cannot go on from there, with the reason.
        MklvizError
            If there is no such run or step.
        """
        if key not in self.runs:
            raise MklvizError(f"This race has no run {key!r:.80}. Its runs are: {', '.join(self.runs)}.")
        before = self.runs[key]
        made = make_solver(solver, **options)
        origin = origin_of(before.trace, label(key, before.trace), step)
        start = branch_start(self.problem, made, before.trace, origin.step)
        again = copy(self)
        new, named = _branch_name(made, origin, self.runs)
        run = Run(self.problem, named, before.rules, self.pace, start, party=before.party, origin=origin)
        again.runs = {**self.runs, new: run}
        return again

    @classmethod
    def going_on(
        cls,
        problem: Problem,
        trace: Trace,
        solver: Solver,
        rules: Sequence[StopRule] | None = None,
        pace: float = 0.0,
        taken: Container[str] = (),
    ) -> Race:
        """Return a race of one run, ready to start, which goes on from the best iterate of a recorded run.

        Its trace says so in `origin`, and counts steps, SVM solves and seconds on from there; what the recorded run had
        proved stays proved.

        Parameters
        ----------
        problem : Problem
            The problem of the recorded run, posed anew.
        trace : Trace
        solver : Solver
        rules, pace
            As for a race.
        taken : collection of str
            Keys that the run must not have.

        Raises
        ------
        UnsupportedProblem
            If the solver cannot go on from there, with the reason.
        MklvizError
            If nothing was recorded yet, or the problem has other kernels or samples.
        """
        origin = origin_of(trace, trace.label, trace.first_step + trace.best_index)
        if trace.best.weights.shape != (problem.m,) or len(trace.best.dual) != problem.n:
            raise MklvizError(
                f"{trace.label} had {len(trace.best.weights):,} kernels and {len(trace.best.dual):,} samples, and this"
                f" problem has {problem.m:,} and {problem.n:,}: it cannot go on here."
            )
        start = branch_start(problem, solver, trace, origin.step)
        key, named = _branch_name(solver, origin, taken)
        race = cls(problem, [named], rules, pace, start=trace.best_start if problem.convex else start, origin=origin)
        race.runs = dict.fromkeys([key], *race.runs.values())
        return race

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until every run has ended; return whether they have."""
        deadline = None if timeout is None else time.monotonic() + timeout
        for run in self.runs.values():
            run.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        return self.finished
