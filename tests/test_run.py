"""Runs and races in threads: start, pause, resume, step, cancel, wait, and what happens when something breaks."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from _problems import PlainSolver, problem, ran
from _waits import PATIENCE, Clock, wait_for
from threadpoolctl import threadpool_info

from mklviz.context import checkpoint, interruptible
from mklviz.context.blas import one_blas_thread
from mklviz.contract import End, Iterate, Solver
from mklviz.engine import Gap, MaxIter, Race, Run, make_solver, solve
from mklviz.engine.scheduler import THREAD_PREFIX, Scheduler, TimeShare
from mklviz.engine.stop import Verdict
from mklviz.errors import Interrupted, UnsupportedProblem
from mklviz.problem import L1Penalty, Problem
from mklviz.record import FINAL, Trace

POSED = problem("blobs, C = 1")


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_PREFIX)]


class Fake(PlainSolver):
    """Yields the start `count` times (for ever if 0), doing `work` before each."""

    name_ = "fake"
    label = "Fake"

    def __init__(self, count: int = 0, work: Callable[[int, Solver], None] | None = None, **options: object) -> None:
        super().__init__(**options)
        self.count, self.work = count, work

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        t = 0
        while not self.count or t < self.count:
            if self.work is not None:
                self.work(t, self)
            end = End("The fake is at its end.") if t == self.count - 1 else None
            yield Iterate(np.full(problem.m, 1.0 / problem.m), np.zeros(problem.n), 1.0, 0.0, 0.0, t + 1, end=end)
            t += 1


def break_at(step: int, error: BaseException) -> Callable[[int, Solver], None]:
    def work(t: int, _: Solver) -> None:
        if t == step:
            raise error

    return work


class Gate:
    """Holds a solver in the middle of a step until opened; looks at the checkpoint meanwhile, as solvers do."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, t: int, solver: Solver) -> None:
        if t != self.step:
            return
        self.reached.set()
        deadline = time.monotonic() + PATIENCE
        while not self.opened.wait(0.001):
            checkpoint()
            if time.monotonic() > deadline:
                raise TimeoutError


def test_a_run_in_a_thread_gives_the_trace_of_a_solve() -> None:
    posed = problem("blobs, C = 100")
    for name in ("spg", "level", "pgd"):
        alone = solve(posed, name, gap=1e-4)
        race = ran(Race(posed, [name], rules=[Gap(1e-4), MaxIter(500)]))
        [(key, trace)] = race.traces.items()
        assert key == name
        for column in ("weights", "dual", "objective", "lower_bound", "step", "svm_solves"):
            np.testing.assert_array_equal(getattr(trace, column), getattr(alone, column))
        assert (trace.status, trace.reason) == (alone.status, alone.reason)


def test_a_run_is_ready_runs_pauses_resumes_and_ends() -> None:
    run = Run(POSED, Fake(), rules=[])
    assert (run.status, len(run.trace), run.finished) == ("ready", 0, False)
    run.start()
    assert run.status == "running"
    assert wait_for(lambda: len(run.trace) >= 10)
    run.pause()
    assert wait_for(lambda: run.status == "paused")
    held = len(run.trace)
    assert not run.wait(0.05)
    assert len(run.trace) == held
    run.resume()
    assert wait_for(lambda: len(run.trace) >= held + 10)
    run.cancel()
    assert run.wait(PATIENCE)
    assert (run.status, run.trace.status, run.reason) == ("stopped", "stopped", "Stopped by hand.")
    kept = len(run.trace)
    run.start()
    run.step(5)
    run.pause()
    run.cancel()
    assert (run.status, len(run.trace)) == ("stopped", kept)


@pytest.mark.parametrize("count", [1, 3, 10])
def test_stepping_does_exactly_that_many_steps_and_a_paused_run_can_be_cancelled(count: int) -> None:
    run = Run(POSED, Fake(), rules=[])
    for times in range(1, 4):
        run.step(count)
        assert wait_for(lambda: run.status == "paused")
        assert len(run.trace) == times * count
    run.cancel()
    assert run.wait(0)
    assert (run.status, len(run.trace)) == ("stopped", 3 * count)


def two_and_one(run: Run) -> None:
    run.step(2)
    run.step()


@pytest.mark.parametrize(
    ("at", "begin", "word", "taken"),
    [(4, Run.start, Run.pause, 5), (4, Run.start, two_and_one, 5 + 3), (0, Run.step, two_and_one, 1 + 3)],
    ids=["pause", "steps", "steps in quick succession"],
)
def test_pausing_and_stepping_finish_the_step_under_way_first_and_steps_add_up(
    at: int, begin: Callable[[Run], None], word: Callable[[Run], None], taken: int
) -> None:
    gate = Gate(at)
    run = Run(POSED, Fake(work=gate), rules=[])
    begin(run)
    assert gate.reached.wait(PATIENCE)
    word(run)
    gate.opened.set()
    assert wait_for(lambda: run.status == "paused")
    assert len(run.trace) == taken
    run.cancel()


def test_cancelling_leaves_a_long_step_in_its_middle() -> None:
    gate = Gate(3)
    run = Run(POSED, Fake(work=gate), rules=[])
    run.start()
    assert gate.reached.wait(PATIENCE)
    run.cancel()
    assert run.wait(PATIENCE)
    assert (run.status, len(run.trace), run.error) == ("stopped", 3, None)
    assert not gate.opened.is_set()


def test_a_solver_at_its_end_says_why_and_one_that_yields_nothing_ends() -> None:
    class Silent(Fake):
        def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
            yield from ()

    ended, silent = ran(Run(POSED, Fake(count=4), rules=[])), ran(Run(POSED, Silent()))
    assert (ended.status, ended.reason, len(ended.trace)) == ("limit", "The fake is at its end.", 4)
    assert (silent.status, silent.reason) == ("limit", "Fake can make no further progress.")


def test_a_rule_of_ones_own_that_says_when_time_is_up_ends_a_step_in_its_middle() -> None:
    def reached(seconds: float) -> Verdict | None:
        return Verdict("limit", "That will do.") if gate.reached.is_set() else None

    gate = Gate(2)
    run = ran(Run(POSED, Fake(work=gate), rules=[SimpleNamespace(check=lambda _: None, reached=reached)]))
    assert (run.status, run.reason, len(run.trace)) == ("limit", "That will do.", 2)


@pytest.mark.usefixtures("no_log")
def test_a_rule_that_breaks_fails_the_run_and_not_the_worker() -> None:
    broken = SimpleNamespace(check=Mock(side_effect=ArithmeticError("rule")))
    assert ran(Run(POSED, Fake(), rules=[broken])).status == "failed"
    assert ran(Run(POSED, Fake(), rules=[MaxIter(3)])).status == "limit"


def test_unsupported_problems_are_refused_before_anything_runs() -> None:
    with pytest.raises(UnsupportedProblem, match=r"\.$"):
        Race(replace(POSED, regularizer=L1Penalty(1.0)), ["spg", "level"])


def test_a_run_does_not_outrun_its_pace() -> None:
    pace = 100.0
    begun = time.monotonic()
    run = Run(POSED, Fake(), rules=[], pace=pace)
    run.start()
    assert wait_for(lambda: len(run.trace) >= 20)
    count, elapsed = len(run.trace), time.monotonic() - begun
    run.cancel()
    assert count <= pace * elapsed + 2  # the first step is free, one more may end while we look


def test_pausing_and_speeding_up_do_not_wait_for_a_slow_pace() -> None:
    run = Run(POSED, Fake(), rules=[], pace=1e-3)  # a step in twenty minutes
    run.start()
    assert wait_for(lambda: len(run.trace) == 1)
    run.pause()
    assert wait_for(lambda: run.status == "paused")
    for word, steps in ((two_and_one, 4), (Run.resume, 5)):
        word(run)
        assert wait_for(lambda steps=steps: len(run.trace) == steps)  # type: ignore[misc]
    run.pace = 0.0
    assert wait_for(lambda: len(run.trace) >= 20)
    run.pace = 1e-3
    run.cancel()
    assert run.wait(PATIENCE)


def test_a_final_status_means_a_final_trace() -> None:
    seen: list[tuple[int, Trace]] = []
    wrong: list[str] = []
    current: list[Run] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            if not current:
                continue
            run = current[-1]
            status, length = run.status, len(run.trace)
            if status in FINAL:
                seen.append((length, run.trace))
                if not run.reason or run.trace.status != status:
                    wrong.append(f"{status} {run.trace.status} {run.reason!r}")

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(60):
        run = Run(POSED, Fake(), rules=[MaxIter(20 + k)])
        current.append(run)
        ran(run)
    stop.set()
    reader.join()
    assert seen
    assert not wrong
    assert all(length == len(trace) for length, trace in seen)


def test_a_race_takes_its_runs_in_turn() -> None:
    order: list[str] = []
    racers = [Fake(work=lambda _, solver: order.append(solver.name), name=name) for name in "abc"]
    race = ran(Race(POSED, racers, rules=[MaxIter(60)]))
    assert [len(trace) for trace in race.traces.values()] == [61, 61, 61]
    counts = np.cumsum([[who == name for name in "abc"] for who in order], axis=0)
    lead = np.ptp(counts[10:], axis=1)  # the first steps may start before the others are there
    assert lead.max() <= 10 + len(workers())


def test_a_race_starts_pauses_steps_and_ends_as_one() -> None:
    race = Race(POSED, [Fake(name="a"), Fake(name="b")], rules=[])
    assert race.status == "ready"
    race.step(3)
    assert wait_for(lambda: race.status == "paused")
    assert [len(trace) for trace in race.traces.values()] == [3, 3]
    race.start()
    assert race.status == "running"
    assert wait_for(lambda: min(map(len, race.traces.values())) >= 10)
    race.pause()
    assert wait_for(lambda: race.status == "paused")
    assert not race.wait(0.01)
    race.resume()
    race.cancel()
    assert race.wait(PATIENCE)
    assert race.status == "finished"
    assert {run.status for run in race.runs.values()} == {"stopped"}


def test_a_solver_that_enters_twice_has_two_keys() -> None:
    plain, tuned = make_solver("pgd"), make_solver("pgd", svm_tolerance=1e-8)
    race = Race(POSED, [plain, tuned, make_solver("pgd", name="PGD, precise"), "pgd", "spg"])
    assert len(race.runs) == 5
    assert next(iter(race.runs)) == "pgd"
    assert {"PGD, precise", "spg"} <= set(race.runs)
    assert race.runs["pgd"].solver is plain


@pytest.fixture
def short_idle(one_worker: Scheduler) -> None:
    """Let workers without work end soon."""
    one_worker.idle_seconds = 0.05


@pytest.mark.usefixtures("short_idle")
def test_hundreds_of_quick_runs_leave_no_threads_and_paused_ones_need_none() -> None:
    runs = [Run(POSED, Fake(count=3), rules=[]) for _ in range(300)]
    for run in runs:
        run.start()
    assert all(run.wait(PATIENCE) for run in runs)
    assert {(run.status, len(run.trace)) for run in runs} == {("limit", 3)}
    assert wait_for(lambda: workers() == [])
    paused = Run(POSED, Fake(), rules=[])
    paused.step(2)
    assert wait_for(lambda: paused.status == "paused" and workers() == [])
    paused.step(2)
    assert wait_for(lambda: len(paused.trace) == 4)
    paused.cancel()


@pytest.mark.usefixtures("no_log")
def test_a_job_that_breaks_leaves_its_worker_alive() -> None:
    done, shared = threading.Event(), Scheduler(workers=1)
    for turn in (Mock(side_effect=RuntimeError), done.set):
        shared.submit(SimpleNamespace(party=TimeShare(), turn=turn))
    assert done.wait(PATIENCE)


def blas_threads() -> list[int]:
    return [int(library["num_threads"]) for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.full
@pytest.mark.usefixtures("short_idle")
def test_solves_run_on_one_blas_thread_and_limits_come_back() -> None:
    assert wait_for(lambda: workers() == [])
    before = blas_threads()
    seen: list[int] = []
    look = Fake(count=3, work=lambda *_: seen.extend(blas_threads()))
    gate = Gate(1)
    background = Run(POSED, Fake(count=3, work=gate), rules=[])
    background.start()
    assert gate.reached.wait(PATIENCE)
    solve(POSED, look, gap=None)  # overlaps with the run in the background
    assert set(seen) == {1}
    assert set(blas_threads()) == {1}
    gate.opened.set()
    assert background.wait(PATIENCE)
    assert wait_for(lambda: workers() == [])
    assert wait_for(lambda: blas_threads() == before)


def test_overlapping_limits_may_end_in_any_order() -> None:
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_interruption_in_the_callers_thread_ends_as_stopped() -> None:
    run = Run(POSED, Fake(work=break_at(2, Interrupted())), rules=[])
    while run.advance():
        pass
    assert (run.status, len(run.trace)) == ("stopped", 2)

    def unwanted() -> None:
        raise Interrupted("no longer wanted")

    with interruptible(unwanted):  # who asked first is heard within a run, too
        trace = solve(POSED, Fake(work=lambda *_: checkpoint()), gap=None)
    assert (trace.status, len(trace)) == ("stopped", 0)


def test_a_limit_of_seconds_ends_a_run_in_the_middle_of_a_step(clock: Clock) -> None:
    clock.tick = 1.0

    def work(t: int, _: Solver) -> None:
        while t == 2:  # a step that never ends
            checkpoint()

    for limit in (100.0, 1.0):
        trace = solve(POSED, Fake(work=work), gap=None, max_iter=None, max_seconds=limit)
        assert (trace.status, trace.reason) == ("limit", f"Reached the limit of {limit:g} seconds.")
        assert len(trace) == (2 if limit == 100.0 else 1)
    empty = solve(POSED, Fake(work=lambda t, _: work(2, _)), gap=None, max_iter=None, max_seconds=1.0)
    assert (empty.status, len(empty)) == ("limit", 0)


@pytest.mark.parametrize("name", ["spg", "level", "silp", "simplemkl", "newton", "closed-form"])
def test_a_limit_of_seconds_holds_inside_real_steps(name: str) -> None:
    """Every solver asks within its first step, however short: none is left to finish it."""
    posed = problem("linear penalty, separable blobs" if name == "closed-form" else "blobs, C = 100")
    trace = solve(posed, name, gap=None, max_iter=None, max_seconds=1e-9)
    assert (trace.status, len(trace)) == ("limit", 0)


def test_ctrl_c_hands_over_the_trace_and_stays_what_it_is() -> None:
    with pytest.raises(KeyboardInterrupt) as stop:
        solve(POSED, Fake(work=break_at(3, KeyboardInterrupt())), gap=None)
    found = stop.value.found  # type: ignore[attr-defined]
    assert isinstance(found, Trace)
    assert (found.status, found.reason, len(found)) == ("stopped", "Stopped by hand.", 3)


def test_the_closest_run_of_a_race_has_the_smallest_gap() -> None:
    race = Race(problem("blobs, C = 1"), ["pgd", "level"], (MaxIter(6),))
    assert race.closest is None
    ran(race)
    gaps = {key: trace.gap[-1] for key, trace in race.traces.items()}
    assert race.closest == min(gaps, key=lambda key: gaps[key])
