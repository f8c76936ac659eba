"""The solver recommended for a problem can follow it, is told by the problem's own properties, and is what runs."""

import json
from pathlib import Path

import numpy as np
import pytest
import which
from _problems import FORMULATIONS, blobs, formulate, problem, small_bank

import mklviz as mv
from mklviz.engine import KINDS, ProblemSize, available_solvers, kind_of, recommend, rivals, solver_classes
from mklviz.errors import UnsupportedProblem
from mklviz.kernels import Gaussian, KernelBank, NystromBank, ProductBank

ROOT = Path(__file__).parents[1]
X, Y = blobs(24, 0.2, seed=3)


@pytest.mark.parametrize(
    ("posed", "kind"),
    [
        (mv.Problem(small_bank(X), Y, mv.Hinge(100.0)), "svm-sparse"),
        (mv.Problem(small_bank(X), Y), "svm-flat"),
        (mv.Problem(small_bank(X), np.arange(24) % 3, mv.OneAgainstAllHinge(10.0)), "classes-flat"),
        (mv.Problem(small_bank(X), np.arange(24) % 3, mv.MulticlassHinge(1.0)), "classes-flat"),
        (mv.Problem(small_bank(X), np.arange(24) % 3, mv.MulticlassHinge(100.0)), "simplex"),
        (mv.Problem(small_bank(X), Y, mv.Hinge(10.0), mv.L1Penalty(1.0)), "svm-priced"),
        (mv.Problem(small_bank(X), Y, mv.Hinge(10.0, bias=False)), "simplex"),
        (mv.Problem(NystromBank.build(X, [Gaussian()], 10), Y), "simplex"),
        (mv.Problem(NystromBank.build(X, [Gaussian()], 10), Y, mv.Hinge(1.0), mv.L1Penalty(1.0)), "priced"),
        (mv.Problem(small_bank(X), Y, mv.Logistic(10.0), mv.BlockL1(1.0)), "smooth"),
        (mv.Problem(small_bank(X), Y, mv.Squared(10.0), mv.L1Penalty(1.0)), "smooth"),
        (mv.Problem(NystromBank.build(X, [Gaussian()], 10), Y, mv.Logistic(1.0), mv.BlockL1(1.0)), "priced"),
        (mv.Problem(small_bank(X), Y, mv.Hinge(10.0), mv.LpBall(2.0)), "dense"),
        (mv.Problem(ProductBank.build(X), Y, mv.Hinge(10.0), mv.L1Penalty(1.0)), "product"),
    ],
)
def test_kinds_are_told_by_loss_regularizer_and_kernels(posed: mv.Problem, kind: str) -> None:
    found = kind_of(posed)
    assert found.name == kind
    assert found.solver == recommend(posed)


def test_a_million_kernels_are_newtons_too() -> None:
    points, y = blobs(24, features=12)
    bank = KernelBank.build(points, [Gaussian(on="random:200")], max_bytes=2**20)
    assert "on the fly" in bank.backend
    assert recommend(mv.Problem(bank, y, mv.Hinge(10.0), mv.Simplex())) == "newton"
    assert recommend(mv.Problem(bank, y, mv.Hinge(10.0), mv.LpBall(4 / 3))) == "closed-form"


def test_the_size_tells_svms_on_the_simplex_apart() -> None:
    posed, large = mv.Problem(small_bank(X), Y, mv.Hinge(1.0)), 10**9
    for size, solver in (
        ((200, 16, large), "silp"),
        ((200, 17, large), "closed-form"),
        ((5000, 4000, large * 1000), "newton"),
        ((200, 250, large, 0.1), "silp"),
        ((200, 251, large, 0.1), "newton"),
        ((1000, 400, large, 0.1, True), "silp"),
        ((1000, 700, large, 0.1), "newton"),
        ((1000, 700, large, 0.11, True), "newton"),
        ((300, 199, large, 0.1), "silp"),
        ((300, 200, large, 0.1), "closed-form"),
        ((299, 200, large, 0.1), "newton"),
        ((200, 200, 8 * 8 * 200 * 200, 0.1), "silp"),
        ((600, 400, large, 0.2), "closed-form"),
        ((600, 401, large, 0.2), "newton"),
        ((600, 400, large, 0.21), "newton"),
        ((599, 100, large, 0.2), "newton"),
        ((1000, 400, 8 * 8 * 1000 * 400, 0.1, True), "closed-form"),
        ((200, 25, large), "closed-form"),
        ((200, 26, large), "newton"),
        ((200, 100, 8 * 8 * 200 * 100), "closed-form"),
        ((200, 100, 8 * 8 * 200 * 100, 1.1), "newton"),
        ((200, 200, 8 * 4 * 200 * 200, 0.6), "silp"),
        ((200, 200, 8 * 4 * 200 * 200, 0.61), "level"),
        ((200, 199, 8 * 4 * 200 * 199, 0.6), "closed-form"),
        ((200, 200, 8 * 5 * 200 * 200, 0.6), "closed-form"),
        ((1600, 100, 8 * 4 * 1600 * 100, 1.1), "closed-form"),
    ):
        found = kind_of(posed, ProblemSize(*size))
        assert found.solver == solver, size
    assert kind_of(posed) is kind_of(posed, ProblemSize.of(posed))
    assert not ProblemSize.of(posed).single
    assert ProblemSize.of(mv.Problem(KernelBank.build(X, [Gaussian(on="each")]), Y)).single


def test_a_solve_without_a_solver_takes_the_recommended_one() -> None:
    posed = problem("blobs, C = 100")
    best = recommend(posed)
    named, unnamed = mv.solve(posed, best), mv.solve(posed)
    np.testing.assert_array_equal(named.objective, unnamed.objective)
    assert mv.solve(posed, gap=None, max_iter=1, svm_tolerance=1e-6).solver == best


@pytest.mark.parametrize("kind", FORMULATIONS)
def test_the_recommended_solver_and_its_rivals_can_follow_and_are_two_where_two_can(kind: str) -> None:
    posed = formulate(kind, small_bank(X), Y, 10.0)
    able, usual = available_solvers(posed), ("silp", "level", "spg")
    assert recommend(posed) in able
    names, said = rivals(posed, usual)
    assert set(names) <= set(able)
    assert len(names) >= min(2, len(able))
    assert (names == usual) == (not said)
    assert all(solver_classes()[name].label in said for name in usual if name not in able)


def test_a_problem_that_nobody_can_follow_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklviz.engine.kinds.available_solvers", lambda _: [])
    with pytest.raises(UnsupportedProblem, match="No solver can follow"):
        mv.solve(problem("one kernel"))


def test_every_kind_is_measured_by_a_solver_that_the_documentation_names() -> None:
    rows = json.loads((ROOT / ".ci" / "docs" / "which_solver.json").read_text(encoding="utf-8"))["rows"]
    by_kind = {kind.name: kind for kind in KINDS}
    assert {row["kind"] for row in rows} | {"product"} == set(by_kind)  # that has no gap to be measured by
    assert {case for cases in which.CASES.values() for case in cases} >= {row["problem"] for row in rows}
    for row in rows:
        assert row["times"] != 1.0 or row["solver"] == by_kind[row["kind"]].solver
    for kind in KINDS:
        assert kind.solver in solver_classes()
        assert kind.measured.endswith(".")
