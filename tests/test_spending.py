"""Where the time goes: parts add up to the whole, inner parts pause outer ones, solvers tell, and bars show it."""

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from _problems import FORMULATIONS, blobs, formulate, problem, ran
from _shown import html_of
from _waits import Clock
from numba.core.compiler_lock import global_compiler_lock
from test_run import Fake

from mklviz.context import PARTS, meter, metered, spending
from mklviz.context.meter import Meter
from mklviz.contract import Iterate
from mklviz.engine import MaxIter, Race, Run, make_solver, solve, solver_classes
from mklviz.errors import Interrupted
from mklviz.kernels import Bank, Gaussian, KernelBank, NystromBank, ProductBank
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import run_styles
from mklviz.views.race.components import LABELS, TimeBars, spent_by
from mklviz.views.race.race_view import RaceView

TINY = problem("one kernel")


def busy(work: Callable[[], object]) -> Fake:
    """Return a solver that does `work` in every step."""
    return Fake(work=lambda *_: work())


def spend(clock: Clock, seconds: float) -> None:
    clock.now += seconds


def test_inner_parts_count_and_outer_ones_pause(clock: Clock) -> None:
    def work() -> None:
        spend(clock, 1.0)
        with spending("svm"):
            spend(clock, 2.0)
            with spending("combine"):
                spend(clock, 4.0)
            spend(clock, 8.0)
        spend(clock, 16.0)

    trace = solve(TINY, busy(work), max_iter=2)
    expected = {"svm": 10.0, "gradient": 0.0, "combine": 4.0, "subproblem": 0.0, "other": 17.0}
    for part, seconds in expected.items():
        np.testing.assert_array_equal(trace.split[part], seconds * np.arange(1, 4))
    np.testing.assert_array_equal(trace.seconds, 31.0 * np.arange(1, 4))
    assert trace.shares == {part: seconds / 31.0 for part, seconds in expected.items()}
    assert "other 55 %, SVM 32 %, combine 13 %" in html_of(trace)


def test_compiling_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(meter.time, "thread_time", clock)

    def work() -> None:
        spend(clock, 1.0)
        with spending("svm"), global_compiler_lock:
            spend(clock, 8.0)
            with global_compiler_lock:
                spend(clock, 4.0)
        spend(clock, 2.0)

    trace = solve(TINY, busy(work), max_iter=2)
    np.testing.assert_allclose(trace.seconds, [3.0, 6.0, 9.0], rtol=1e-12)  # a difference of large numbers
    np.testing.assert_allclose(trace.split["svm"], 0.0, atol=1e-12)


def test_the_seconds_that_compiling_takes_still_leave_out_what_lies_between(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, counter = Clock(), meter.CompileCounter()
    monkeypatch.setattr(meter.time, "monotonic", clock)
    told = []
    for _ in range(20):
        counter.on_start(None)
        counter.on_start(None)  # what it calls
        spend(clock, 0.4)
        counter.on_end(None)
        told.append(int(counter.words.split()[-2]))
        counter.on_end(None)
        spend(clock, 60.0)  # nothing is compiled
    assert counter.words == "compiling the solvers, 40 of about 100 functions, about 13 s"
    assert max(told) <= 32
    assert max(abs(before - after) for before, after in pairwise(told)) <= 3


def test_a_part_within_the_same_part_counts_once_and_one_that_is_left_by_an_error_ends(clock: Clock) -> None:
    @spending("gradient")
    def twice(depth: int) -> int:
        spend(clock, 1.0)
        return twice(depth - 1) if depth else 0

    trace = solve(TINY, busy(lambda: spend(clock, twice(2))), max_iter=1)
    assert trace.split["gradient"][-1] == trace.last_seconds == 6.0
    assert twice.__name__ == "twice"

    def work() -> None:
        with suppress(Interrupted), spending("svm"), spending("gradient"):
            spend(clock, 1.0)
            raise Interrupted("enough")
        spend(clock, 2.0)

    trace = solve(TINY, busy(work), max_iter=1)
    assert trace.split["gradient"].tolist() == [1.0, 2.0]
    assert trace.split["other"].tolist() == [2.0, 4.0]


def test_runs_that_take_turns_have_a_meter_each_and_time_between_the_steps_is_nobodys(clock: Clock) -> None:
    def work(part: str, seconds: float) -> Callable[[], None]:
        return spending(part)(lambda: spend(clock, seconds))

    runs = [Run(TINY, busy(work("svm", 1.0))), Run(TINY, busy(work("combine", 5.0)))]
    for _ in range(2):
        for run in runs:
            run.advance()
            spend(clock, 100.0)
    assert [run.trace.split_at(1)["svm"] for run in runs] == [2.0, 0.0]
    assert [run.trace.split_at(1)["combine"] for run in runs] == [0.0, 10.0]
    assert [run.trace.split_at(1)["other"] for run in runs] == [0.0, 0.0]


POINTS = blobs(12)[0]
BANKS: dict[str, Callable[[], Bank]] = {
    "sum": lambda: KernelBank.build(POINTS, [Gaussian(widths=(1.0, 2.0))]),
    "product": lambda: ProductBank.build(POINTS),
    "landmarks": lambda: NystromBank.build(POINTS, [Gaussian(widths=(1.0, 2.0))], 6),
}


@pytest.mark.parametrize("name", BANKS)
def test_every_bank_tells_its_parts_and_without_a_run_nothing_is_counted(name: str, clock: Clock) -> None:
    bank = BANKS[name]()
    clock.tick = 1.0
    with spending("svm"):
        bank.slopes(np.ones(len(bank)), np.ones(12))
    assert clock.now == 0.0
    found = Meter()
    found.start()
    with metered(found):
        bank.apply(np.ones(len(bank)), np.ones(12))
        bank.slopes(np.ones(len(bank)), np.ones(12))
    assert found.seconds["combine"] > 0
    assert found.seconds["gradient"] > 0
    assert found.seconds["svm"] == found.seconds["subproblem"] == 0


OWN_STEPS = {"smo-mkl", "spicymkl", "ufo", "obscure", "ogaprox"}  # they solve no SVM: their own step is all there is


def kind_for(solver: str) -> Problem:
    plain = problem("blobs, C = 1")
    made = (formulate(kind, plain.bank, plain.y, 1.0) for kind in FORMULATIONS)
    return next(posed for posed in made if not make_solver(solver).refusal(posed))


@pytest.mark.parametrize("name", list(solver_classes()))
def test_every_solver_tells_its_parts(name: str, clock: Clock) -> None:
    clock.tick = 1.0  # a part has taken time exactly if it was entered
    trace = solve(kind_for(name), name, gap=None, max_iter=4)
    spent = {part for part, seconds in trace.split.items() if seconds[-1] > 0}
    assert {"combine", "subproblem", "other"} <= spent
    assert ("svm" in spent) == (name not in OWN_STEPS)
    for seconds in trace.split.values():
        assert (np.diff(seconds) >= 0).all()
    np.testing.assert_allclose(sum(trace.split.values()), trace.seconds, rtol=1e-12)


def test_the_split_survives_a_file_and_one_from_before_has_seconds_but_no_split(tmp_path: Path) -> None:
    trace = solve(problem("blobs, C = 1"), "spg")
    trace.save(tmp_path / "run")
    loaded = Trace.load(tmp_path / "run")
    assert loaded.shares == trace.shares
    for part, seconds in trace.split.items():
        np.testing.assert_array_equal(loaded.split[part], seconds)
    with np.load(tmp_path / "run") as archive:
        old = {name: archive[name] for name in archive if not name.startswith("split_")}
        assert len(old) < len(archive)
    with (tmp_path / "old").open("wb") as file:
        np.savez_compressed(file, **old)
    loaded = Trace.load(tmp_path / "old")
    np.testing.assert_array_equal(loaded.seconds, trace.seconds)
    assert loaded.split == loaded.shares == loaded.split_at(0) == {}
    assert "svm_seconds" not in loaded.to_frame()
    assert "time spent on" not in html_of(loaded)


def raced(*names: str, steps: int = 5) -> Race:
    return ran(Race(problem("blobs, C = 1"), names, rules=(MaxIter(steps),)))


def test_the_bars_of_a_race_are_as_long_as_its_runs_took() -> None:
    race = raced("level", "spg")
    bars = TimeBars()
    bars.follow(race.traces, run_styles(race.traces, LIGHT), hidden=["spg"])
    assert [item["label"] for item in bars.items] == ["Level", "SPG"]
    assert bars.hidden == ["spg"]
    for key, trace in race.traces.items():
        assert len(bars.spent[key]) == len(PARTS) == len(bars.parts)
        assert sum(bars.spent[key]) == pytest.approx(trace.last_seconds, abs=1e-4)  # each is rounded to 1e-5
    race = Race(problem("blobs, C = 1"), ["level", "spg"])
    race.runs["spg"].trace.append(Iterate(np.ones(20), np.zeros(40), 2.0, 1.0, 0.0, 0), 3.0)  # as from an old file
    assert spent_by(race.traces) == {"level": [0.0] * len(PARTS), "spg": []}


def test_the_view_keeps_the_bars_up_and_takes_them_away_below_a_heading_that_names_every_part() -> None:
    view = RaceView()
    bars = view.page.bars
    assert bars.items == []
    assert list(LABELS) == list(PARTS)
    for part, label in LABELS.items():
        assert f'style="background: var(--mk-{part})"></i>{label}</span>' in bars.heading
    view.show(raced("level", "silp"))
    assert [item["key"] for item in bars.items] == list(bars.spent) == ["level", "silp"]
    view.hidden = frozenset({"silp"})
    assert bars.hidden == ["silp"]
    view.clear()
    assert (bars.items, bars.spent) == ([], {})
