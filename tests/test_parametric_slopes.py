"""Which derivatives of parametric kernels are refused: wrong ones in any unit, and right ones in none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from _problems import Array, blobs

import mklviz as mv
import mklviz.datasets
from mklviz.errors import KernelError
from mklviz.kernels import LearnedGaussian, LearnedPolynomial, ParametricBank, ParametricKernel

TABLES = [card.name for card in mklviz.datasets.describe_datasets() if card.kind == "table"]


def groupings(width: int) -> list[Sequence[Sequence[int]] | None]:
    """Each feature by itself, all, two halves, and every third."""
    columns, half = range(width), width // 2
    return [None, [columns], [columns[:half], columns[half:]], [columns[k::3] for k in range(3)]]


@pytest.mark.each_value
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("standardize", [True, False])
def test_the_built_in_kernels_pass_on_every_table(name: str, standardize: bool) -> None:
    """Widths at which only the diagonal is left, and data of any size, are no mistakes of the kernel."""
    X = mv.load_dataset(name).split(train=0.6, seed=0, standardize=standardize)[0].X[:1000]  # of Adult no more fit
    for groups in groupings(X.shape[1]):
        bank = ParametricBank.build(X, LearnedGaussian(groups=groups))
        assert len(bank) == (X.shape[1] if groups is None else len(groups))  # and no refusal before that
    for degree in (1, 3):
        ParametricBank.build(X, [LearnedPolynomial(degree), LearnedGaussian()])


@pytest.mark.each_value
@pytest.mark.parametrize(("name", "standardize"), [("sonar", True), ("heart", True), ("wdbc", False)])
@pytest.mark.parametrize("width", [1e-3, 0.1, 1.0, 10.0])
def test_the_slopes_of_a_narrow_gaussian_do_not_cancel(name: str, standardize: bool, width: float) -> None:
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


class InUnits(ParametricKernel):
    """exp(-unit sum_k d_k (x_k - z_k)^2), with derivatives off by a factor."""

    label = "Gaussian in other units"

    def __init__(self, unit: float, factor: float = 1.0, kind: Any = np.float64) -> None:
        self.unit, self.factor, self.kind = unit, factor, kind

    def names(self, features: Any) -> Any:
        return features

    def squares(self, left: Array, right: Array) -> Array:
        return np.asarray(self.unit * (left[:, None] - right[None]) ** 2)

    def values(self, left: Array, right: Array, weights: Array) -> Any:
        return np.exp(-self.squares(left, right) @ weights).astype(self.kind)

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        charges *= self.values(left, right, weights)  # which it may overwrite
        return -self.factor * np.einsum("ij,ijk->k", charges, self.squares(left, right))


HEART = mv.load_dataset("heart").split(train=0.6, seed=0)[0].X


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3, 1e6, 1e9])
def test_derivatives_are_compared_in_any_unit_of_the_parameters(unit):
    ParametricBank.build(HEART, InUnits(unit))
    for factor in (1.001, 0.999, 2.0, -1.0, 0.0):
        with pytest.raises(KernelError, match="do not fit its values"):
            ParametricBank.build(HEART, InUnits(unit, factor))


class Line(ParametricKernel):
    """sum_k d_k x_k z_k with the derivative in one parameter doubled."""

    label = "line"

    def __init__(self, wrong: int) -> None:
        self.wrong = wrong

    def names(self, features: Any) -> Any:
        return features

    def values(self, left: Array, right: Array, weights: Array) -> Array:
        return np.asarray((left * weights) @ right.T)

    def forms(self, left: Array, right: Array, weights: Array, charges: Array) -> Array:
        told = ((charges.T @ left) * right).sum(0)
        told[self.wrong] *= 2.0
        return np.asarray(told)


@pytest.mark.parametrize("wrong", [0, 999])
def test_one_wrong_derivative_among_a_thousand_is_found_and_named(wrong):
    X = np.random.default_rng(0).normal(size=(50, 1000))
    with pytest.raises(KernelError, match=rf"in the parameter x{wrong + 1} give the slope"):
        ParametricBank.build(X, Line(wrong))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_single_precision_gets_a_sentence_of_its_own(kind):
    with pytest.raises(KernelError, match=r"must be given in double precision \(float64\), but float(32|16) was given"):
        ParametricBank.build(blobs(40)[0], InUnits(1.0, kind=kind))
