"""A sample of the random problems that ``python .ci/measure fuzz`` tries by the thousand."""

from __future__ import annotations

import pytest
from measure.fuzz import examine, make_case

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
