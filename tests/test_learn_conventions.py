"""scikit-learn's own checks of estimators, all of them, without an exception."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

import mklviz as mv

FEW = "gauss:0.5,2 poly:1"
ESTIMATORS = [
    mv.MKLClassifier(),
    mv.MKLClassifier(FEW, loss="logistic"),
    mv.MKLRegressor(FEW),
    mv.MKLClassifierCV(FEW, Cs=[10.0, 100.0], cv=2),
    mv.KernelTransformer("gauss:0.5,2"),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimators_keep_scikit_learn_s_conventions(estimator: Any, check: Any) -> None:
    assert check(estimator) is None  # a check raises where it fails
