"""Every classifier of the benchmark meets the same folds, and a missing rival is a row with its reason."""

from __future__ import annotations

import math
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from _problems import blobs

from mklviz.bench import learn
from mklviz.bench._fixed import LAM, SMKL_KERNELS, easy_weights, mklpy_weights, smkl_weights
from mklviz.bench._suite import Bench, load_suites
from mklviz.datasets import describe_datasets, load_dataset
from mklviz.kernels import KernelBank
from mklviz.recipe.words import read_kernels
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
    plain = ["Equal weights", "EasyMKL", "SMKL", "SVC, grid", "LogisticRegression, grid", "HistGradientBoosting"]
    missing, made = rows[:3], rows[3:]
    assert {row.other: row.note for row in missing} == MISSING
    assert [row.other for row in made] == [f"{learn.OURS}, p too", *plain]
    assert {row.ours for row in rows} == {learn.OURS}
    for row in made:
        assert row.ratio > 0.0
        assert row.note.startswith("ours ")
        assert row.note.count("% right") == 2
    assert len(said) == 2 * 8  # two folds, eight classifiers


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


def test_the_tables_are_all_those_with_two_classes_and_bounded() -> None:
    two = [info.name for info in describe_datasets() if info.kind == "table" and info.task == "binary"]
    assert sorted(learn.TABLES) == sorted(two)
    X, y = learn.bounded("letter")
    every = load_dataset("letter").y
    assert len(X) == len(y) == learn.MOST
    assert (y == y.max()).mean() == pytest.approx((every == every.max()).mean(), abs=1 / learn.MOST)


def unit_bank(X: Array) -> KernelBank:
    return KernelBank.build(X, read_kernels("gauss:0.5,2 poly:1,2"), "diagonal")


def test_easy_weights_lie_where_the_classes_are_told_apart() -> None:
    """The weights are gamma'Y K_k Y gamma at the least norm between the hulls of the classes, found here by cvxpy."""
    X, y = blobs(30, 0.2)
    bank = unit_bank(X)
    K = np.array([bank.combine(unit) for unit in np.eye(len(bank))])
    gamma = cp.Variable(30, nonneg=True)
    total = (1.0 - LAM) * K.mean(axis=0) + LAM * np.eye(30)
    posed = cp.quad_form(cp.multiply(y, gamma), cp.psd_wrap(total))
    cp.Problem(cp.Minimize(posed), [cp.sum(gamma[y > 0]) == 1, cp.sum(gamma[y < 0]) == 1]).solve(solver="CLARABEL")
    signed = y * gamma.value
    pulls = np.array([signed @ each @ signed for each in K])
    np.testing.assert_allclose(easy_weights(bank, y), pulls / pulls.sum(), rtol=1e-2)  # LIBSVM's tolerance of 1e-3


class Said:
    """A method of MKLpy's, which takes Gram matrices and labels and returns a solution that has weights."""

    def combine_kernels(self, grams: list[np.ndarray], signs: np.ndarray) -> SimpleNamespace:
        assert {gram.shape for gram in grams} == {(30, 30)}
        return SimpleNamespace(weights=[signs @ gram @ signs for gram in grams])


def test_mklpy_is_handed_whole_kernels_and_its_weights_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(as_tensor=np.asarray))
    monkeypatch.setitem(sys.modules, "MKLpy.algorithms", SimpleNamespace(EasyMKL=Said))
    X, y = blobs(30, 0.2)
    bank = unit_bank(X)
    np.testing.assert_allclose(mklpy_weights("EasyMKL")(bank, y), bank.quad(y), rtol=1e-9)


class Nearest:
    """Stands in for `xrfm.xRFM`: it is handed whole numbers as classes, and is right at one width and price alone."""

    def __init__(self, rfm_params: dict[str, dict[str, object]], **others: object) -> None:
        assert others == {"device": "cpu", "n_threads": 1, "random_state": 0, "verbose": False}
        self.settled = (rfm_params["model"]["bandwidth"], rfm_params["fit"]["reg"]) == (10.0, 1e-1)

    def fit(self, X: Array, y: Array, X_val: Array, y_val: Array) -> None:
        assert sorted(set(y)) == sorted(set(y_val)) == [0, 1]
        assert (len(X), len(X_val)) == (30, 10)

    def predict(self, X: Array) -> Array:
        return (X[:, 0] > 0.0).astype(int) if self.settled else np.zeros(len(X))


def test_xrfm_chooses_on_points_held_out_and_answers_with_the_classes_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in = ModuleType("xrfm")
    stand_in.__spec__ = ModuleSpec("xrfm", None)
    stand_in.xRFM = Nearest  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "xrfm", stand_in)
    made, reasons = learn.contestants()
    assert "xRFM" not in reasons
    X = np.linspace(-1.0, 1.0, 40)[:, None]
    y = np.where(X[:, 0] > 0.0, "yes", "no")
    assert (made["xRFM"]().fit(X, y).predict(X) == y).all()


def test_smkl_keeps_five_kernels_at_most() -> None:
    X, y = blobs(30, 0.2)
    bank = KernelBank.build(X, read_kernels("gauss:2^-3...2^6 poly:1,2"), "diagonal")
    weights = smkl_weights(bank, y)
    assert 0 < (weights > 0.0).sum() <= SMKL_KERNELS < len(bank)
    assert weights.sum() == pytest.approx(1.0)


def test_the_page_on_it_has_a_row_for_every_table() -> None:
    page = (Path(__file__).resolve().parents[1] / "apps" / "docs" / "learning_kernels.md").read_text()
    made, others = learn.contestants()
    columns = len((set(made) | set(others)) - {"MKLpy's AverageMKL", "xRFM", "SMKL"})
    rows = [line for line in page.splitlines() if line.count("±") == columns]
    assert sorted(row.split(" | ")[0].removeprefix("| ") for row in rows) == sorted(learn.TABLES)
