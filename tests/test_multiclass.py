"""Data with more than two classes from the table to the score: all classes at once, and one against the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mklviz.datasets import DataError, load_dataset
from mklviz.engine import solve
from mklviz.errors import ProblemError
from mklviz.experiment import Experiment
from mklviz.problem import Gaussian

IRIS = Experiment(dataset="iris", kernels=(Gaussian(widths=(0.5, 2.0), on="all+each"),), C=10.0)


@pytest.mark.parametrize("loss", ["multiclass-hinge", "one-against-all"])
def test_the_score_is_the_share_of_new_points_whose_largest_decision_is_their_class(loss: str) -> None:
    prepared = replace(IRIS, loss=loss).prepare()
    final = solve(prepared.problem, "level", gap=1e-4).final
    decisions = prepared.problem.decision_values(final.weights, final.dual, prepared.cross)
    assert decisions.shape == (prepared.test.n_samples, 3)
    right = decisions.argmax(axis=1) == prepared.test.y
    assert prepared.score(final) == pytest.approx(right.mean(), abs=1e-15)
    assert right.mean() > 0.9
    assert prepared.score_label == "test accuracy"


def test_one_class_against_the_rest_meets_the_samples_of_all_classes_at_once() -> None:
    together = replace(IRIS, loss="multiclass-hinge").prepare()
    for code, name in enumerate(together.train.classes):
        alone = replace(IRIS, positive=name).prepare()
        np.testing.assert_array_equal(alone.train.X, together.train.X)
        np.testing.assert_array_equal(alone.problem.y > 0, together.problem.y == code)
        np.testing.assert_array_equal(alone.test.y > 0, together.test.y == code)
        assert alone.train.classes == ("the rest", name)
        assert f"{name} against the rest" in alone.train.title


def test_what_has_no_such_class_or_only_two_is_refused() -> None:
    with pytest.raises(DataError, match="no class 'rose'; there are setosa, versicolor, virginica"):
        replace(IRIS, positive="rose").prepare()
    with pytest.raises(DataError, match="more than two classes"):
        load_dataset("sonar").against_rest("mine")
    with pytest.raises(ProblemError, match="choose the multiclass hinge or the one-against-all hinge loss"):
        IRIS.prepare()
    with pytest.raises(ProblemError, match="has two classes, which the hinge loss tells apart"):
        replace(IRIS, loss="multiclass-hinge", positive="setosa").prepare()
