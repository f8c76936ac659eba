"""scikit-learn's own checks of estimators, all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import mklviz as mv

FEW = "gauss:0.5,2 poly:1"
WIDE = "gauss:2,30 poly:1"  # for a check with features of size 20
ESTIMATORS = [
    mv.MKLClassifier(),
    mv.MKLRegressor(FEW),
    mv.MKLClassifierCV(WIDE, Cs=[0.1, 1.0], cv=2),
    mv.MKLRegressorCV(FEW, Cs=[0.1, 1.0], cv=3),
    mv.MKLOneClass(FEW, nu=0.5),
    mv.KernelTransformer("gauss:0.5,2"),
]
OTHERWISE = [
    mv.MKLClassifier(FEW, loss="logistic"),
    mv.MKLClassifier(WIDE, normalize="trace", C=100.0),
    mv.MKLRegressor(FEW, normalize="trace", C=100.0),
]
# compares two solutions to a relative 1e-7: the least gap that doubles can prove, 1e-13, leaves its root, 3e-7, in a
# function of hundreds of kernels, so that even another order of the samples shows; that of three is far more exact
CLOSE = "check_sample_weight_equivalence_on_dense_data"


@parametrize_with_checks(ESTIMATORS)
def test_estimators_keep_scikit_learn_s_conventions(estimator: Any, check: Any) -> None:
    if check.func.__name__ == CLOSE and hasattr(estimator, "tol"):
        estimator.set_params(tol=1e-13, kernels=WIDE if estimator.kernels == "paper" else estimator.kernels)
    assert check(estimator) is None  # a check raises where it fails


@pytest.mark.full
@parametrize_with_checks(OTHERWISE)
def test_estimators_with_other_arguments_keep_them_too(estimator: Any, check: Any) -> None:
    test_estimators_keep_scikit_learn_s_conventions(estimator, check)


def test_masked_entries_are_refused_where_scikit_learn_drops_the_mask() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.repeat([-1, 1], 10)
    masked = np.ma.masked_greater(X, np.sort(X.ravel())[-2])
    fitted = mv.KernelTransformer("gauss:1@all").fit(X)
    model = mv.MKLClassifier("gauss:1@all").fit(X, y)
    for call in (
        lambda: mv.MKLClassifier("gauss:1@all").fit(masked, y),
        lambda: model.predict(masked),
        lambda: mv.KernelTransformer("gauss:1@all").fit(masked),
        lambda: fitted.transform(masked),
    ):
        with pytest.raises(mv.errors.KernelError, match="X has 1 masked entry"):
            call()
