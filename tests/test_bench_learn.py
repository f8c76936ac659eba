"""Every classifier of the benchmark meets the same folds, and a missing rival is a row with its reason."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from mklviz.bench import learn
from mklviz.bench._suite import Bench, load_suites

FEW = "gauss:1,4 poly:1"


@pytest.fixture(autouse=True)
def _few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn, "KERNELS", FEW)
    monkeypatch.setattr(learn, "CS", (10.0,))


def test_every_rival_has_a_row_with_times_and_accuracies() -> None:
    said: list[str] = []
    rows = list(learn.measure(Bench(quick=True, repeats=2, say=said.append)))
    assert [row.other for row in rows] == ["SVC, grid", "LogisticRegression, grid", "HistGradientBoosting"]
    assert {row.ours for row in rows} == {learn.OURS}
    for row in rows:
        assert row.ratio > 0.0
        assert row.note.startswith("ours ")
        assert row.note.count("% right") == 2
    assert len(said) == 2 * 4  # two folds, four classifiers


def test_scores_are_those_of_the_fold_left_out() -> None:
    made, reasons = learn.contestants()
    assert reasons == {}
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
