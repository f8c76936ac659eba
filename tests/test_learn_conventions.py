"""scikit-learn's own checks of estimators, all of them, with one exception, which says why."""

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
    mv.MKLClassifier(FEW, loss="logistic"),
    mv.MKLRegressor(FEW),
    mv.MKLClassifierCV(WIDE, Cs=[10.0, 100.0], cv=2),
    mv.KernelTransformer("gauss:0.5,2"),
    # solved so well that weights and repeated samples can be compared, on kernels that do not count samples
    mv.MKLClassifier(WIDE, normalize="diagonal", tol=1e-13),
    mv.MKLRegressor(FEW, normalize="diagonal", tol=1e-13),
]


def exceptions(estimator: Any) -> dict[str, str]:
    """Return the checks that are not kept, each with the reason; `test_learn_weights` has what holds instead."""
    why = "weights are as repeated samples to the loss, but kernels of unit trace are scaled by each sample once"
    scaled = getattr(estimator, "normalize", "") == "trace"
    return {"check_sample_weight_equivalence_on_dense_data": why} if scaled else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exceptions)
def test_estimators_keep_scikit_learn_s_conventions(estimator: Any, check: Any) -> None:
    assert check(estimator) is None  # a check raises where it fails


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
