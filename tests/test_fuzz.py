"""A sample of the random problems that ``python .ci/measure fuzz`` tries by the thousand."""

from __future__ import annotations

import pytest
from measure.fuzz import Fault, examine, main, make_case, summarize

from mklviz.record import Trace

SEEDS = [pytest.param(seed, marks=[pytest.mark.full] * (seed >= 20)) for seed in range(60)]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_solver_says_what_cannot_be_true(seed: int) -> None:
    # time limits are kept out of it: this machine may be busy
    faults, _ = examine(make_case(seed), seconds=60.0)
    assert [fault for fault in faults if fault.kind != "unfinished"] == []


def test_a_seed_poses_the_same_problem_again() -> None:
    one, other = make_case(7), make_case(7)
    assert one.words == other.words
    assert (one.problem.y == other.problem.y).all()
    assert one.problem.bank.combine(one.problem.regularizer.start(one.problem.m)) == pytest.approx(
        other.problem.bank.combine(other.problem.regularizer.start(other.problem.m)), rel=0.0, abs=0.0
    )


def test_cases_are_of_all_kinds() -> None:
    problems = [make_case(seed).problem for seed in range(200)]
    assert len({problem.loss.name_ for problem in problems}) == 6
    assert len({problem.regularizer.name_ for problem in problems}) == 10
    assert {problem.convex for problem in problems} == {True, False}


def test_the_table_counts_faults_by_solver_and_kind() -> None:
    faults = [Fault(1, "spg", "late", ""), Fault(2, "spg", "bounds", ""), Fault(2, "pgd", "not finite", "")]
    table = {row["method"]: row for row in summarize(faults, [{"spg": 0.5, "pgd": 0.0}, {"spg": 0.1, "pgd": 0.0}])}
    assert [table["spg"][kind] for kind in ("cases", "late", "bounds", "most_over")] == [2, 1, 1, 0.5]
    assert (table["pgd"]["not_finite"], table["pgd"]["late"]) == (1, 0)


@pytest.mark.parametrize(("spent", "late"), [([9.0, 0.1], False), ([9.0, 9.0], True)])
def test_what_took_long_once_as_it_had_to_be_compiled_is_not_late(
    spent: list[float], late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([reading for seconds in spent for reading in (0.0, seconds)])
    monkeypatch.setattr("measure.fuzz.time.process_time", lambda: next(clock))
    monkeypatch.setattr("measure.fuzz.solve", lambda *_, **__: Trace("spg", "SPG"))
    faults, over = examine(make_case(0), seconds=5.0, solvers=["spg"])
    assert ([fault.kind for fault in faults], over["spg"]) == ((["late"], 4.0) if late else ([], 0.0))


def test_the_command_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--cases", "2", "--solver", "spg", "--seconds", "60"])
    said = capsys.readouterr().out
    assert "2 cases" in said
    assert "unfinished" in said
