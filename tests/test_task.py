"""Work in a thread for a page: the newest question wins, its answer is taken once, and the event loop goes first."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable

import pytest
from _waits import PATIENCE, soon, wait_for

from mklviz.context import checkpoint
from mklviz.datasets import DataError
from mklviz.engine import task
from mklviz.engine.task import ProgressReport, Task
from mklviz.errors import SolverError

FAILED = "It could not be computed"


class Counting:
    """Work in small steps, which are counted."""

    def __init__(self) -> None:
        self.steps = 0
        self.enough = threading.Event()
        self.given_up = threading.Event()

    def __call__(self, report: ProgressReport) -> int:
        try:
            wait_for(self.enough.is_set, "enough", lambda: self._step(report))
        finally:
            self.given_up.set()
        return self.steps

    def _step(self, report: ProgressReport) -> None:
        self.steps += 1
        report(0.5)

    def goes_on(self) -> None:
        """Wait until it has taken some more steps."""
        before = self.steps
        wait_for(lambda: self.steps > before + 3, "more steps")


class Answer:
    """Something that can be referred to weakly."""


def begun(compute: Callable[[ProgressReport], int], progress: str = "") -> Task[int]:
    work = Task[int]()
    work.ask("a question", compute, FAILED, progress)
    return work


def ended(work: Task[int]) -> Task[int]:
    """Wait for the end, and take the answer."""
    wait_for(lambda: work.ended)
    work.take()
    return work


def test_the_newest_question_wins_and_its_answer_is_taken_once() -> None:
    older = Counting()
    work = begun(older)
    older.goes_on()
    work.ask("another", lambda _report: 2, FAILED)
    assert older.given_up.wait(PATIENCE)
    wait_for(lambda: work.ended)
    assert work.working
    assert work.take() == 2
    assert (work.working, work.ended, work.take(), work.fault) == (False, False, None, "")
    work.ask("another", older, FAILED)  # was asked last
    assert not work.working


def test_while_it_works_it_says_how_far_it_is_and_then_why_it_has_no_answer() -> None:
    counting = Counting()
    work = begun(counting, "{} of it.")
    assert work.take() is None
    wait_for(lambda: work.status == "50 % of it.")
    assert work.fraction == 0.5
    work.cancel()
    assert work.working
    assert ended(work).status == work.fault == "Stopped by hand."
    work.ask("a question", counting, FAILED)  # it was stopped, and is not begun again by itself
    assert not work.working
    work.forget()
    assert (work.key, work.status) == (None, "")


def test_every_checkpoint_of_what_is_computed_asks_whether_somebody_waits() -> None:
    computing, given_up = threading.Event(), threading.Event()

    def deep(_report: ProgressReport) -> int:
        try:
            while True:
                computing.set()
                checkpoint()
        finally:
            given_up.set()

    work = begun(deep)
    assert computing.wait(PATIENCE)
    work.forget()
    assert given_up.wait(PATIENCE)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SolverError("The step became negative."), "The step became negative."),
        (DataError("There is no table."), "There is no table."),
        *((error, f"{FAILED}; the server's log says more.") for error in (ValueError("x"), MemoryError("x"))),
        *((error, f"{FAILED}; the server's log says more.") for error in (KeyboardInterrupt(), SystemExit(1))),
    ],
)
def test_a_fault_is_one_sentence_and_the_log_has_what_is_not_for_people(
    error: BaseException, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_report: ProgressReport) -> int:
        raise error

    assert ended(begun(broken)).fault == said
    assert [record.message for record in caplog.records] == ([FAILED] if said.startswith(FAILED) else [])


def test_tasks_that_share_a_turn_compute_one_after_the_other_and_those_that_wait_can_be_given_up() -> None:
    turn, first, third = threading.Lock(), Counting(), Counting()
    works = [Task[int](turn) for _ in range(3)]
    works[0].ask(1, first, FAILED)
    first.goes_on()
    works[1].ask(1, lambda _report: 2, FAILED)
    works[2].ask(1, third, FAILED)
    works[2].cancel()
    assert ended(works[2]).fault == "Stopped by hand."
    assert third.steps == 0
    assert not works[1].ended
    first.enough.set()
    wait_for(lambda: works[1].ended)
    assert works[1].take() == 2
    assert not turn.locked()


@pytest.mark.full
def test_nothing_is_left_of_what_was_given_up_or_taken() -> None:
    answers: list[weakref.ref[Answer]] = []

    def compute(_report: ProgressReport) -> Answer:
        answer = Answer()
        answers.append(weakref.ref(answer))
        return answer

    work, asked = Task[Answer](), weakref.ref(compute)
    for key, done_with in enumerate((Task.take, Task.forget)):
        work.ask(key, compute, FAILED)
        wait_for(lambda: work.ended)
        done_with(work)
    del compute

    def gone() -> bool:
        gc.collect()
        return asked() is None and [answer() for answer in answers] == [None, None]

    wait_for(gone)


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the loop go first at each step, however long it takes."""
    for name, seconds in {"SLICE": 0.0, "PATIENCE": 120.0}.items():
        monkeypatch.setattr(task, name, seconds)


@pytest.mark.usefixtures("every_step")
def test_while_the_loop_answers_the_work_waits() -> None:
    counting = Counting()

    async def page() -> int:
        work = begun(counting)
        await soon(lambda: counting.steps > 3)
        before = counting.steps
        time.sleep(0.3)  # an answer that takes its time
        meanwhile = counting.steps - before
        await soon(lambda: counting.steps > before + 3)
        counting.enough.set()
        await soon(lambda: work.ended)
        assert work.take() == counting.steps
        return meanwhile

    assert asyncio.run(page()) <= 1  # the step under way


@pytest.mark.usefixtures("every_step")
def test_a_loop_that_stands_still_is_not_waited_for() -> None:
    counting = Counting()

    async def page() -> Task[int]:
        return begun(counting)

    loop = asyncio.new_event_loop()  # stopped and not closed: what is handed to it stays where it is
    work = loop.run_until_complete(page())
    counting.goes_on()
    work.cancel()
    assert ended(work).fault == "Stopped by hand."
    loop.close()
