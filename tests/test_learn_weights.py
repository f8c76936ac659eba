"""Weights of samples and classes in the estimators."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.class_weight import compute_sample_weight

import mklviz as mv
from mklviz.errors import ProblemError
from mklviz.typing import Array

FEW = "gauss:1,3 poly:1"
EXACT: dict[str, Any] = {"tol": 1e-9}


def data(classes: int = 2, n: int = 60) -> tuple[Array, Array]:
    shares = [0.7] if classes == 2 else [0.5, 0.3]
    shape = {"n_informative": 3, "n_redundant": 0, "n_clusters_per_class": 1}
    X, y = make_classification(n, 4, n_classes=classes, weights=shares, random_state=3, flip_y=0.1, **shape)
    return X, y


def counts(n: int = 60) -> Array:
    return np.random.default_rng(4).integers(0, 4, size=n).astype(float)


X, y = data()


@pytest.mark.parametrize(
    ("model", "classes"),
    [
        (mv.MKLClassifier(FEW, C=2.0, **EXACT), 2),
        (mv.MKLClassifier(FEW, C=2.0, class_weight="balanced", **EXACT), 2),
        (mv.MKLClassifier(FEW, C=200.0, normalize="trace", **EXACT), 2),
        (mv.MKLClassifier(FEW, C=2.0, normalize="mean-diagonal", **EXACT), 2),
        (mv.MKLClassifier(FEW, C=2.0, loss="logistic", **EXACT), 2),
        (mv.MKLClassifier(FEW, C=2.0, class_weight="balanced", **EXACT), 3),
        (mv.MKLClassifier(FEW, C=2.0, loss="one-against-all", **EXACT), 3),
        (mv.MKLRegressor(FEW, C=2.0, **EXACT), 2),
        (mv.MKLRegressor(FEW, C=2.0, loss="epsilon-insensitive", **EXACT), 2),
    ],
    ids=repr,
)
def test_weights_are_repeated_samples(model: Any, classes: int) -> None:
    X, y = data(classes)
    often = np.repeat(np.arange(len(y)), counts().astype(int))
    ask = "predict" if isinstance(model, mv.MKLRegressor) else "decision_function"
    one = getattr(model.fit(X, y, sample_weight=counts()), ask)(X)
    weights = model.weights_
    many = getattr(model.fit(X[often], y[often]), ask)(X)
    # of either function a gap of 1e-9 leaves the root of twice its share of the objective, which is below 60
    np.testing.assert_allclose(one, many, atol=1e-3)
    np.testing.assert_allclose(weights, model.weights_, atol=1e-3)


def test_samples_without_weight_are_left_out_to_the_last_bit() -> None:
    kept = np.arange(60) % 4 != 0
    weights = np.where(kept, 1.0 + np.arange(60) % 3, 0.0)
    model = mv.MKLClassifier(FEW)
    one = model.fit(X, y, sample_weight=weights)
    found, places = one.decision_function(X), one.support_
    few = mv.MKLClassifier(FEW).fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(found, few.decision_function(X))
    np.testing.assert_array_equal(places, np.flatnonzero(kept)[few.support_])
    assert len(model.fit(X, y).support_) > 0  # nothing is left of the fit before
    assert model.support_.max() >= 48


@pytest.mark.parametrize("table", [False, True])
def test_precomputed_kernels_are_left_out_on_both_sides(table: bool) -> None:
    weights = np.where(np.arange(60) % 4 == 0, 0.0, 1.0)
    kept = weights > 0.0
    values = mv.KernelTransformer(FEW).fit_transform(X)
    cube = np.moveaxis(values.reshape(60, -1, 60), 1, 2)
    given = values if table else cube
    one = mv.MKLClassifier("precomputed").fit(given, y, sample_weight=weights)
    few = mv.MKLClassifier("precomputed").fit(cube[kept][:, kept], y[kept])
    again = pickle.loads(pickle.dumps(one))
    for model in (one, again):
        np.testing.assert_array_equal(model.decision_function(given), few.decision_function(cube[:, kept]))


def test_classes_have_weights_as_in_scikit_learn() -> None:
    X, y = data(3)
    named = {0: 0.5, 2: 3.0}
    for given in ("balanced", named):
        by_class = mv.MKLClassifier(FEW, class_weight=given).fit(X, y)
        by_sample = mv.MKLClassifier(FEW).fit(X, y, sample_weight=compute_sample_weight(given, y))
        np.testing.assert_allclose(by_class.decision_function(X), by_sample.decision_function(X), atol=1e-12)
    in_digits = mv.MKLClassifier(FEW, class_weight={"0": 0.5, "2": 3.0}).fit(X, y.astype(str))
    np.testing.assert_allclose(in_digits.decision_function(X), by_class.decision_function(X), atol=1e-12)
    both = mv.MKLClassifier(FEW, class_weight=named).fit(X, y, sample_weight=1.0 + y)
    product = mv.MKLClassifier(FEW).fit(X, y, sample_weight=(1.0 + y) * compute_sample_weight(named, y))
    np.testing.assert_allclose(both.decision_function(X), product.decision_function(X), atol=1e-12)


def test_balanced_classes_find_more_of_the_rare_class() -> None:
    X, y = make_classification(200, 4, weights=[0.92], random_state=1, class_sep=0.6)
    plain, balanced = (mv.MKLClassifier(FEW, C=1.0, class_weight=given).fit(X, y) for given in (None, "balanced"))
    assert plain.predict(X)[y == 1].mean() < balanced.predict(X)[y == 1].mean()


def test_folds_are_those_of_all_samples_given_each_with_a_test_sample_with_weight() -> None:
    weights = np.where(np.arange(60) % 4 == 0, 0.0, 1.0 + np.arange(60) % 3)
    kept = np.flatnonzero(weights)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    chosen = mv.MKLClassifierCV(FEW, Cs=[1.0, 100.0], cv=folds, class_weight="balanced", tol=1e-6)
    chosen.fit(X, y, sample_weight=weights)
    by_hand = []
    for train, test in folds:
        train, test = np.intersect1d(train, kept), np.intersect1d(test, kept)
        one = mv.MKLClassifier(FEW, C=100.0, class_weight="balanced", tol=1e-6)
        one.fit(X[train], y[train], sample_weight=weights[train])
        by_hand.append(one.score(X[test], y[test], sample_weight=weights[test]))
    column = list(chosen.cv_results_["param_C"]).index(100.0)
    assert chosen.cv_results_["mean_test_score"][column] == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert set(chosen.support_) <= set(kept)
    weights = (np.arange(60) >= 20).astype(float)
    with pytest.raises(ProblemError, match="no test sample with weight"):
        mv.MKLClassifierCV(FEW, Cs=[1.0], cv=KFold(3)).fit(X, y, sample_weight=weights)


def test_a_grid_search_hands_the_weights_on_and_scores_weigh_samples() -> None:
    weights = 1.0 + np.arange(60) % 5
    grid = GridSearchCV(mv.MKLClassifier(FEW), {"C": [10.0], "class_weight": ["balanced"]}, cv=2)
    grid.fit(X, y, sample_weight=weights)
    alone = mv.MKLClassifier(FEW, C=10.0, class_weight="balanced").fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(grid.decision_function(X), alone.decision_function(X))
    model = mv.MKLClassifier(FEW, C=0.01).fit(X, y)
    right = model.predict(X) == y
    assert 0 < right.sum() < len(y)
    weights = np.where(right, 3.0, 1.0)
    assert model.score(X, y, sample_weight=weights) == pytest.approx(3 * right.sum() / weights.sum())
