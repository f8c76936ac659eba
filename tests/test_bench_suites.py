"""Both sides of every benchmark row solve the same problem: a fast wrong answer cannot win."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

from mklviz.bench import _large, _quadratic, full, precision, scaling, subproblems
from mklviz.bench._cuts import CutHistory, half, record
from mklviz.bench._plain import plain_level, plain_silp
from mklviz.bench._suite import Bench, Row
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import Gaussian, KernelBank, Nystrom
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.scenarios import load_scenario
from mklviz.solvers._level_qp import project_to_level_set

ONCE = Bench(repeats=1)


def small() -> Problem:
    train, _ = load_dataset("pima").split(train=0.08, seed=0)
    return Problem(KernelBank.build(train.X, [Gaussian(widths=(1.0, 4.0), on="each")]), train.y, Hinge(C=100.0))


@pytest.fixture(scope="module")
def cuts() -> CutHistory:
    return record(small(), "level", 12)


def test_recorded_cuts_are_those_of_the_run(cuts: CutHistory) -> None:
    problem = small()
    trace = solve(problem, "level", gap=None, max_iter=12)
    assert cuts.cuts.shape == (13, problem.m)
    for one, cut, point in zip(trace, cuts.cuts, cuts.points, strict=True):
        np.testing.assert_array_equal(point, one.weights)
        # at its own weights a cut has the value of the dual objective there, which is at most the primal
        assert cut @ point <= one.objective * (1.0 + 1e-12)
        assert cut @ point >= one.lower_bound
    assert math.isnan(cuts.levels[0])
    # the level that led to a step is kept by all cuts known then
    assert (cuts.cuts[:12] @ cuts.points[12]).max() <= cuts.levels[12] * (1.0 + 1e-12)


def test_both_linear_programs_find_the_same_minima(cuts: CutHistory) -> None:
    rows = list(subproblems.linear_programs("SILP's linear program", cuts, ONCE))
    assert [row.other for row in rows] == ["linprog", "HiGHS, warm"]
    for row, allowed in zip(rows, (1e-6, 1e-8), strict=True):  # their tolerances are 1e-7 and 1e-9
        assert float(re.search(r"differ by (\S+),", row.note).group(1)) < allowed
        assert row.ratio == pytest.approx(row.other_ms / row.ours_ms)


@pytest.mark.parametrize("name", ["Clarabel", "daqp", "quadprog"])
def test_every_solver_of_quadratic_programs_gets_the_same_projection(name: str, cuts: CutHistory) -> None:
    d0, level = cuts.points[-2], float(cuts.levels[-1])
    run, reason = _quadratic.projection(name, d0, cuts.cuts[:-1], level)
    assert run is not None, reason
    ours = project_to_level_set(d0, cuts.cuts[:-1], level).weights
    np.testing.assert_allclose(run(), ours, atol=1e-6)
    assert _quadratic.violation(ours, cuts.cuts[:-1], level) < 1e-12


def test_a_fast_wrong_projection_is_called_wrong_and_wins_nothing(
    cuts: CutHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str, d0: np.ndarray, rows: np.ndarray, level: float):
        return (lambda: d0, "") if name == "daqp" else (None, f"{name} is not installed")

    monkeypatch.setattr(subproblems, "projection", nothing)
    rows = list(subproblems.projections("Level's projection", cuts, 61, ONCE, budget=1e-3))
    assert [row.other for row in rows] == ["1 ms", "1 ms", "Clarabel", "daqp", "quadprog", "OSQP"]
    assert rows[3].note.endswith("WRONG")
    assert not any("fastest right one" in row.note for row in rows)
    assert next(row.note for row in rows if math.isnan(row.ratio)) == "Clarabel is not installed"


def test_a_rival_that_gives_up_is_a_row_with_what_it_said(cuts: CutHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str, d0: np.ndarray, rows: np.ndarray, level: float):
        def give_up() -> np.ndarray:
            raise ValueError("constraints are inconsistent")

        return give_up, ""

    monkeypatch.setattr(subproblems, "projection", broken)
    rows = list(subproblems.projections("Level's projection", cuts, 61, ONCE))
    assert {row.note for row in rows} == {"it gave up: constraints are inconsistent"}
    assert all(math.isnan(row.ratio) for row in rows)


def test_the_dual_value_of_a_projection_bounds_its_distance(cuts: CutHistory) -> None:
    d0, rows, level = cuts.points[-2], cuts.cuts[:-1], float(cuts.levels[-1])
    best = project_to_level_set(d0, rows, level)
    value = 0.5 * float(((best.weights - d0) ** 2).sum())
    bound = subproblems._dual_value(best, d0, rows, level)
    assert bound == pytest.approx(value, abs=1e-12)
    for seed in range(5):  # any other point of the level set is farther
        other = Simplex().project(best.weights + 1e-3 * np.random.default_rng(seed).normal(size=len(d0)))
        if (rows @ other).max() <= level:
            assert 0.5 * float(((other - d0) ** 2).sum()) >= bound


@pytest.mark.parametrize("plain", [plain_level, plain_silp])
def test_the_plain_implementations_reach_the_optimum_that_ours_reach(plain) -> None:  # type: ignore[no-untyped-def]
    problem = small()
    exact = solve(problem, "newton", gap=1e-6).best.objective
    found = plain(SVC(kernel="precomputed", C=100.0, tol=1e-6), full.gram_matrices(problem), problem.y, 1e-2)
    assert found.objective - found.lower_bound <= 1e-2 * found.objective
    assert found.lower_bound <= exact * (1.0 + 1e-6)
    assert exact <= found.objective * (1.0 + 1e-6)
    assert found.weights.min() >= 0.0
    assert found.weights.sum() == pytest.approx(1.0)


def test_a_whole_solve_is_compared_at_the_same_gap() -> None:
    problem = small()
    svc = SVC(kernel="precomputed", C=100.0)
    row = full.compare("heart", "Level", problem, full.gram_matrices(problem), svc, ONCE)
    ours, theirs = (float(value.replace(",", "")) for value in re.findall(r"[\d,]+\.\d+", row.note)[:2])
    assert abs(ours - theirs) <= 2e-2 * abs(ours)  # both stop at a gap of 1e-2
    assert (row.n, row.m) == (problem.n, problem.m)


def test_the_median_over_data_sets_takes_the_median_of_their_ratios() -> None:
    rows = [Row(str(k), "Level", "plain Level", 9, 9, 1.0, r, r, r, r) for k, r in enumerate((3.0, 30.0, 21.0))]
    found = full._median(rows)
    assert (found.ratio, found.least, found.most, found.met) == (21.0, 3.0, 30.0, True)


def test_whole_solves_are_counted_in_fits_of_the_mean_kernel_to_every_gap() -> None:
    problem = small()
    rows = list(full._fits("pima", problem, full.gram_matrices(problem), SVC(kernel="precomputed", C=100.0), ONCE))
    assert [(row.name, row.ours, row.other) for row in rows if row.other == "one SVC fit"] == [
        (f"pima{gap}", solver, "one SVC fit")
        for gap in ("", " to 0.001", " to 1e-06")
        for solver in ("Newton", "Level")
    ]
    for row in rows:
        assert float(row.note.split()[0]) == pytest.approx(row.ours_ms / row.other_ms, rel=6e-3)  # three digits
    together = full._median(rows[:1], " to 0.001")
    assert together.name == "median of 1 data sets to 0.001"
    assert together.note.split(" fits")[0] == rows[0].note.split(" fits")[0]


def test_a_large_scenario_stands_beside_work_that_no_change_of_ours_touches() -> None:
    recipe = load_scenario("half-a-million").recipe.changed(approximation=Nystrom(20))
    problem = recipe.prepare(load_dataset("covertype_like", n=2000)).problem
    found = _large.row("half-a-million", problem, recipe.solvers[0], recipe.stop)
    assert found.ratio == pytest.approx(found.other_ms / found.ours_ms)
    steps, svms = (int(count) for count in re.search(r"steps (\d+), SVMs (\d+)$", found.note).groups())
    assert 0 < steps < svms  # one SVM for each, and one to begin with
    lost = _large.row("half-a-million", problem, recipe.solvers[1], replace(recipe.stop, max_iter=1))
    assert lost.note.endswith(", limit")


def test_without_scikit_learn_and_mklpy_there_are_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full, "rival", lambda name: (None, f"{name.split('.')[0]} is not installed"))
    rows = list(full._rows("heart", small(), ONCE))
    assert [row.note for row in rows] == ["sklearn is not installed"] * 2
    assert full._mklpy(np.zeros((1, 2, 2)), np.ones(2)) == (None, "MKLpy is not installed")


def test_both_precisions_solve_the_same_problem_and_one_rounds() -> None:
    train, _ = load_dataset("wdbc").split(train=510 / 569, seed=0)
    bank = KernelBank.build(train.X[:, :8], [Gaussian(on="each")])
    single, double = (Problem(kernels, train.y, Hinge(C=1.0)) for kernels in (bank, precision.unrounded(bank)))
    assert (single.bank.rounding_pays, double.bank.rounding_pays) == (True, False)  # type: ignore[attr-defined]
    assert np.array_equal(single.bank.combine(np.ones(80)), double.bank.combine(np.ones(80)))
    row = precision._row("wdbc", single, double, "level", 1e-2, ONCE)
    ours, theirs = (float(value.replace(",", "")) for value in re.findall(r"[\d,]+\.\d+", row.note)[:2])
    assert abs(ours - theirs) <= 2e-2 * abs(ours)  # both stop at a gap of 1e-2
    assert (row.n, row.m, row.goal) == (510, 80, 1.0)


def test_half_a_data_set_is_the_papers_problem() -> None:
    problem = half("vote")
    assert (problem.m, problem.loss.C) == (221, 100.0)
    assert isinstance(problem.regularizer, Simplex)
    assert partial(solve, problem, "level")(gap=1e-2).status == "converged"


def test_drawn_pages_have_about_twelve_of_three_hundred_words() -> None:
    X, y = scaling.web_like(1000)
    assert X.shape == (1000, 300)
    assert set(np.unique(X)) == {0.0, 1.0}
    # the standard error of the mean of a thousand sums is about 0.1
    assert X.sum(axis=1).mean() == pytest.approx(12.0, abs=0.5)
    assert (y > 0).mean() == pytest.approx(0.1, abs=0.01)


def test_growth_is_measured_on_problems_of_the_sizes_asked_for() -> None:
    posed: list[int] = []

    def pose(n: int) -> Problem:
        posed.append(n)
        X, y = scaling.web_like(n)
        return Problem(KernelBank.build(X, [Gaussian(widths=(1.0, 2.0))]), y, Hinge(C=1.0))

    found = scaling.slope("Level", "n", (20, 40, 80), pose, "level", ONCE, 1.98)
    assert posed == [20, 40, 80]
    assert (found.sizes, found.goal, found.paper) == ((20, 40, 80), 2.1, 1.98)
    assert min(found.seconds) > 0.0
    assert re.fullmatch(r"SVMs solved: \d+, \d+, \d+", found.note)


def test_kernels_are_computed_on_the_fly_at_every_size() -> None:
    train, _ = load_dataset("sonar").split(train=0.5, seed=0)
    for m in scaling.KERNELS[:2]:
        problem = scaling._wider(train.X, train.y, Simplex())(m)
        assert problem.m == m
        assert "on the fly" in problem.bank.backend
