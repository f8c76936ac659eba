"""One solver on one problem, driven from outside: start, pause, resume, step, cancel, wait.

The solver is a generator; a run calls `next` on it, keeps the clock and asks the stop rules. Time is the CPU time of
the thread inside `next`, and of its helpers, so pauses, drawing, other solvers and the compilation of functions that
are called for the first time do not count.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from mklviz.context import FINEST, checkpoint, interruptible, metered, resolving
from mklviz.context.meter import Meter, Progress
from mklviz.contract import Iterate, Solver
from mklviz.engine.exactness import checked_iterate, reviewed
from mklviz.engine.scheduler import SCHEDULER, TimeShare
from mklviz.engine.stop import GapRule, StopRule, TimeLimit, fired, standard_rules
from mklviz.engine.task import STOPPED, Helpers, check_threads, interrupt, watch
from mklviz.errors import Interrupted, MklvizError, ProblemError, SolverError
from mklviz.inner.oracle import refuse
from mklviz.kernels import size_remark
from mklviz.numbers import is_number
from mklviz.problem import Problem
from mklviz.quoting import message_of
from mklviz.record import FINAL, Trace
from mklviz.record.run_facts import Origin, Verdict, versions_in_use

_log = logging.getLogger(__name__)
LOOK_SECONDS = 0.05  # seconds between two checks whether a held run may begin
UNSEEN = 1e-3  # share of the requested gap by which rounding may move bounds
PATIENT_SECONDS = 1.0  # seconds of waiting for a turn before the wait is shown


_WEIGHTED = {"sum": "{:,} kernels", "product": "product of {:,} kernels", "parametric": "kernel of {:,} parameters"}


def describe(problem: Problem) -> str:
    """Return one line about a problem."""
    return (
        f"{_WEIGHTED[problem.bank.kind].format(problem.m)}, {problem.n:,} samples, {problem.loss.label} loss with"
        f" C = {problem.loss.C:g}{problem.of_weights}, {problem.regularizer.label}"
    )


class Run:
    """One solver on one problem.

    Parameters
    ----------
    problem : Problem
    solver : Solver
    rules : sequence of StopRule, optional
        Gap 1e-2 (projected gradient 1e-3 where the problem is not convex) or 500 steps by default.
    pace : float
        Steps per second to hold to; 0 for full speed.
    start : Iterate, optional
        Where to begin: an iterate of a problem with the same kernels and samples. Stochastic solvers begin anew.
    threads : int
        Threads that share the solver's long computations; results are the same bit for bit, and `seconds` counts the
        time of all of them.
    party : TimeShare, optional
        With whom it shares the workers' time as one: the runs of a race.
    origin : Origin, optional
        The step of another run that `start` is, from which this one counts on.

    Attributes
    ----------
    trace : Trace
    status : str
        "ready", "running", "paused", or how the trace says that it ended.
    error : BaseException or None
        What broke a failed run.
    source : callable
        ``source(problem, start)`` yields the iterates. It is the solver's own, unless another one is set before the
        run begins.

    Raises
    ------
    UnsupportedProblem
        If the solver cannot solve the problem, with the reason.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> run = mv.Run(problem, mv.make_solver("level"), [mv.Gap(0.01)])
    >>> while run.advance():
    ...     pass
    >>> run.trace.status
    'converged'
    """

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        rules: Sequence[StopRule] | None = None,
        pace: float = 0.0,
        start: Iterate | None = None,
        threads: int = 1,
        party: TimeShare | None = None,
        origin: Origin | None = None,
    ) -> None:
        check_threads(threads)
        check_problem(problem)
        _check_types(solver, pace, start)
        refuse(solver.refusal(problem))
        trace = Trace(
            solver.name_,
            str(solver.name),
            solver.options(),
            problem.bank.names,
            describe(problem),
            versions=versions_in_use(),
            origin=origin,
            descends=solver.converges,
        )
        self.problem = problem
        asked = standard_rules(convex=problem.convex) if rules is None else rules
        self._set_up(solver, trace, asked, pace, start, threads, party)

    def _set_up(
        self,
        solver: Solver,
        trace: Trace,
        rules: Sequence[StopRule],
        pace: float = 0.0,
        start: Iterate | None = None,
        threads: int = 1,
        party: TimeShare | None = None,
    ) -> None:
        """Make it ready, whatever has been checked."""
        self.solver, self.trace, self.rules = solver, trace, tuple(rules)
        self.source: Callable[[Problem, Iterate | None], Iterator[Iterate]] = solver.iterates
        certified = [rule for rule in self.rules if isinstance(rule, GapRule)]
        self._goal = max((rule.goal for rule in certified), default=0.0)
        self._resolution = min((UNSEEN * rule.tol for rule in certified), default=FINEST)
        self._pace = pace
        self.error: BaseException | None = None
        self._solved_again = 0  # SVMs of the start, which the run before has solved as well
        self._status = "ready"
        self._meter, self._progress = Meter(), Progress()
        self._helpers = Helpers(threads, self._meter) if threads > 1 else None
        self._iterates: Iterator[Iterate] | None = None
        self._lock = threading.RLock()
        self._paused, self._credits, self._scheduled = True, 0, False
        self._cancelled: Verdict | None = None
        self._ended = threading.Event()
        self._deadlines = [rule for rule in self.rules if isinstance(rule, TimeLimit)]
        self._out_of_time: Verdict | None = None
        self._held: Callable[[], str] | None = None
        self.party = party or TimeShare()
        self._waits_since = 0.0
        self._start = start

    @property
    def status(self) -> str:
        return self._status

    @property
    def pace(self) -> float:
        return self._pace

    @pace.setter
    def pace(self, steps_per_second: float) -> None:
        faster = steps_per_second <= 0 or 0 < self._pace < steps_per_second
        self._pace = steps_per_second
        if faster:
            SCHEDULER.hurry(self)  # it may be waiting by the old pace

    @property
    def reason(self) -> str:
        """How the run ended, as a sentence."""
        return self.trace.reason

    @property
    def doing(self) -> str:
        """What a step that takes long is doing, such as "computing the slopes of 1,000,000 kernels, 40 %", or ""."""
        return self.held or self._meter.compiling or self._progress.text or self._queued

    @property
    def _queued(self) -> str:
        """How many races are served first, where that takes long enough to be noticed."""
        if self._status != "running" or time.monotonic() - self._waits_since < PATIENT_SECONDS:
            return ""
        ahead = SCHEDULER.ahead(self)
        return f"waiting for its turn: {ahead} {'race' if ahead == 1 else 'races'} before this one" if ahead else ""

    @property
    def held(self) -> str:
        """Why the run cannot begin yet, in a sentence, or ""."""
        return self._held() if self._held is not None and not self.finished else ""

    def hold(self, reason: Callable[[], str]) -> None:
        """Do no step, even when started, while `reason` returns a sentence; it can be paused and cancelled."""
        self._held = reason

    @property
    def finished(self) -> bool:
        return self._status in FINAL

    def start(self) -> None:
        """Run in the background until a stop rule fires."""
        with self._lock:
            self._paused, self._credits = False, 0
            self._schedule()

    resume = start

    def pause(self) -> None:
        """Hold after the step under way."""
        with self._lock:
            self._paused, self._credits = True, 0
            SCHEDULER.hurry(self)

    def step(self, count: int = 1) -> None:
        """Do `count` steps, beside one that may be under way, and pause."""
        with self._lock:
            self._paused, self._credits = True, self._credits + max(count, 0)
            self._schedule()

    def cancel(self, reason: str = STOPPED) -> None:
        """Stop for good, in the middle of a step if need be; what was found so far stays.

        `reason`: why, as the sentence that the trace says.
        """
        with self._lock:
            self._cancelled = self._cancelled or Verdict("stopped", reason)
            if self._scheduled and SCHEDULER.answers(self):
                SCHEDULER.hurry(self)
            elif not self.finished:
                self._finish(self._cancelled)

    def give_up(self, thread: int) -> None:
        """Fail: for a minute, a step in that thread has neither ended nor asked whether it is still wanted."""
        self._fail(
            SolverError(
                f"{self.solver.label} did not come back from a step, nor call mklviz.context.checkpoint() in it, for"
                f" {SCHEDULER.lost_seconds:.0f} seconds, and was given up."
            )
        )
        interrupt(thread)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended; return whether it has."""
        return self._ended.wait(timeout)

    def advance(self) -> bool:
        """Do one step in the calling thread; return whether there may be more.

        Whatever a step raises ends the run as failed; Ctrl-C alone, which is the user's, is raised again.
        """
        try:
            return self._advanced()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise  # Ctrl-C, which Python raises there alone
            self._fail(error)
            return False

    def _advanced(self) -> bool:
        try:
            iterate = self._next()
            if iterate is None:
                return False
            self.trace.append(*self._counted_on(iterate))
            stopped = fired(self.rules, self.trace)
            verdict = self._reviewed(stopped)
            if stopped is not None and verdict is None:  # rounding may have closed the gap; other rules hold
                verdict = fired((rule for rule in self.rules if not isinstance(rule, GapRule)), self.trace)
        except Interrupted:
            verdict = self._out_of_time or self._cancelled or Verdict("stopped", STOPPED)
        if verdict is not None:
            self._finish(verdict)
        return verdict is None

    def _counted_on(self, iterate: Iterate) -> tuple[Iterate, float, dict[str, float] | None]:
        """Return a step with what was spent so far, by the run that this one goes on from, too."""
        origin, seconds, split = self.trace.origin, self._meter.total, self._meter.seconds
        if origin is None:
            return iterate, seconds, split
        if not len(self.trace):
            self._solved_again = iterate.svm_solves
        solves = origin.svm_solves + iterate.svm_solves - self._solved_again
        spent = {part: origin.split[part] + own for part, own in split.items()} if origin.split else None
        return replace(iterate, svm_solves=solves), origin.seconds + seconds, spent

    def turn(self) -> None:
        """Take one turn for the scheduler, and queue for the next."""
        begun = time.monotonic()
        with self._lock:
            if self._cancelled:
                self._finish(self._cancelled)
            if self.finished:
                return
            if self._paused and self._credits == 0:
                self._status, self._scheduled = "paused", False
                return
            self._status = "running"
            if self.held:
                SCHEDULER.submit(self, LOOK_SECONDS)
                return
            self._held = None
            if self._paused:
                self._credits -= 1
        if not self.advance():
            return
        with self._lock:  # a caller that cancels or resumes sees the run queued, never in between
            pace = self._pace
            hold = 1.0 / pace - (time.monotonic() - begun) if pace > 0 else 0.0
            self._waits_since = time.monotonic() + max(hold, 0.0)
            SCHEDULER.submit(self, 0.0 if self._paused or self._cancelled else max(hold, 0.0))

    def _next(self) -> Iterate | None:
        spread = self._helpers.spread if self._helpers is not None else None
        self._meter.start()
        self._progress.start()
        try:
            if self._iterates is None:
                self._iterates = self.source(self.problem, self._start)
            supervised = interruptible(self._checkpoint, self._progress.report, spread, self._watch)
            with supervised, metered(self._meter), resolving(self._resolution):
                return checked_iterate(next(self._iterates), self.problem, self.solver.label)
        except StopIteration:
            end = self.trace.final.end if len(self.trace) else None
            stuck = Verdict("limit", end.reason if end else f"{self.solver.label} can make no further progress.")
            self._finish((self._reviewed(stuck) if len(self.trace) else None) or stuck)
            return None
        finally:
            self._meter.stop()
            self._progress.stop()

    def _reviewed(self, verdict: Verdict | None) -> Verdict | None:
        """Return the verdict in the light of rounding; bounds that contradict each other are an error."""
        with resolving(self._resolution):
            checked = reviewed(self.problem, self.trace, verdict, self._goal)
        if checked is not None and checked.status == "failed":
            raise SolverError(checked.reason)
        return checked

    def _schedule(self) -> None:
        if self.finished:
            return
        self._status = "running"
        if self._scheduled:
            SCHEDULER.hurry(self)
        else:
            self._scheduled, self._waits_since = True, time.monotonic()
            SCHEDULER.submit(self)

    def _watch(self, work: Callable[[], Any]) -> Any:
        return watch(work, self._meter, checkpoint)

    def _checkpoint(self) -> None:
        SCHEDULER.share()
        if self._cancelled:
            raise Interrupted("The run was cancelled.")
        for rule in self._deadlines:
            self._out_of_time = rule.reached(self._meter.elapsed)
            if self._out_of_time is not None:
                raise Interrupted(self._out_of_time.reason)

    def _fail(self, error: BaseException) -> None:
        self.error = error
        if isinstance(error, MklvizError):
            self._finish(Verdict("failed", message_of(error)))
            return
        _log.exception("%s broke down", self.solver.label)
        if isinstance(error, SystemExit):
            why = "called for the whole program to exit, and was stopped instead."
        else:
            why = f"broke down: {': '.join(filter(None, (type(error).__name__, message_of(error))))}"
        self._finish(Verdict("failed", f"{self.solver.label} {why}"))

    def _finish(self, verdict: Verdict) -> None:
        if verdict.status not in _NEEDS_NO_REMARK:
            remarks = (verdict.reason, self._advice(verdict), size_remark(self.problem.bank))
            verdict = replace(verdict, reason=" ".join(filter(None, remarks)))
        with self._lock:
            if self.finished:  # given up before, and heard of again
                return
            self.trace.finish(verdict)
            self._status = verdict.status
            self._scheduled = False
            self._iterates = None
            if self._helpers is not None:
                self._helpers.dismiss()
            self._ended.set()

    def _advice(self, verdict: Verdict) -> str:
        """Return what the solver would have chosen instead, where a limit has ended it."""
        if verdict.status != "limit" or not len(self.trace):
            return ""
        try:
            return self.solver.advice(self.problem, self.trace.final)
        except Exception:
            _log.exception("%s has no advice", self.solver.label)
            return ""


def check_problem(problem: Problem) -> None:
    """Raise `ProblemError` unless `problem` is one."""
    if not isinstance(problem, Problem):
        raise ProblemError(f"What is to be solved must be a Problem, but {problem!r:.80} was given.")


def check_callable(argument: object, name: str) -> None:
    """Raise `ProblemError` unless `argument` can be called, or is None."""
    if argument is not None and not callable(argument):
        raise ProblemError(f"{name} takes a function that is called now and then, or None, not {argument!r:.80}.")


def _check_types(solver: Solver, pace: float, start: Iterate | None) -> None:
    """Raise `ProblemError` where one thing was given for another."""
    for argument, right, wanted in (
        (solver, isinstance(solver, Solver), "A run needs a solver, as make_solver returns"),
        (pace, is_number(pace) and pace >= 0, "The pace is a number of steps per second, 0 for full speed"),
        (start, start is None or isinstance(start, Iterate), _STARTS),
    ):
        if not right:
            raise ProblemError(f"{wanted}, but {argument!r:.80} was given.")


_STARTS = "A run starts from an iterate, such as trace.final (SPG and PGD have random starts, random_start=1, 2, ...)"
_NEEDS_NO_REMARK = ("converged", "stopped", "failed")  # endings that the kernels' sizes do not explain
