"""Several threads share the work of one solver: the same bits as alone, honest seconds, an end when it is asked for."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from _waits import PATIENCE
from test_run import Fake, blas_threads
from threadpoolctl import threadpool_limits

from mklviz.cli.commands import main
from mklviz.context import meter, uninterrupted
from mklviz.context.meter import Meter, Progress
from mklviz.engine import Race, Run, solve
from mklviz.engine.registry import make_solver
from mklviz.engine.task import Helpers, watch
from mklviz.errors import Interrupted, MklvizError
from mklviz.kernels import Bank, Gaussian, KernelBank, NystromBank, Polynomial
from mklviz.kernels.storage import streamed as _streamed
from mklviz.problem import Hinge, LpBall, Problem, Simplex
from mklviz.scenarios import scenarios
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import run_styles
from mklviz.views.race.results import ResultRow, result_table
from mklviz.views.sidebar.controls import RunPanel

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 5))
Y = np.where(RNG.random(60) < 0.5, 1.0, -1.0)


def streamed(regularizer: LpBall | Simplex, subsets: int = 30) -> Problem:
    bank = KernelBank.build(X, [Gaussian(on=f"random:{subsets}")], max_bytes=4000 * subsets)
    assert "on the fly" in bank.backend
    return Problem(bank, Y, Hinge(10.0), regularizer)


@pytest.mark.usefixtures("streamed_in_pieces")
@pytest.mark.parametrize(("solver", "regularizer"), [("closed-form", LpBall(4.0 / 3.0)), ("spg", Simplex())])
def test_traces_are_the_same_bit_for_bit(solver: str, regularizer: LpBall | Simplex) -> None:
    problem = streamed(regularizer)
    one, three = (solve(problem, solver, gap=1e-3, max_iter=12, threads=threads) for threads in (1, 3))
    assert len(one) > 3
    for name in ("weights", "dual", "objective", "lower_bound", "step", "svm_solves"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))


def spin(seconds: float) -> None:
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass


@pytest.mark.parametrize("threads", [2, 4])
def test_seconds_count_what_every_thread_computes(threads: int) -> None:
    """Every thread takes one piece and computes for a hundredth of a second."""
    meter, met, names = Meter(), threading.Barrier(threads, timeout=PATIENCE), set()
    helpers = Helpers(threads, meter)

    def piece(k: int) -> None:
        names.add(threading.current_thread().name)
        met.wait()
        spin(0.01)

    meter.start()
    helpers.spread(piece, threads)
    meter.stop()
    helpers.dismiss()
    assert len(names) == threads
    assert meter.total >= 0.01 * threads


@pytest.mark.parametrize("broken", [0, 3, 7])
def test_an_error_in_any_piece_ends_all_and_is_raised(broken: int) -> None:
    done: list[int] = []

    def piece(k: int) -> None:
        if k == broken:
            raise ZeroDivisionError(str(k))
        time.sleep(0.01)
        done.append(k)

    helpers = Helpers(2, Meter())
    with pytest.raises(ZeroDivisionError, match=str(broken)):
        helpers.spread(piece, 100)
    after = len(done)
    assert after <= broken + 1  # the piece that the other thread was in
    met = threading.Barrier(2, timeout=PATIENCE)
    helpers.spread(lambda _: met.wait(), 2)  # takes every thread
    assert len(done) == after  # nobody goes on behind the caller's back


def test_foreign_code_is_watched_from_beside() -> None:
    meter, hold = Meter(), threading.Event()
    meter.start()
    assert watch(lambda: spin(0.01) or 7, meter, lambda: None) == 7
    assert meter.seconds["other"] >= 0.01

    def unwanted() -> None:
        raise Interrupted("enough")

    with pytest.raises(Interrupted):
        watch(lambda: hold.wait(PATIENCE), meter, unwanted)
    hold.set()

    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        watch(broken, meter, lambda: None)


def test_a_run_ends_while_foreign_code_goes_on() -> None:
    hold, begun = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        hold.wait(PATIENCE)

    run = Run(streamed(LpBall(2.0)), Fake(work=lambda *_: uninterrupted(work)))
    run.start()
    assert begun.wait(PATIENCE)
    run.cancel()
    assert run.wait(PATIENCE)
    assert run.status == "stopped"
    hold.set()


def test_a_race_gives_each_solver_one_thread(capsys: pytest.CaptureFixture[str]) -> None:
    problem = streamed(Simplex())
    with pytest.raises(MklvizError, match="runs alone: a race of 2 gives each of them one"):
        Race(problem, ["spg", "level"], threads=2)
    with pytest.raises(MklvizError, match="whole number of threads"):
        solve(problem, "spg", threads=0)
    assert main(["race", "--data", "iris", "--solvers", "spg,level", "--threads", "2", "--positive", "setosa"]) == 2
    assert "Choose one solver, or one thread" in capsys.readouterr().err


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step say at once what it is doing."""
    monkeypatch.setattr(meter, "PATIENCE", 0.0)


@pytest.mark.usefixtures("at_once")
def test_a_long_step_says_what_it_is_doing_and_how_far() -> None:
    progress = Progress()
    progress.report("adding 12 kernels", 0.25)
    assert progress.text == ""  # no step has begun
    progress.start()
    assert progress.text == ""
    progress.report("adding 12 kernels", 0.25)
    assert progress.text == "adding 12 kernels, 25 %"
    progress.report("adding 12 kernels", 1.0)
    assert progress.text == ""
    progress.report("computing the slopes of 12 kernels", 0.5)
    progress.since -= 30.0
    assert progress.text == "computing the slopes of 12 kernels, 50 %"  # how long that took is not known
    progress.report("computing the slopes of 12 kernels", 0.75)
    assert progress.text == "computing the slopes of 12 kernels, 75 %, about 30 s left"
    progress.stop()
    assert progress.text == ""


@pytest.mark.usefixtures("at_once")
def test_a_run_shows_its_progress_while_it_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(streamed(LpBall(2.0)), make_solver("closed-form"))
    seen: set[str] = set()
    add = _streamed.sum_kernels

    def watched(*arguments: object) -> None:
        seen.add(run.doing)
        add(*arguments)

    monkeypatch.setattr(_streamed, "sum_kernels", watched)
    assert run.advance()
    assert {"adding 300 kernels, 0 %", "adding 300 kernels, 50 %"} <= seen
    assert run.doing == ""
    style = run_styles({"closed-form": run.trace}, LIGHT)["closed-form"]
    row = ResultRow("closed-form", style, "running", doing="adding 300 kernels, 50 %")
    assert '<span class="reason">adding 300 kernels, 50 %</span>' in result_table([row])


def test_the_page_offers_threads_to_a_solver_that_runs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    panel = RunPanel(dict.fromkeys(("run", "pause", "step", "stop", "reset", "full_speed"), lambda *_: None))
    panel.offer_threads(1)
    assert panel.threads.visible
    assert list(panel.threads.options.values()) == [1, 2, 3, 4]
    panel.threads.value = 3
    panel.offer_threads(1)
    assert panel.threads.value == 3
    panel.offer_threads(2)
    assert not panel.threads.visible
    assert panel.threads.value == 1


SCRIPT = """
import os, sys
import mklviz as mv
from mklviz.engine import Race, MaxIter

train, _ = mv.load_dataset("two_moons").split(train=0.5, seed=0)
problem = mv.Problem(mv.paper_bank(train.X), train.y, mv.Hinge(C=10.0), mv.Simplex())
race = Race(problem, ["level", "spg"], [MaxIter(10**6)], pace=50.0)
race.start()
while not all(len(trace) > 2 for trace in race.traces.values()):
    race.wait(0.01)
child = os.fork()
own = Race(problem, ["level", "spg"], [MaxIter(20)])
own.start()
ended = own.wait(180.0) and all(run.status in ("limit", "rule", "converged") for run in own.runs.values())
if child == 0:
    os._exit(0 if ended else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
goes_on = not race.finished
race.cancel()
race.wait(180.0)
sys.exit(code or not ended or not goes_on)
"""


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system does not fork.")
def test_a_race_runs_in_a_process_forked_from_one_that_races() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


POINTS = np.random.default_rng(0).standard_normal((40, 3))
FAMILIES = [Gaussian(on="all+each"), Polynomial(on="all+each")]
LESSONS = [name for name, each in scenarios().items() if each.question is not None]

RACES = """
import hashlib, json, sys
import numpy as np
from mklviz.scenarios import load_scenario

def digest(trace):
    found = hashlib.md5()
    for it in trace:
        for part in (it.weights, it.dual, [it.objective, it.lower_bound, it.step, it.svm_solves]):
            found.update(np.ascontiguousarray(part, dtype=float).tobytes())
    return found.hexdigest()

def raced(name):
    recipe = load_scenario(name).recipe
    race = recipe.race(recipe.prepare())
    race.start()
    assert race.wait(500.0)
    return {key: digest(trace) for key, trace in race.traces.items()}

print(json.dumps([(name, raced(name)) for name in sys.argv[1:]]))
"""


def kept(seen: set[int]) -> Bank:
    return KernelBank.build(POINTS, FAMILIES, progress=lambda _: seen.update(blas_threads()))


def approximated(seen: set[int]) -> Bank:
    return NystromBank.build(POINTS, FAMILIES, 10, progress=lambda _: seen.update(blas_threads()))


def threads_of(build: Callable[[set[int]], object]) -> list[list[int]]:
    """Return the numbers of BLAS's threads before, while and after a bank is built, where there are two."""
    seen: set[int] = set()
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        build(seen)
        return [before, sorted(seen), blas_threads()]


@pytest.mark.full
@pytest.mark.parametrize("build", [kept, approximated])
def test_kernels_are_built_by_one_blas_thread_although_there_are_two(build) -> None:
    """In a process of its own: a race that a test has left in this one may keep BLAS to one thread."""
    program = f"import test_threads as here; print(here.threads_of(here.{build.__name__}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    before, seen, after = json.loads(done.stdout)
    assert 2 in before
    assert seen == [1]
    assert after == before


def differing(names: list[str]) -> list[tuple[str, str]]:
    """Return which runs differ, lesson and solver, when a fresh process races forth and back, in its own BLAS code."""
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    order = [*names, *reversed(names)]
    done = subprocess.run(
        [sys.executable, "-c", RACES, *order], env=environment, check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    pairs = zip(found, reversed(found), strict=True)
    return [(name, key) for (name, one), (_, other) in pairs for key in one if one[key] != other[key]]


@pytest.mark.product
def test_every_lesson_takes_the_same_steps_in_any_order() -> None:
    assert differing(LESSONS) == []
