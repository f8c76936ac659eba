"""The solver recommended for a problem can follow it, is told by the problem's own properties, and is what runs."""

from __future__ import annotations

import numpy as np
import pytest
from _problems import FORMULATIONS, blobs, formulate, problem, small_bank
from measure import which
from measure.report import Row

import mklviz as mv
from mklviz.engine import KINDS, available_solvers, kind_of, recommend, rivals, solver_classes
from mklviz.errors import UnsupportedProblem
from mklviz.kernels import Gaussian, KernelBank, NystromBank, ProductBank
from mklviz.problem import BlockL1, Hinge, L1Penalty, Logistic, LpBall, Problem, Simplex, Squared

X, Y = blobs(24, 0.2, seed=3)


@pytest.mark.parametrize("kind", FORMULATIONS)
def test_the_recommended_solver_can_follow(kind: str) -> None:
    posed = formulate(kind, small_bank(X), Y, 10.0)
    assert recommend(posed) in available_solvers(posed)


@pytest.mark.parametrize(
    ("posed", "kind"),
    [
        (Problem(small_bank(X), Y), "svm-sparse"),
        (Problem(small_bank(X), Y, Hinge(10.0), L1Penalty(1.0)), "svm-sparse"),
        (Problem(small_bank(X), Y, Hinge(10.0, bias=False)), "simplex"),
        (Problem(NystromBank.build(X, [Gaussian()], 10), Y), "simplex"),
        (Problem(NystromBank.build(X, [Gaussian()], 10), Y, Hinge(1.0), L1Penalty(1.0)), "priced"),
        (Problem(small_bank(X), Y, Logistic(10.0), BlockL1(1.0)), "priced-smooth"),
        (Problem(small_bank(X), Y, Squared(10.0), L1Penalty(1.0)), "priced-smooth"),
        (Problem(NystromBank.build(X, [Gaussian()], 10), Y, Logistic(1.0), BlockL1(1.0)), "priced"),
        (Problem(small_bank(X), Y, Hinge(10.0), LpBall(2.0)), "dense"),
        (Problem(ProductBank.build(X), Y, Hinge(10.0), L1Penalty(1.0)), "product"),
    ],
)
def test_kinds_are_told_by_loss_regularizer_and_kernels(posed: Problem, kind: str) -> None:
    found = kind_of(posed)
    assert found is not None
    assert found.name == kind
    assert found.solver == recommend(posed)


def test_a_million_kernels_are_newtons_too() -> None:
    points, y = blobs(24, features=12)
    bank = KernelBank.build(points, [Gaussian(on="random:200")], max_bytes=2**20)
    assert "on the fly" in bank.backend
    assert recommend(Problem(bank, y, Hinge(10.0), Simplex())) == "newton"
    assert recommend(Problem(bank, y, Hinge(10.0), LpBall(4 / 3))) == "closed-form"


def test_newton_is_for_up_to_a_thousand_points() -> None:
    for n, kind in ((1000, "svm-sparse"), (1001, "simplex")):
        points, y = blobs(n, features=2)
        found = kind_of(Problem(KernelBank.build(points, [Gaussian(widths=(1.0,), on="each")]), y))
        assert found is not None
        assert found.name == kind


def test_a_solve_without_a_solver_takes_the_recommended_one() -> None:
    posed = problem("blobs, C = 100")
    named, unnamed = mv.solve(posed, "newton"), mv.solve(posed)
    np.testing.assert_array_equal(named.objective, unnamed.objective)
    assert mv.solve(posed, gap=None, max_iter=1, svm_tolerance=1e-6).solver == "newton"


@pytest.mark.parametrize("kind", FORMULATIONS)
def test_rivals_can_all_follow_and_are_two_where_two_can(kind: str) -> None:
    posed = formulate(kind, small_bank(X), Y, 10.0)
    able, usual = available_solvers(posed), ("silp", "level", "spg")
    names, said = rivals(posed, usual)
    assert set(names) <= set(able)
    assert len(names) >= min(2, len(able))
    assert (names == usual) == (not said)
    assert all(solver_classes()[name].label in said for name in usual if name not in able)


def test_a_problem_that_nobody_can_follow_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklviz.engine.kinds.available_solvers", lambda _: [])
    with pytest.raises(UnsupportedProblem, match="No solver can follow"):
        mv.solve(problem("one kernel"))


def test_every_kind_is_measured_by_a_benchmark_whose_cases_are_of_that_kind() -> None:
    assert set(which.CASES) == {kind.name for kind in KINDS}
    for kind in KINDS:
        assert kind.solver in solver_classes()
        assert kind.measured.endswith(".")
        label, pose = next(iter(which.CASES[kind.name].items()))
        assert kind_of(pose(0)) is kind, label


def test_the_benchmark_tells_the_range_of_every_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Row(kind="dense", solver=solver, times=times, reached=reached)
        for solver, times, reached in (("spg", 2.0, True), ("spg", 0.85, True), ("pgd", 8.0, False))
    ]
    assert list(which.ranges(rows)) == ["dense: spg 0.85-2, pgd 8-8 and more"]
    monkeypatch.setattr(which, "CASES", {"dense": {"blobs": lambda seed: problem("noisy blobs, C = 10")}})
    told = [row["problem"] for row in which.measure(["dense"], rounds=1, gap=0.5, splits=2)]
    assert list(dict.fromkeys(told)) == ["blobs, split 0", "blobs, split 1"]


def test_the_benchmark_counts_in_units_of_the_recommended_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(which, "CASES", {"svm-sparse": {"blobs": lambda seed: problem("noisy blobs, C = 10")}})
    first, *others = which.measure(["svm-sparse"], rounds=1, gap=1e-1)
    assert first["solver"] == "newton"
    assert first["times"] == 1.0
    assert {row["solver"] for row in others} >= {"level", "silp", "spg"}
    for row in others:
        assert row["times"] == pytest.approx(row["cpu_s"] / first["cpu_s"])
