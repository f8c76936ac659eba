"""Every classifier of the benchmark meets the same folds, and a missing rival is a row with its reason."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from _problems import blobs
from _reference import optimal_value
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from mklviz.bench import learn
from mklviz.bench._rivals import (
    FixedWeights,
    best_kernel,
    equal_weights,
    first_stage,
    largest_margin,
)
from mklviz.bench._suite import Bench, load_suites
from mklviz.datasets import describe_datasets, load_dataset
from mklviz.engine import solve
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.recipe.words import read_kernels
from mklviz.solvers.alignf import Alignf
from mklviz.solvers.easymkl import EasyMkl
from mklviz.typing import Array

FEW = "gauss:1,4 poly:1"
MISSING = {**dict.fromkeys(learn.MKLPY, "MKLpy is not installed"), "xRFM": "xrfm is not installed"}


@pytest.fixture(autouse=True)
def _few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn, "KERNELS", FEW)
    monkeypatch.setattr(learn, "CS", (10.0,))


def test_every_rival_has_a_row_with_times_and_accuracies() -> None:
    said: list[str] = []
    rows = list(learn.measure(Bench(quick=True, repeats=2, say=said.append)))
    kernels = ["Equal weights", "EasyMKL", "ALIGNF", "SMKL", "Best kernel", "LP-beta"]
    plain = [*kernels, "SVC, grid", "LogisticRegression, grid", "HistGradientBoosting"]
    missing, made = rows[:3], rows[3:]
    assert {row.other: row.note for row in missing} == MISSING
    assert [row.other for row in made] == [f"{learn.OURS}, p too", *plain]
    assert {row.ours for row in rows} == {learn.OURS}
    for row in made:
        assert row.ratio > 0.0
        assert row.note.startswith("ours ")
        assert row.note.count("% right") == 2
    assert len(said) == 2 * 11  # two folds, eleven classifiers


def test_scores_are_those_of_the_fold_left_out() -> None:
    made, reasons = learn.contestants()
    assert reasons == MISSING
    scores = learn.compare("liver", 3, made, lambda words: None)
    for score in scores.values():
        assert score.accuracy.shape == score.fit.shape == score.predict.shape == (3,)
        assert 0.5 < score.accuracy.mean() < 0.9  # a hard table, on which all are better than chance
        assert np.isfinite(score.fit).all()


def test_without_scikit_learn_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "learn" in load_suites(["learn"])
    monkeypatch.setitem(sys.modules, "sklearn", None)
    (row,) = learn.measure(Bench(quick=True))
    assert math.isnan(row.ratio)
    assert "sklearn" in row.note


def test_the_tables_are_all_those_with_two_classes_but_adult_and_bounded() -> None:
    two = [info.name for info in describe_datasets() if info.kind == "table" and info.task == "binary"]
    assert sorted(("adult", *learn.TABLES)) == sorted(two)
    X, y = learn.bounded("letter")
    every = load_dataset("letter").y
    assert len(X) == len(y) == learn.MOST
    assert (y == y.max()).mean() == pytest.approx((every == every.max()).mean(), abs=1 / learn.MOST)


def unit_bank(X: Array) -> KernelBank:
    return KernelBank.build(X, read_kernels("gauss:0.5,2 poly:1,2"), "diagonal")


def thirds() -> StratifiedKFold:
    return StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.mark.parametrize("method", [Alignf(), EasyMkl()])
def test_methods_in_two_stages_weigh_here_as_in_a_race(method: Alignf | EasyMkl) -> None:
    X, y = blobs(30, 0.2)
    bank = unit_bank(X)
    raced = solve(Problem(bank, y, Hinge(3.0), Simplex()), method).final.weights
    np.testing.assert_array_equal(first_stage(method)(bank, y), raced)


def test_equal_weights_are_an_svc_on_the_mean_kernel() -> None:
    X, y = blobs(40, 0.4)
    made = FixedWeights(FEW, equal_weights, (3.0,), thirds()).fit(X[:30], y[:30])
    bank = KernelBank.build(X[:30], read_kernels(FEW), "diagonal")
    mean = np.mean([bank.combine(unit) for unit in np.eye(len(bank))], axis=0)
    across = np.mean([bank.cross(X[30:]).combine(unit) for unit in np.eye(len(bank))], axis=0)
    theirs = SVC(C=3.0, kernel="precomputed").fit(mean, y[:30])
    np.testing.assert_array_equal(made.predict(X[30:]), theirs.predict(across))


def test_the_best_kernel_is_the_one_whose_own_machine_is_right_most_often() -> None:
    X, y = blobs(60, 0.8)
    bank = unit_bank(X)
    alone = [
        (cross_val_predict(SVC(kernel="precomputed"), bank.combine(unit), y, cv=thirds()) == y).mean()
        for unit in np.eye(len(bank))
    ]
    weights = best_kernel(thirds())(bank, y)
    assert weights.tolist() == [float(k == np.argmax(alone)) for k in range(len(bank))]


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_lp_beta_solves_its_linear_program(nu: float) -> None:
    """The weights are those of the largest margin, with at most a share nu of the samples below it."""
    rng = np.random.default_rng(0)
    signs = np.resize([1.0, -1.0], 40)
    decisions = 0.5 * signs[:, None] * rng.random(6) + rng.normal(size=(40, 6))
    found = largest_margin(decisions, signs, nu)
    beta, slack, rho = cp.Variable(6, nonneg=True), cp.Variable(40, nonneg=True), cp.Variable()
    margins = cp.multiply(signs, decisions @ beta)
    posed = cp.Problem(cp.Minimize(cp.sum(slack) / (nu * 40) - rho), [margins + slack >= rho, cp.sum(beta) == 1])
    best = optimal_value(posed, 1e-8)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    ours = signs * (decisions @ found)
    prices = [np.maximum(level - ours, 0.0).sum() / (nu * 40) - level for level in ours]  # rho is one of the margins
    assert min(prices) == pytest.approx(best, rel=1e-6)
    level = ours[int(np.argmin(prices))]
    assert (ours < level - 1e-9).mean() <= nu


def test_the_page_on_it_has_a_row_for_every_table_and_three_more_rivals_on_some() -> None:
    page = (Path(__file__).resolve().parents[1] / "apps" / "docs" / "learning_kernels.md").read_text()
    made, others = learn.contestants()
    later = 3
    unmeasured = {"MKLpy's AverageMKL", "xRFM", "SMKL"}  # the first is that of equal weights
    columns = len({*made, *others} - unmeasured) - later
    main, more = ([line.split()[1] for line in page.splitlines() if line.count("±") == k] for k in (columns, later))
    assert sorted(main) == sorted(learn.TABLES)
    assert more
    assert set(more) < set(main)
