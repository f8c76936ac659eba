"""Both sides of every benchmark row solve the same problem: a fast wrong answer cannot win."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

from mklviz.bench import _large, full
from mklviz.bench._plain import plain_level, plain_silp
from mklviz.bench._suite import Bench, Row
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import Gaussian, KernelBank, Nystrom
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.scenarios import load_scenario

ONCE = Bench(repeats=1)


def small() -> Problem:
    train, _ = load_dataset("pima").split(train=0.08, seed=0)
    return Problem(KernelBank.build(train.X, [Gaussian(widths=(1.0, 4.0), on="each")]), train.y, Hinge(C=100.0))


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


def test_half_a_data_set_is_the_papers_problem() -> None:
    problem = full.half("vote")
    assert (problem.m, problem.loss.C) == (221, 100.0)
    assert isinstance(problem.regularizer, Simplex)
    assert partial(solve, problem, "level")(gap=1e-2).status == "converged"
