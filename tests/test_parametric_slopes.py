"""Which derivatives of parametric kernels are refused: wrong ones in any unit, and right ones in none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import mklviz as mv
import mklviz.datasets
from mklviz.kernels import LearnedGaussian


def groupings(width: int) -> list[Sequence[Sequence[int]] | None]:
    """Each feature by itself, all, two halves, and every third."""
    columns, half = range(width), width // 2
    return [None, [columns], [columns[:half], columns[half:]], [columns[k::3] for k in range(3)]]


@pytest.mark.parametrize(("name", "standardize"), [("sonar", True), ("heart", True), ("wdbc", False)])
@pytest.mark.parametrize("width", [1e-3, 0.1, 1.0, 10.0])
def test_the_slopes_of_a_narrow_gaussian_do_not_cancel(name, standardize, width):
    """Beside the sum over pairs in longer numbers: with data in the thousands rounding of exponents leaves 1e-10."""
    X = mv.load_dataset(name).split(train=0.6, seed=0, standardize=standardize)[0].X[:120]
    groups = groupings(X.shape[1])[2]
    assert groups is not None
    weights, v = width * np.array([1.0, 0.7]), np.random.default_rng(0).normal(size=len(X))
    squares = [((X[:, None, list(g)] - X[None][:, :, list(g)]) ** 2).sum(-1).astype(np.longdouble) for g in groups]
    charged = np.outer(v, v) * np.exp(-weights[0] * squares[0] - weights[1] * squares[1])
    told = LearnedGaussian(groups=groups).forms(X, X, weights, np.outer(v, v))
    for slope, square in zip(told, squares, strict=True):
        assert abs(slope + (charged * square).sum()) <= 1e-8 * (np.abs(charged) * square).sum()
