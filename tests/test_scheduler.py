"""Time is shared out fairly, in the middle of long steps too, and who does not answer stops nobody else."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from _problems import PlainSolver
from _waits import PATIENCE, wait_for
from numba.core.compiler_lock import global_compiler_lock

import mklviz as mv
from mklviz.context import checkpoint
from mklviz.contract import End, Facts, Iterate
from mklviz.engine import Run, solve
from mklviz.engine.scheduler import Scheduler, TimeShare
from mklviz.errors import SolverError
from mklviz.lazy import cached_property
from mklviz.problem import Problem
from mklviz.quoting import MOST_SAID

TRAIN, _ = mv.load_dataset("sonar").split(train=0.2, seed=0)
POSED = mv.Problem(mv.KernelBank.build(TRAIN.X, [mv.Gaussian(widths=[1.0, 2.0])]), TRAIN.y, mv.Hinge(1.0))


def spend(seconds: float, ask: Callable[[], object] = lambda: None) -> None:
    """Work for a while, and `ask` all the time whether others are to come first."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ask()
        time.sleep(0.001)


@pytest.fixture
def impatient(one_worker: Scheduler) -> Scheduler:
    """Give up soon who is silent."""
    one_worker.silent_seconds, one_worker.lost_seconds = 0.2, 0.6
    return one_worker


class Job:
    """Works for some seconds in each turn, and writes down who it is.

    `hold`: what its turn goes on until, beyond these seconds; `begun`: set by its first turn.
    """

    def __init__(self, name: str, log: list[str], shared: Scheduler, seconds: float = 0.0, turns: int = 1) -> None:
        self.name, self.party, self.log, self.shared = name, TimeShare(), log, shared
        self.seconds, self.left = seconds, turns
        self.hold, self.begun, self.ended, self.lost = (threading.Event() for _ in range(4))
        self.hold.set()

    def work(self) -> None:
        spend(self.seconds)
        assert self.hold.wait(PATIENCE)

    def turn(self) -> None:
        self.begun.set()
        self.work()
        self.log.append(self.name)
        self.left -= 1
        if self.left:
            self.shared.submit(self)
        else:
            self.ended.set()

    def give_up(self, thread: int) -> None:
        self.log.append(f"{self.name} given up")
        self.lost.set()


class Asking(Job):
    """Asks all the time, until another job has ended."""

    until: threading.Event

    def work(self) -> None:
        wait_for(self.until.is_set, "the other job", self.shared.share)


@pytest.mark.full
def test_parties_get_the_same_time_however_many_jobs_they_have() -> None:
    shared, log = Scheduler(workers=1), []
    jobs = [Job(name, log, shared, 0.01, 20) for name in ("many", "many", "many", "many", "one")]
    for job in jobs:
        job.party = jobs[0].party if job.name == "many" else job.party
        shared.submit(job)
    assert all(job.ended.wait(PATIENCE) for job in jobs)
    alone = log.index("one", len(log) - 1 - log[::-1].index("one"))  # where the last of one stands
    assert log[: alone + 1].count("many") <= 2 * 20  # it would be four times as many, one after the other


def test_a_long_turn_is_left_in_the_middle_and_taken_up_again() -> None:
    shared, log = Scheduler(workers=1), []
    long, quick = Asking("long", log, shared), Job("quick", log, shared, 0.01, 10)
    long.until = quick.ended
    shared.submit(long)
    assert long.begun.wait(PATIENCE)
    shared.submit(quick)
    assert long.ended.wait(PATIENCE)
    assert quick.ended.wait(PATIENCE)
    assert log == ["quick"] * 10 + ["long"]


@pytest.mark.skipif(sys.platform != "linux", reason="Elsewhere threads have no niceness of their own.")
def test_workers_of_a_server_step_back_behind_its_pages(one_worker: Scheduler) -> None:
    class Looking(Job):
        def work(self) -> None:
            self.log.append(str(os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))

    log: list[str] = []
    one_worker.niceness = 3
    job = Looking("of the server", log, one_worker)
    one_worker.submit(job)
    assert job.ended.wait(PATIENCE)
    here = os.getpriority(os.PRIO_PROCESS, os.getpid())
    assert log == [str(min(here + 3, 19)), "of the server"]
    assert os.getpriority(os.PRIO_PROCESS, threading.main_thread().native_id) == here


def test_who_was_idle_has_saved_nothing_up() -> None:
    shared, log = Scheduler(workers=1), []
    first, late = Job("first", log, shared, 0.02, 30), Job("late", log, shared, 0.02, 10)
    shared.submit(first)
    wait_for(lambda: len(log) >= 15, "15 turns")
    shared.submit(late)
    assert late.ended.wait(PATIENCE)
    assert first.ended.wait(PATIENCE)
    meanwhile = log[log.index("late") : len(log) - log[::-1].index("late")]
    assert "first" in meanwhile


def test_a_job_that_waits_knows_how_many_are_ahead() -> None:
    shared, log = Scheduler(workers=1), []
    jobs = [Job(str(k), log, shared) for k in range(4)]
    jobs[0].hold.clear()
    for job in jobs:
        shared.submit(job)
    assert jobs[0].begun.wait(PATIENCE)
    assert [shared.ahead(job) for job in jobs] == [0, 1, 2, 3]
    jobs[0].hold.set()
    assert all(job.ended.wait(PATIENCE) for job in jobs)
    assert shared.ahead(jobs[0]) == 0


def test_who_never_asks_loses_its_worker_and_is_given_up(impatient: Scheduler) -> None:
    shared, log = impatient, []
    silent, quick = Job("silent", log, shared), Job("quick", log, shared, 0.01, 3)
    silent.hold = silent.lost
    shared.submit(silent)
    assert silent.begun.wait(PATIENCE)
    shared.submit(quick)
    assert quick.ended.wait(PATIENCE)
    assert silent.ended.wait(PATIENCE)
    assert log == ["quick"] * 3 + ["silent given up", "silent"]
    again = Job("again", log, shared, 0.01)
    shared.submit(again)
    assert again.ended.wait(PATIENCE)


class Compiling(Job):
    """Compiles for a while, as far as numba says, and then never asks."""

    compiling = 0.0

    def turn(self) -> None:
        with global_compiler_lock:
            spend(self.compiling)
            with global_compiler_lock:  # as what a function calls is compiled
                self.log.append("compiled")
        super().turn()


@pytest.mark.full
def test_compiling_and_waiting_for_it_are_no_silence(impatient: Scheduler) -> None:
    shared, log = impatient, []
    shared.lost_seconds = 1.5
    quick, silent = (Compiling(name, log, shared) for name in ("quick", "silent"))
    silent.hold = silent.lost
    held = quick.compiling = silent.compiling = 1.8  # each alone is longer than silence may be
    for job in (quick, silent):
        with global_compiler_lock:  # another thread's, so that a job only waits
            shared.submit(job)
            spend(held)
        assert job.ended.wait(PATIENCE)
    assert log == ["compiled", "quick", "compiled", "silent given up", "silent"]


def first_step() -> Iterate:
    return Iterate(np.full(POSED.m, 0.5), np.zeros(POSED.n), 1.0, 0.0, 0.0, 0)


class Odd(PlainSolver):
    """Takes one step as it should, and then does something else."""

    name_, label, paper = "odd", "Odd", "none"
    then: Callable[[], object] = staticmethod(lambda: None)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        yield first_step()
        yield self.then()  # type: ignore[misc]


def odd(then: Callable[[], object]) -> Run:
    solver = Odd()
    solver.then = then  # type: ignore[method-assign]
    return Run(POSED, solver)


def loop_for_ever(threads: list[threading.Thread]) -> None:
    threads.append(threading.current_thread())
    while True:
        spend(0.01)


@pytest.mark.usefixtures("impatient")
def test_a_solver_that_loops_for_ever_fails_alone_and_its_thread_ends() -> None:
    threads: list[threading.Thread] = []
    looping, fine = odd(lambda: loop_for_ever(threads)), Run(POSED, mv.make_solver("spg"))
    looping.start()
    wait_for(lambda: threads, "the step that loops")
    fine.start()
    assert fine.wait(PATIENCE)
    assert fine.status == "converged"
    assert looping.wait(PATIENCE)
    assert looping.status == "failed"
    assert "did not come back from a step" in looping.reason
    assert len(looping.trace) == 1
    threads[0].join(PATIENCE)
    assert not threads[0].is_alive()


def test_stop_ends_a_run_that_does_not_answer(impatient: Scheduler) -> None:
    threads: list[threading.Thread] = []
    looping = odd(lambda: loop_for_ever(threads))
    looping.start()
    wait_for(lambda: not impatient.answers(looping), "silence")
    looping.cancel()
    assert looping.wait(0.0)
    assert looping.status == "stopped"
    threads[0].join(PATIENCE)  # or whoever waits for workers to end would wait for it
    assert not threads[0].is_alive()


class OwnEnd(BaseException):
    """What no handler of Exceptions sees."""


class Speechless(Exception):
    """An error that breaks down itself when it is asked what it says."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Callable[[], object]:
    def act() -> None:
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (SystemExit(3), "Odd called for the whole program to exit, and was stopped instead."),
        (KeyboardInterrupt(), "Odd broke down: KeyboardInterrupt"),
        (GeneratorExit(), "Odd broke down: GeneratorExit"),
        (asyncio.CancelledError(), "Odd broke down: CancelledError"),
        (OwnEnd("enough"), "Odd broke down: OwnEnd: enough"),
        (Speechless(), "Odd broke down: Speechless"),
        (SolverError("\x1b[2Jgone\n\ttwice"), "�[2Jgone twice"),
        (ValueError("bad luck"), "Odd broke down: ValueError: bad luck"),
    ],
)
def test_whatever_a_solver_raises_it_fails_alone_and_hangs_nothing(error: BaseException, sentence: str) -> None:
    run, fine = odd(raising(error)), Run(POSED, mv.make_solver("spg"))
    run.start()
    fine.start()
    assert run.wait(PATIENCE)
    assert (run.status, len(run.trace), run.reason) == ("failed", 1, sentence)
    assert run.error is error or not isinstance(error, (SolverError, ValueError))
    assert fine.wait(PATIENCE)
    assert fine.status == "converged"


@pytest.mark.parametrize("say", [lambda text: End(text), SolverError, ValueError])
def test_a_reason_of_a_megabyte_is_cut_and_cannot_steer_a_terminal(say: Callable[[str], object]) -> None:
    found = say("\x1b]0;mine\x07\r" + "x" * 10**6)
    act = raising(found) if isinstance(found, Exception) else lambda: replace(first_step(), end=found)
    solver = odd(act).solver
    run = Run(POSED, solver, rules=())
    while run.advance():
        pass
    assert run.trace.reason.isprintable()
    assert len(run.trace.reason) < 2 * MOST_SAID
    if isinstance(found, Exception):
        with pytest.raises(SolverError) as raised:
            solve(POSED, solver)
        assert str(raised.value).isprintable()
        assert len(str(raised.value)) < 2 * MOST_SAID


def test_in_the_thread_that_ctrl_c_reaches_it_stays_what_it_is_and_elsewhere_it_is_the_solvers() -> None:
    with pytest.raises(KeyboardInterrupt):
        solve(POSED, odd(raising(KeyboardInterrupt())).solver)
    for error in (GeneratorExit(), asyncio.CancelledError()):
        with pytest.raises(SolverError, match=type(error).__name__):
            solve(POSED, odd(raising(error)).solver)
    with ThreadPoolExecutor(1) as other, pytest.raises(SolverError, match="KeyboardInterrupt"):
        other.submit(solve, POSED, odd(raising(KeyboardInterrupt())).solver).result(PATIENCE)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (None, "yielded NoneType"),
        ("x", "yielded str"),
        (replace(first_step(), weights=np.ones(1)), r"shape \(1,\), where \(2,\)"),
        (replace(first_step(), weights=[0.5, 0.5]), "numpy array was expected"),
        (replace(first_step(), weights=np.full(2, np.nan)), "weights hold numbers that are not"),
        (replace(first_step(), dual=np.zeros(3)), "dual variables have the shape"),
        (replace(first_step(), certificate=np.zeros(3)), "certificate's dual variables have the shape"),
        (replace(first_step(), weights=np.array([0.5, 1.1e150])), "weights hold numbers that are not finite or beyond"),
        (replace(first_step(), dual=np.full_like(first_step().dual, np.inf)), "variables hold numbers that are not"),
        (replace(first_step(), objective=np.nan), "objective is not a number"),
        (replace(first_step(), objective=np.inf), "objective is inf, one of the numbers that are not finite"),
        (replace(first_step(), objective=-1e151), "objective is -1e"),
        (replace(first_step(), lower_bound=-np.inf), "lower_bound is -inf"),
        (replace(first_step(), dual_bound=1e200), "dual_bound is 1e"),
        (replace(first_step(), step=np.inf), "step is inf"),
        (replace(first_step(), facts=Facts(svm_tolerance=np.inf)), "svm_tolerance is inf"),
        (replace(first_step(), objective=np.ones(2)), "one number was expected"),
        (replace(first_step(), svm_solves=None), "whole number was expected"),
    ],
)
def test_a_step_that_is_no_iterate_of_the_problem_fails_with_a_sentence(found: object, sentence: str) -> None:
    run = odd(lambda: found)
    while run.advance():
        pass
    assert run.status == "failed"
    assert len(run.trace) == 1
    with pytest.raises(SolverError, match=sentence):
        raise run.error or AssertionError


@pytest.mark.usefixtures("one_worker")
def test_a_step_that_asks_shares_its_worker() -> None:
    seen: list[str] = []
    begun = threading.Event()

    def long_step() -> Iterate:
        begun.set()
        wait_for(lambda: fine.status == "converged", "the other run", checkpoint)
        seen.append(fine.status)
        return first_step()

    long, fine = odd(long_step), Run(POSED, mv.make_solver("spg"))
    long.start()
    assert begun.wait(PATIENCE)
    fine.start()
    assert long.wait(PATIENCE)
    assert seen == ["converged"]


class Slow:
    """Has something that takes long, and is asked meanwhile whether it is still wanted."""

    @cached_property
    def found(self) -> float:
        spend(1.0, checkpoint)
        return 1.0


@pytest.mark.full
def test_what_is_computed_once_may_be_left_in_the_middle_by_two_at_a_time(one_worker: Scheduler) -> None:
    def step() -> Iterate:
        assert Slow().found
        return first_step()

    runs = [odd(step), odd(step), odd(step)]
    for run in runs:
        run.start()
    assert all(run.wait(one_worker.silent_seconds - 1.0) for run in runs)  # no watchdog came to help
