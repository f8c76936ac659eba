"""Regularizers by their mathematics: projections by KKT, conjugates by Fenchel-Young, gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest

from mklviz.errors import ProblemError
from mklviz.problem import L1Penalty, Regularizer, Simplex

RNG = np.random.default_rng(1)
REGULARIZERS = [Simplex(), L1Penalty(0.3), L1Penalty(40.0)]
POINTS = [scale * RNG.normal(size=m) for m in (1, 2, 5, 50) for scale in (1e-3, 1.0, 1e3)]


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("m", [1, 3, 1000])
def test_the_start_lies_inside_and_favours_no_kernel(regularizer: Regularizer, m: int) -> None:
    start = regularizer.start(m)
    assert start.shape == (m,)
    assert np.isfinite(regularizer.value(start))
    assert np.ptp(start) == 0.0


@pytest.mark.parametrize("point", POINTS)
def test_projection_on_the_simplex_satisfies_kkt(point: np.ndarray) -> None:
    d = Simplex().project(point)
    assert Simplex().value(d) == 0.0
    slopes = d - point  # gradient of 1/2 ||d - point||²: equal where d > 0, not smaller elsewhere
    size = 1e-12 * max(1.0, np.abs(point).max())
    assert np.ptp(slopes[d > 0]) <= size
    assert (slopes >= slopes[d > 0].max() - size).all()


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("point", POINTS[3:])
def test_no_point_of_the_domain_is_nearer_than_the_projection(regularizer: Regularizer, point: np.ndarray) -> None:
    d = regularizer.project(point)
    nearest = np.linalg.norm(d - point)
    for _ in range(20):
        other = RNG.dirichlet(np.ones(len(point)))
        for candidate in (other, 0.9 * d + 0.1 * other):
            assert nearest <= np.linalg.norm(candidate - point) * (1 + 1e-12)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("far", [1e16, 1e100])
def test_projection_survives_points_far_away(regularizer: Regularizer, far: float) -> None:
    d = regularizer.project(np.array([far, -far, 0.0]))
    assert np.isfinite(regularizer.value(d))
    assert d[0] == d.max()


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_projecting_leaves_the_argument_and_points_inside_alone(regularizer: Regularizer) -> None:
    inside = RNG.dirichlet(np.ones(6))
    given = inside.copy()
    np.testing.assert_allclose(regularizer.project(given), inside, atol=1e-15)
    np.testing.assert_array_equal(given, inside)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_fenchel_young(regularizer: Regularizer) -> None:
    for _ in range(200):
        d = RNG.dirichlet(np.ones(5)) * (1.0 if isinstance(regularizer, Simplex) else RNG.exponential(3.0))
        u = RNG.normal(size=5) * RNG.exponential(10.0)
        assert regularizer.value(d) + regularizer.conjugate(u) >= d @ u - 1e-12 * (1.0 + abs(d @ u))


def test_fenchel_young_holds_with_equality_at_the_maximiser() -> None:
    for _ in range(50):
        u = RNG.normal(size=5)
        vertex = np.eye(5)[u.argmax()]
        assert Simplex().value(vertex) + Simplex().conjugate(u) == pytest.approx(vertex @ u, rel=1e-14)
        priced = np.minimum(u, 0.3)
        priced[0] = 0.3  # weight may stand where the slope equals the price
        d = np.array([RNG.exponential(), 0.0, 0.0, 0.0, 0.0])
        penalty = L1Penalty(0.3)
        assert penalty.value(d) + penalty.conjugate(priced) == pytest.approx(d @ priced, rel=1e-14)


def test_conjugate_of_the_penalty_is_infinite_above_the_price() -> None:
    assert L1Penalty(2.0).conjugate(np.array([1.0, 2.0])) == 0.0
    assert L1Penalty(2.0).conjugate(np.array([1.0, 2.1])) == np.inf


@pytest.mark.parametrize("penalty", [L1Penalty(0.3), L1Penalty(40.0)], ids=repr)
def test_gradient_agrees_with_differences(penalty: L1Penalty) -> None:
    d = RNG.exponential(size=6)
    for k in range(6):
        move = 1e-6 * np.eye(6)[k]
        slope = (penalty.value(d + move) - penalty.value(d - move)) / 2e-6
        # rounding of the value divided by the step
        assert penalty.gradient(d)[k] == pytest.approx(slope, rel=1e-8)
    assert (Simplex().gradient(d) == 0.0).all()


@pytest.mark.parametrize(
    "outside",
    [np.array([0.5, 0.6]), np.array([1.5, -0.5]), np.array([np.nan, 1.0]), np.array([0.2, 0.2])],
)
def test_the_simplex_is_worth_infinity_outside(outside: np.ndarray) -> None:
    assert Simplex().value(outside) == np.inf


def test_the_penalty_is_worth_infinity_where_a_weight_is_negative() -> None:
    assert L1Penalty(1.0).value(np.array([0.5, -0.1])) == np.inf
    assert L1Penalty(1.0).value(np.array([0.5, np.nan])) == np.inf


@pytest.mark.parametrize("sigma", [0.01, 1.0, 500.0])
def test_scaling_makes_a_dual_point_feasible_and_no_smaller_than_needed(sigma: float) -> None:
    for _ in range(50):
        quad = RNG.exponential(size=7) * RNG.exponential(1e3)
        tau = L1Penalty(sigma).dual_scale(quad)
        scaled = tau**2 * quad  # s is quadratic in a
        assert 0.0 < tau <= 1.0
        assert L1Penalty(sigma).conjugate(0.5 * scaled) == 0.0
        assert tau == 1.0 or scaled.max() == pytest.approx(2.0 * sigma, rel=1e-12)
    assert L1Penalty(sigma).dual_scale(np.zeros(3)) == 1.0
    assert Simplex().dual_scale(np.array([1e9])) == 1.0


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("nan"), float("inf")])
def test_a_price_that_is_not_positive_is_refused(sigma: float) -> None:
    with pytest.raises(ProblemError, match="positive"):
        L1Penalty(sigma)


def test_kkt_residuals_are_zero_at_an_optimum_and_positive_elsewhere() -> None:
    optimal = np.array([-3.0, -3.0, -1.0])  # gradient of J: the two steepest kernels share the weight
    assert Simplex().kkt_residual(np.array([0.4, 0.6, 0.0]), optimal) == 0.0
    assert Simplex().kkt_residual(np.array([0.0, 0.0, 1.0]), optimal) == pytest.approx(2.0 / 3.0)
    assert L1Penalty(3.0).kkt_residual(np.array([0.4, 9.0, 0.0]), optimal) == 0.0
    assert L1Penalty(2.0).kkt_residual(np.array([0.0, 0.0, 0.0]), optimal) == pytest.approx(0.5)


def test_weights_that_meet_the_threshold_of_the_simplex_are_exactly_zero() -> None:
    rng = np.random.default_rng(0)
    for m in (3, 50, 1000):
        for _ in range(20):
            inside = np.zeros(m)
            inside[: m // 3] = rng.dirichlet(np.ones(m // 3))
            # as many entries again lie on the threshold itself, the rest below
            far = inside + rng.normal() - np.where(np.arange(m) < 2 * m // 3, 0.0, rng.random(m))
            found = Simplex().project(far)
            assert not found[m // 3 :].any()
            assert found.sum() == pytest.approx(1.0, abs=1e-14)
