"""Several solvers on one problem, stepped in turn, one trace each; and branches, which go on from a step of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import count
from typing import Any

from mklviz.contract import Iterate, Solver
from mklviz.engine.kinds import KINDS, ProblemFacts, recommend, rivals, solver_for
from mklviz.engine.registry import make_solver, solver_classes, why_not
from mklviz.engine.run import Run
from mklviz.engine.scheduler import TimeShare
from mklviz.engine.stop import StopRule, standard_rules
from mklviz.engine.task import STOPPED, check_threads
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.inner.oracle import refuse
from mklviz.lazy import cached_property
from mklviz.numbers import counted, is_whole, number_text
from mklviz.problem import Problem
from mklviz.quoting import table
from mklviz.record import FINAL, Trace
from mklviz.record.run_facts import Origin
from mklviz.record.summary import COLUMNS, label, summarize

# Going on from a recorded step with another solver: the weights and dual variables of one run, the method of another.
# The SVM at those weights is solved already, so that solving it once more is not counted: a branch begins with the SVM
# solves of its origin. The bounds that the first run had proved stay valid; the branch carries them as its certificate.

BRANCH_DASH = "dashed"


def branch_refusal(problem: Problem, solver: Solver) -> str:
    """Return "" or why a solver cannot go on from a step of another, in a sentence."""
    if solver.stochastic:
        return f"{solver.label} always begins at the zero function, so it cannot go on from where another method is."
    return why_not(solver, problem)


def successors(problem: Problem, solver: str, usual: Sequence[str]) -> list[str]:
    """Return all solvers by name, those first that are of most use at a step of `solver`.

    Those that can go on there come before those that cannot, and another one before the same; then those that would
    race by default, the recommended solver, and those that the table of kinds recommends elsewhere.
    """
    known = solver_classes()
    refused = {name: bool(branch_refusal(problem, made())) for name, made in known.items()}
    able = () if all(refused.values()) else ({*rivals(problem, usual)[0]}, {recommend(problem)})
    tiers = [*able, {kind.solver for kind in KINDS}, {*known}]

    def tier(name: str) -> int:
        return next(rank for rank, names in enumerate(tiers) if name in names)

    return sorted(known, key=lambda name: (refused[name], name == solver, tier(name)))


def origin_of(trace: Trace, label: str, step: int) -> Origin:
    """Return a step of a recorded run as an origin, or raise `MklvizError` where there is no such step."""
    if not is_whole(step):
        raise MklvizError(f"A step is a whole number, not {step!r:.40}.")
    step = int(step)
    index = step - trace.first_step
    if not 0 <= index < len(trace):
        there = f"steps {trace.first_step:,} to {trace.last_step:,}" if len(trace) else "no steps yet"
        raise MklvizError(f"{label} has {there}: there is no step {step!r:.40} to go on from.")
    return Origin(label, step, trace[index].svm_solves, trace.seconds_at(index), trace.split_at(index))


def branch_start(problem: Problem, solver: Solver, trace: Trace, step: int) -> Iterate:
    """Return where a branch begins: the iterate of that step, with what proves the best lower bound until there.

    Raises `UnsupportedProblem` if the solver cannot go on from there, with the reason.
    """
    refuse(branch_refusal(problem, solver))
    here = trace[step - trace.first_step]
    if not problem.convex:
        return here
    proving = max(trace[: step - trace.first_step + 1], key=lambda iterate: iterate.lower_bound)
    return replace(here, certificate=proving.dual if proving.certificate is None else proving.certificate)


def narrated(solver: Solver, trace: Trace, index: int) -> str:
    """Say what a solver did at an iterate of its run, the first one of a branch included."""
    here, origin = trace[index], trace.origin
    if index or origin is None:
        return solver.narrate(trace[index - 1] if index else None, here)
    return (
        f"{solver.label} takes over the weights of {origin.label} at step {origin.step:,}, with"
        f" {counted(origin.svm_solves, 'SVM solve')} behind it: objective {number_text(here.objective)}."
    )


def _branch_name(solver: Solver, origin: Origin, taken: Container[str]) -> tuple[str, Solver]:
    """Return a key for a branch that is not taken, and its solver with a name and a dash of its own."""
    name = f"{solver.name} from step {origin.step:,} of {origin.label}"
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


def _check_sizes(problem: Problem, trace: Trace, so: str) -> None:
    """Raise `MklvizError` where a trace cannot be about the problem."""
    m, n = (len(trace.final.weights), len(trace.final.dual)) if len(trace) else (problem.m, problem.n)
    if (m, n) != (problem.m, problem.n):
        raise MklvizError(
            f"{trace.label} had {m:,} kernels and {n:,} samples, and this problem has {problem.m:,} and {problem.n:,}:"
            f" {so}."
        )


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
    missing : str
        Why the problem is not at hand, a sentence, where the race is one of the past whose data are not here.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y)
    >>> race = mv.Race(problem, ["level", "spg"])
    >>> race.start()
    >>> race.wait()
    True
    >>> sorted(race.traces)
    ['level', 'spg']
    """

    missing = ""

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
        self._problem: Problem | None = problem
        self.runs: dict[str, Run] = {}
        party = TimeShare()
        for key, solver in entered(solver_for(problem, entry, seed) for entry in solvers).items():
            self.runs[key] = Run(problem, solver, rules, pace, start, threads, party, origin)

    def __repr__(self) -> str:
        return f"Race({self.status}: {', '.join(self.runs)})"

    def _repr_html_(self) -> str | None:
        if not self.finished:
            return None
        rows = (summarize(key, run.status, run.trace) for key, run in self.runs.items())
        return table("Result of the race", COLUMNS, rows)

    @property
    def problem(self) -> Problem:
        """The problem; raises `UnsupportedProblem` where it is `missing`."""
        if self._problem is None:
            raise UnsupportedProblem(self.missing)
        return self._problem

    @cached_property
    def facts(self) -> ProblemFacts:
        """What is known of the problem without its data."""
        return ProblemFacts.recorded(self.traces.values()) if self._problem is None else ProblemFacts.of(self._problem)

    def shares_problem(self, other: Race | None) -> bool:
        """Whether another race is this one, goes on from it, or begins elsewhere on the same problem."""
        return other is self or (other is not None and self._problem is not None and other._problem is self._problem)

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
        bank = None if self._problem is None else self._problem.bank
        if bank is None:
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

        `key`: of the run to go on from; `solver`: a registry name with its options, or a solver, which gets a name and
        a dash of its own. Raises `UnsupportedProblem` if the solver cannot go on from there, with the reason, and
        `MklvizError` if there is no such run or step.
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
        threads: int = 1,
    ) -> Race:
        """Return a race of one run, ready to start, which goes on from the best iterate of a recorded run.

        Its trace says so in `origin`, and counts steps, SVM solves and seconds on from there; what the recorded run had
        proved stays proved.

        `problem`: that of the recorded run, posed anew; `rules`, `pace`, `threads`: as for a race; `taken`: keys that
        the run must not have. Raises `UnsupportedProblem` if the solver cannot go on from there, with the reason, and
        `MklvizError` if nothing was recorded yet, or the problem has other kernels or samples.
        """
        origin = origin_of(trace, trace.label, trace.first_step + trace.best_index)
        _check_sizes(problem, trace, "it cannot go on here")
        start = branch_start(problem, solver, trace, origin.step)
        key, named = _branch_name(solver, origin, taken)
        start = trace.best_start if problem.convex else start
        race = cls(problem, [named], rules, pace, threads=threads, start=start, origin=origin)
        race.runs = dict.fromkeys([key], *race.runs.values())
        return race

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until every run has ended; return whether they have."""
        deadline = None if timeout is None else time.monotonic() + timeout
        for run in self.runs.values():
            run.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        return self.finished


# -- A race of the past, of which everything that was kept is here: it can be shown as if it had just ended.
#
# Where its problem can be posed anew, it can be gone on from, too.


class _ReopenedRun(Run):
    """A run that has ended: its trace was recorded."""

    def __init__(self, solver: Solver, trace: Trace, rules: Sequence[StopRule], party: TimeShare) -> None:
        self._set_up(solver, trace, rules, party=party)
        self._status = trace.status
        self._ended.set()


class ReopenedRace(Race):
    """Recorded runs of one problem.

    `problem`: posed anew, or None where its data are not here, and then `missing` says why; `traces`: by the keys of
    the runs, which have ended or were cut off; `rules`: for branches; `stored`: key of the race in the store, "" where
    it came from elsewhere. Raises `MklvizError` if no run has a step or one has other kernels or samples than the
    problem, or its solver is unknown or cannot solve the problem.
    """

    def __init__(
        self,
        problem: Problem | None,
        traces: Mapping[str, Trace],
        rules: Sequence[StopRule] | None = None,
        stored: str = "",
        missing: str = "",
    ) -> None:
        if not any(len(trace) for trace in traces.values()):
            raise MklvizError("No step of this race was recorded: there is nothing to show.")
        self._problem, self.missing, self.stored, self.runs, party = problem, missing, stored, {}, TimeShare()
        if rules is None:
            rules = () if problem is None else standard_rules(convex=problem.convex)
        for key, trace in traces.items():
            solver = make_solver(trace.solver, **{**trace.options, "name": trace.label})
            if problem is not None:
                _check_sizes(problem, trace, "the data may have changed since")
                refuse(solver.refusal(problem))
            if trace.origin is not None:
                solver.dash = BRANCH_DASH  # type: ignore[misc]
            self.runs[key] = _ReopenedRun(solver, trace, rules, party)
