"""Calibrated probabilities, against scikit-learn's sigmoids and LIBSVM's coupling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import mklviz as mv
from mklviz.learn._calibrated import coupled

KERNELS = "gauss:2,8@all poly:1"
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def wine(classes: int) -> tuple[Any, Any, Any, Any]:
    """Noisy wine in two halves, so that classes overlap."""
    X, y = load_wine(return_X_y=True)
    X = scale(X) + 1.5 * np.random.default_rng(0).normal(size=X.shape)
    X, y = X[y < classes], y[y < classes]
    return X[::2], y[::2], X[1::2], y[1::2]


def test_of_two_classes_they_are_those_of_scikit_learn_s_calibration_weights_of_samples_included() -> None:
    X, y, new, _ = wine(2)
    for weights in (None, np.linspace(0.5, 2.0, len(y))):
        ours = mv.MKLClassifier(KERNELS, probability=True).fit(X, y, weights).predict_proba(new)
        calibrated = CalibratedClassifierCV(mv.MKLClassifier(KERNELS), ensemble=False, cv=FOLDS)
        theirs = calibrated.fit(X, y, weights).predict_proba(new)
        assert ours == pytest.approx(theirs, abs=1e-4)  # as far as scikit-learn's quasi-Newton method goes


@pytest.mark.parametrize("loss", ["multiclass-hinge", "one-against-all"])
def test_of_several_classes_they_say_as_much_as_scikit_learn_s(loss: str) -> None:
    X, y, new, truth = wine(3)
    ours = mv.MKLClassifier(KERNELS, loss=loss, probability=True).fit(X, y).predict_proba(new)
    calibrated = CalibratedClassifierCV(mv.MKLClassifier(KERNELS, loss=loss), ensemble=False, cv=FOLDS)
    theirs = calibrated.fit(X, y).predict_proba(new)
    assert ours.sum(axis=1) == pytest.approx(1.0)
    assert log_loss(truth, ours) < 1.05 * log_loss(truth, theirs)


def test_pairs_that_belong_together_are_coupled_to_what_they_come_from() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(5), size=20)
    among = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    assert coupled(among) == pytest.approx(p)


def test_pairs_that_contradict_one_another_are_coupled_as_wu_lin_and_weng_do() -> None:
    rng = np.random.default_rng(1)
    among = expit(rng.normal(size=(10, 4, 4)))
    among = np.where(np.arange(4)[:, None] < np.arange(4), among, 1.0 - among.transpose(0, 2, 1))
    p = coupled(among)

    def cost(p: Any) -> Any:
        terms = (among.transpose(0, 2, 1) * p[:, :, None] - among * p[:, None, :]) ** 2
        return (terms * (1.0 - np.eye(4))).sum(axis=(1, 2))

    assert p.min() > 0.0
    for other in rng.dirichlet(np.ones(4), size=50):
        assert (cost(p) <= cost(0.99 * p + 0.01 * other)).all()


@pytest.mark.filterwarnings("ignore::FutureWarning")  # the parameter is to go
def test_libsvm_couples_so() -> None:
    X, y, new, _ = wine(3)
    model = SVC(probability=True, decision_function_shape="ovo", random_state=0)
    model.fit(X, y)
    f, among = model.decision_function(new), np.zeros((len(new), 3, 3))
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        among[:, i, j] = expit(-(model.probA_[k] * f[:, k] + model.probB_[k]))
        among[:, j, i] = 1.0 - among[:, i, j]
    assert coupled(among) == pytest.approx(model.predict_proba(new), abs=0.005)  # LIBSVM stops at 0.005 / classes


def test_the_search_calibrates_what_it_chose_and_its_best_estimator_has_it() -> None:
    X, y, new, _ = wine(3)
    names = [f"f{i}" for i in range(X.shape[1])]
    table, new = pd.DataFrame(X, columns=names), pd.DataFrame(new, columns=names)
    kernels = [mv.Gaussian(on=["f1", "f2"]), mv.Linear(on="all")]
    search = mv.MKLClassifierCV(kernels, Cs=[1.0], cv=2, probability=True).fit(table, y)
    alone = mv.MKLClassifier(kernels, C=1.0, probability=True).fit(table, y)
    assert np.array_equal(search.best_estimator_.predict_proba(new), search.predict_proba(new))
    assert search.predict_proba(new) == pytest.approx(alone.predict_proba(new), abs=1e-8)


def test_without_them_it_is_said_how_there_would_be_and_a_class_of_one_sample_has_none() -> None:
    X, y, *_ = wine(3)
    with pytest.raises(AttributeError) as refused:
        mv.MKLClassifier(KERNELS).fit(X, y).predict_proba(X)
    assert "probability=True" in str(refused.value.__cause__)
    with pytest.raises(mv.errors.ProblemError, match="two samples of each class"):
        mv.MKLClassifier(KERNELS, probability=True).fit(X, np.where(np.arange(len(X)) == 0, 3, y))
