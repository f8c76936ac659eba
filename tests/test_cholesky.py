"""Kernels of low rank are kept by factors that say the same as their matrices, and few different points suffice."""

from dataclasses import dataclass

import numpy as np
import pytest
from _problems import dense

from mklviz.kernels import Gaussian, KernelBank, KernelFamily, Laplacian, Linear, Polynomial
from mklviz.kernels.storage.factored import PRECISION, Distinct, low_rank
from mklviz.kernels.storage.repeated import RepeatedBlock

RNG = np.random.default_rng(8)
FAMILIES: list[KernelFamily] = [
    Gaussian(widths=(0.2, 1.0, 64.0)),
    Laplacian(widths=(0.3, 5.0)),
    Polynomial(degrees=(1, 3, 9), offset=0.5),
    Linear(),
]


@dataclass(frozen=True)
class _InPython(Gaussian):
    def on_one_feature(self, value: float) -> None:
        return None


@pytest.mark.parametrize("points", ["drawn", "whole numbers", "alike"])
@pytest.mark.parametrize("family", [*FAMILIES, _InPython()], ids=lambda family: type(family).__name__)
def test_factors_give_the_kernel_back(family: KernelFamily, points: str) -> None:
    n = 90
    drawn = RNG.normal(size=(n, 1))
    X = {"drawn": drawn, "whole numbers": np.rint(2.0 * drawn), "alike": np.full((n, 1), 1.5)}[points]
    distinct = Distinct.of(X)
    for value in family.values():
        K = family.profile(family.base(X, X), value)
        factor = low_rank(family, value, distinct, n)
        assert len(factor) <= len(distinct.points)
        repeated = factor[:, distinct.inverse]
        # the residual is positive semidefinite, so no entry of it exceeds its trace; rounding adds some units
        assert np.abs(repeated.T @ repeated - K).max() <= 2.0 * PRECISION * np.trace(K)


def test_few_different_points_make_factors_on_several_features_too() -> None:
    X = RNG.integers(0, 2, size=(120, 3)).astype(float)  # eight different points
    families: list[KernelFamily] = [Gaussian(widths=(0.1, 1.0)), Laplacian(widths=(1.0,)), Polynomial()]
    bank = KernelBank.build(X, families, normalize="none")
    assert bank.backend == "6 factored"
    assert bank.nbytes <= 8 * 6 * 8 * 8 + 4 * 120
    for K, (family, value) in zip(dense(bank), [(f, v) for f in families for v in f.values()], strict=True):
        np.testing.assert_allclose(K, family.profile(family.base(X, X), value), atol=1e-11 * np.abs(K).max())
    wide = np.column_stack([X, RNG.normal(size=120)])
    assert KernelBank.build(wide, [Gaussian(widths=(1.0,), on=[0, 1])]).backend == "1 factored"
    assert KernelBank.build(wide, [Gaussian(widths=(1.0,))]).backend == "1 packed"
    many = RNG.integers(0, 10, size=(120, 3)).astype(float)  # each column few values, hardly two points alike
    assert KernelBank.build(many, [Gaussian(widths=(1.0,))]).backend == "1 packed"


@pytest.mark.parametrize("rank", [3, 20])
def test_factors_on_few_points_are_repeated_for_every_sample(rank: int) -> None:
    n, u = 70, 25
    first, second = (Distinct.of(RNG.integers(0, u, size=(n, 1)).astype(float)) for _ in range(2))
    points = [first, second, second, first, first]
    factors = [RNG.normal(size=(rank + k, len(one.points))) for k, one in enumerate(points)]
    Z = [factor[:, one.inverse] for factor, one in zip(factors, points, strict=True)]
    K = np.array([part.T @ part for part in Z])
    block = RepeatedBlock(factors, points)
    v, size = RNG.normal(size=(n, 2)), np.abs(K).max()
    np.testing.assert_allclose(block.quad(v), np.einsum("ic,kij,jc->k", v, K, v), rtol=1e-11)
    np.testing.assert_allclose(block.products(np.array([4, 1]), v[:, 0]), K[[4, 1]] @ v[:, 0], atol=1e-12 * size * n)
    for weights in (np.arange(5.0), np.array([0.0, 0.0, 2.0, 0.0, 0.0]), np.zeros(5)):
        expected = np.tensordot(weights, K, 1)
        found = RNG.normal(size=(n, n))
        block.add_combined(weights, found, fresh=True)
        np.testing.assert_allclose(np.tril(found), np.tril(expected), atol=1e-11 * size)
        block.add_combined(weights, found)
        np.testing.assert_allclose(np.tril(found), np.tril(2.0 * expected), atol=1e-11 * size)
        np.testing.assert_allclose(block.apply(weights, v[:, 1]), expected @ v[:, 1], atol=1e-11 * size * n)
        rows = block.factor(weights)
        assert rows.shape == (sum(len(part) for part, weight in zip(Z, weights, strict=True) if weight), n)
        np.testing.assert_allclose(rows.T @ rows, expected, atol=1e-11 * size)
