"""The regularizers of every formulation: conjugates, gradients, projections, block forms, weights in closed form."""

from collections.abc import Callable

import _problems
import numpy as np
import pytest
from _problems import random_grams

import mklviz
import mklviz as mv
from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.kernels import KernelBank
from mklviz.problem import Regularizer, regularizer_families

REGULARIZERS: list[Regularizer] = [
    *_problems.REGULARIZERS,
    mv.LpBall(1.001),  # near the ends of what parameters may be
    mv.LpBall(50.0),
    mv.LpPenalty(1.01, 0.5),
    mv.LpPenalty(3.0, 0.5),
    mv.PowerPenalty(1.1, 0.7),
    mv.BlockPower(0.7, 1.1),
    mv.BlockPower(0.7, 1.9),
    mv.GroupSquaredPlusL1(0.3, 0.0, 1.2),
]
WEIGHTED = [regularizer for regularizer in REGULARIZERS if regularizer.weighted]
DIFFERENTIABLE = [r for r in WEIGHTED if not isinstance(r, (mv.Simplex, mv.LpBall))]
# finite, or infinitely steep, beyond zero
PENALTIES = [r for r in DIFFERENTIABLE if not isinstance(r, mv.SimplexRidge)]
DETERMINED = [r for r in WEIGHTED if r.determined]
M = 5


def inside(regularizer: Regularizer, rng: np.random.Generator) -> np.ndarray:
    return regularizer.project(rng.exponential(size=M) * 10.0 ** rng.uniform(-1, 1))


def test_every_regularizer_is_found_by_name_and_is_a_name_of_mklviz() -> None:
    names = "simplex lp-ball l1-penalty lp-penalty power-penalty block-l1 block-power elastic-net entropy group-squared"
    assert set(regularizer_families()) == {*names.split(), "simplex-ridge", "log-det"}
    for family in regularizer_families().values():
        assert getattr(mklviz, family.__name__) is family
        made = family()
        assert made.label
        made.check(3)
        assert made.start(3).shape == (3,)


@pytest.mark.parametrize("regularizer", DIFFERENTIABLE, ids=repr)
def test_fenchel_young_is_tight_at_the_gradient(regularizer: Regularizer) -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        d = inside(regularizer, rng)
        u = regularizer.gradient(d)
        if isinstance(regularizer, mv.Entropy | mv.SimplexRidge):
            u = u + 3.0  # any constant may be added on the simplex
        value = regularizer.value(d) + regularizer.conjugate(u)
        assert value == pytest.approx(d @ u, rel=1e-9, abs=1e-9 * np.abs(u).max())


@pytest.mark.parametrize("regularizer", DETERMINED, ids=repr)
def test_weights_from_s_attain_the_conjugate(regularizer: Regularizer) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        s = rng.exponential(size=M) * rng.exponential()
        d = regularizer.weights_from(s)
        attained = 0.5 * d @ s - regularizer.value(d)
        assert attained == pytest.approx(regularizer.conjugate(0.5 * s), rel=1e-9)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_weights_from_norms_attain_the_block_form(regularizer: Regularizer) -> None:
    """G(x) = 1/2 sum x²/d + r(d) at the best d, and no less than x'sqrt(s) - r*(s/2) for any s: the two are dual."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        x = rng.exponential(size=M) + 1e-3
        d = regularizer.weights_from_norms(x)
        best = regularizer.block(x)
        s = (x / d) ** 2
        assert regularizer.cost(d, s) == pytest.approx(best, rel=1e-9, abs=1e-12)
        # a hair inside, where rounding cannot make a hard conjugate infinite
        tight = x @ np.sqrt(s) - regularizer.conjugate(0.5 * s * (1 - 1e-12))
        assert tight == pytest.approx(best, rel=1e-6, abs=1e-9)
        other = rng.exponential(size=M) * rng.exponential()
        assert best >= x @ np.sqrt(other) - regularizer.conjugate(0.5 * other) - 1e-9
        assert regularizer.kkt_residual(d, -0.5 * s) <= 1e-6
        elsewhere = regularizer.project(d * rng.uniform(0.2, 3.0, size=M))
        if regularizer.weighted:
            price = 0.5 * (x**2 / np.maximum(elsewhere, 1e-300)).sum() + regularizer.value(elsewhere)
            assert price >= best * (1 - 1e-9)


@pytest.mark.parametrize("regularizer", WEIGHTED, ids=repr)
def test_proximal_points_are_the_minimisers_of_a_strongly_convex_function(regularizer: Regularizer) -> None:
    """phi(z) = 1/2 ||z - x||² + t r(z) is at least phi(prox) + 1/2 ||z - prox||² everywhere in the domain."""
    rng = np.random.default_rng(5)
    for step in (1e-3, 0.1, 1.0, 30.0):
        x = rng.normal(0.5, 1.0, size=M) * 10.0 ** rng.uniform(-1, 1)
        best = regularizer.prox(x, step)
        least = 0.5 * float((best - x) @ (best - x)) + step * regularizer.value(best)
        for spread in (1.0, 1e-2, 1e-5):  # the nearer, the more it says about slopes
            for _ in range(30):
                z = regularizer.project(best + spread * rng.normal(size=M))
                z = best + spread * (z - best)
                there = 0.5 * float((z - x) @ (z - x)) + step * regularizer.value(z)
                assert there >= least + 0.5 * float((z - best) @ (z - best)) - 1e-12 * (1.0 + abs(least) + step)


@pytest.mark.parametrize("regularizer", PENALTIES, ids=repr)
def test_proximal_points_satisfy_their_equation_down_to_tiny_weights(regularizer: Regularizer) -> None:
    """d + t grad r(d) = x where x is positive enough, and kernels whose x is not have no weight."""
    rng = np.random.default_rng(6)
    for step in (1e-4, 1e-2, 1.0):
        x = rng.exponential(size=M) * 10.0 ** rng.uniform(-6, 1, size=M)
        found = regularizer.prox(x, step)
        least = np.maximum(found, 1e-280)  # the smallest weights cannot be told from zero
        left = least + step * regularizer.gradient(least) - x
        if isinstance(regularizer, mv.Entropy):  # weights on the simplex: up to one constant, and with no floor
            left = least + step * regularizer.lam * np.log(least) - x
            left = left - left[np.argmax(x)]
        np.testing.assert_allclose(left[found > 1e-280], 0.0, atol=1e-11 * (x.max() + step))
        assert (left >= -1e-11 * (x.max() + step)).all()


@pytest.mark.parametrize("regularizer", WEIGHTED, ids=repr)
def test_proximal_points_of_extreme_points_lie_inside(regularizer: Regularizer) -> None:
    for step in (1e-12, 1.0, 1e8):
        for x in (np.zeros(M), -np.ones(M), 1e-200 * np.ones(M), 1e6 * np.eye(M)[2], np.array([-1e6, -1, 0, 1, 1e6])):
            found = regularizer.prox(x, step)
            assert (found >= 0).all()
            assert np.isfinite(regularizer.value(found))


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_no_norms_make_no_trouble(regularizer: Regularizer) -> None:
    for x in (np.zeros(M), np.eye(M)[2], 1e-200 * np.ones(M), 1e100 * np.ones(M)):
        d = regularizer.weights_from_norms(x)
        assert np.isfinite(d).all()
        assert (d >= 0).all()
    if regularizer.determined:
        assert np.isfinite(regularizer.weights_from(np.zeros(M))).all()
    assert regularizer.conjugate(np.zeros(M)) < np.inf


@pytest.mark.parametrize("regularizer", WEIGHTED, ids=repr)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e12])
def test_no_point_of_the_domain_is_nearer_than_the_projection(regularizer: Regularizer, scale: float) -> None:
    """The angle between the way to the projection and the way on to any point inside is not acute."""
    rng = np.random.default_rng(6)
    for m in (1, 5, 60):
        point = scale * rng.normal(size=m)
        d = regularizer.project(point)
        assert np.isfinite(regularizer.value(d))
        # projecting twice changes nothing
        np.testing.assert_allclose(regularizer.project(d), d, rtol=1e-9, atol=1e-14)
        for _ in range(20):
            z = regularizer.project(rng.exponential(size=m) * 10.0 ** rng.uniform(-2, 1))
            assert (point - d) @ (z - d) <= 1e-9 * np.linalg.norm(point - d) * (1.0 + np.linalg.norm(z - d))


@pytest.mark.parametrize("p", [1.0 + 1e-6, 1.01, 1.5, 2.0, 3.0, 100.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6, 1e100])
def test_projection_on_the_lp_ball_satisfies_kkt(p: float, scale: float) -> None:
    """d + c d^(p-1) = x where x > 0, with one c, and ||d||_p = 1 where c > 0."""
    rng = np.random.default_rng(7)
    for m in (1, 2, 7, 300):
        x = np.maximum(scale * rng.normal(size=m), 0.0)
        d = mv.LpBall(p).project(x)
        rest = x - d
        if np.abs(rest).max() <= 1e-14 * max(1.0, x.max()):
            continue
        assert (d**p).sum() == pytest.approx(1.0, rel=1e-9)
        seen = d > 1e-250  # smaller ones underflow where p is near 1
        normal = d[seen] ** (p - 1.0)
        c = (rest[seen] @ normal) / (normal @ normal)
        np.testing.assert_allclose(rest[seen], c * normal, atol=1e-12 * x.max())
        assert (rest[~seen] <= c * (1 + 1e-12)).all()


def test_a_power_near_one_gets_a_finite_bound_by_scaling() -> None:
    steep = mv.PowerPenalty(1.001, 1.0)
    s = np.array([1e6, 1.0])
    assert steep.conjugate(0.5 * s) == np.inf
    tau = steep.dual_scale(s)
    assert 0.0 < tau < 1.0
    assert np.isfinite(steep.conjugate(0.5 * tau**2 * s))
    assert steep.dual_scale(np.ones(2)) == 1.0


@pytest.mark.parametrize(
    "regularizer", [mv.PowerPenalty(1.001, 1.0), mv.BlockPower(0.5, 1.01), mv.BlockPower(0.6, 1.5)], ids=repr
)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_steep_conjugates_get_the_bound_of_the_best_share(regularizer: Regularizer, scale: float) -> None:
    y = np.where(np.arange(16) % 2, 1.0, -1.0)
    posed = mv.Problem(KernelBank.from_grams(random_grams(3, 16)), y, mv.Hinge(100.0), regularizer)
    dual = scale * np.ones(16)
    s = posed.bank.quad(dual * y)
    with np.errstate(over="ignore"):
        shares = [t * dual.sum() - regularizer.conjugate(0.5 * t**2 * s) for t in np.linspace(0.0, 1.0, 20001)]
    # the best of the grid is near the best of all: it lies 5e-5 away at most, on a slope of up to 1000
    assert posed.lower_bound(dual) >= max(shares) * (1 - 1e-12)
    assert posed.lower_bound(dual) == pytest.approx(max(shares), rel=0.05, abs=1e-9)


def test_the_elastic_net_keeps_away_from_the_end_of_its_box() -> None:
    net = mv.ElasticNet(0.5, 2.0)
    assert net.value(np.array([0.5])) == np.inf
    assert np.isfinite(net.value(net.project(np.array([7.0]))))
    assert net.start(1)[0] < 0.5
    assert net.weights_from(np.array([1e300]))[0] < 0.5


def test_the_default_group_norm_follows_the_number_of_kernels_and_nobody_pretends_to_know_weights() -> None:
    regularizer = mv.GroupSquaredPlusL1(1.0, 0.1)
    assert regularizer.dual_power(1) == regularizer.dual_power(2) == 2.0
    assert regularizer.dual_power(100) == pytest.approx(2.0 * np.log(100))
    assert mv.GroupSquaredPlusL1(1.0, 0.1, 1.5).dual_power(100) == pytest.approx(3.0)
    with pytest.raises(UnsupportedProblem, match="prices the norms"):
        regularizer.value(np.ones(2))
    for linear in (mv.L1Penalty(), mv.BlockL1()):
        with pytest.raises(ProblemError, match="do not determine"):
            linear.weights_from(np.ones(2))


RNG = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("regularizer", "outside"),
    [
        *((mv.Simplex(), outside) for outside in ([0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [0.2, 0.2])),
        *((mv.L1Penalty(1.0), outside) for outside in ([0.5, -0.1], [0.5, np.nan])),
    ],
    ids=repr,
)
def test_weights_outside_the_domain_are_worth_infinity(regularizer: Regularizer, outside: list[float]) -> None:
    assert regularizer.value(np.array(outside)) == np.inf


@pytest.mark.parametrize("sigma", [0.01, 1.0, 500.0])
def test_scaling_makes_a_dual_point_feasible_and_no_smaller_than_needed(sigma: float) -> None:
    for _ in range(50):
        quad = RNG.exponential(size=7) * RNG.exponential(1e3)
        tau = mv.L1Penalty(sigma).dual_scale(quad)
        scaled = tau**2 * quad  # s is quadratic in a
        assert 0.0 < tau <= 1.0
        assert mv.L1Penalty(sigma).conjugate(0.5 * scaled) == 0.0
        assert tau == 1.0 or scaled.max() == pytest.approx(2.0 * sigma, rel=1e-12)
    assert mv.L1Penalty(sigma).dual_scale(np.zeros(3)) == 1.0
    assert mv.Simplex().dual_scale(np.array([1e9])) == 1.0


def test_kkt_residuals_are_zero_at_an_optimum_and_positive_elsewhere() -> None:
    optimal = np.array([-3.0, -3.0, -1.0])  # gradient of J: the two steepest kernels share the weight
    assert mv.Simplex().kkt_residual(np.array([0.4, 0.6, 0.0]), optimal) == 0.0
    assert mv.Simplex().kkt_residual(np.array([0.0, 0.0, 1.0]), optimal) == pytest.approx(2.0 / 3.0)
    assert mv.L1Penalty(3.0).kkt_residual(np.array([0.4, 9.0, 0.0]), optimal) == 0.0
    assert mv.L1Penalty(2.0).kkt_residual(np.array([0.0, 0.0, 0.0]), optimal) == pytest.approx(0.5)


def test_weights_that_meet_the_threshold_of_the_simplex_are_exactly_zero() -> None:
    rng = np.random.default_rng(0)
    for m in (3, 50, 1000):
        for _ in range(20):
            inside = np.zeros(m)
            inside[: m // 3] = rng.dirichlet(np.ones(m // 3))
            # as many entries again lie on the threshold itself, the rest below
            far = inside + rng.normal() - np.where(np.arange(m) < 2 * m // 3, 0.0, rng.random(m))
            found = mv.Simplex().project(far)
            assert not found[m // 3 :].any()
            assert found.sum() == pytest.approx(1.0, abs=1e-14)


# a regularizer of one's own


class HalfSquares(mv.CustomRegularizer):
    """Half the squared weights."""

    label = "half squares"

    def value(self, weights: np.ndarray) -> float:
        return 0.5 * float(weights @ weights)

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        return weights

    def conjugate(self, slopes: np.ndarray) -> float:
        return 0.5 * float((np.maximum(slopes, 0.0) ** 2).sum())


class Price(HalfSquares):
    """A linear price, whose conjugate is infinite above it."""

    label = "price"

    def value(self, weights: np.ndarray) -> float:
        return 2.0 * float(weights.sum())

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        return np.full_like(weights, 2.0)

    def conjugate(self, slopes: np.ndarray) -> float:
        return 0.0 if slopes.max() <= 2.0 * (1 + 1e-12) else np.inf


class Concave(HalfSquares):
    def value(self, weights: np.ndarray) -> float:
        return float(np.sqrt(weights).sum())

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        return 0.5 / np.sqrt(weights)

    def conjugate(self, slopes: np.ndarray) -> float:
        return float((slopes * (0.25 / slopes**2) - 0.5 / slopes).sum())


@pytest.mark.parametrize("made", [HalfSquares(), Price()], ids=lambda made: made.label)
@pytest.mark.parametrize("m", [1, 2, 40])
def test_a_regularizer_that_fits_together_is_accepted(made: mv.CustomRegularizer, m: int) -> None:
    assert made.check(m) is None


WRONG: list[tuple[str, Callable[..., object], str]] = [  # a method of the half squares, what is wrong in its place
    ("gradient", lambda made, d: 2.0 * d, r"differences give the slope .*, the gradient "),
    ("conjugate", lambda made, u: 1.01 * HalfSquares.conjugate(made, u), r"should be d'u = .*, but it is "),
    ("project", lambda made, d: mv.Simplex().project(d), "too large for its domain"),
    ("project", lambda made, d: d.clip(0.0) / max(d.clip(0.0).sum(), 1e-9), "not return the nearest point"),
    ("value", lambda made, d: 0.5 * float(d @ d) if d.max() < 1.0 else np.inf, "at which the value is finite"),
    ("gradient", lambda made, d: d[:-1], "The gradient of the half squares at"),
]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        *((type("Wrong", (HalfSquares,), {method: instead}), says) for method, instead, says in WRONG),
        (Concave, "is too small, or it is not convex"),
    ],
)
def test_a_regularizer_that_does_not_fit_is_refused_with_numbers(kind: type[mv.CustomRegularizer], says: str) -> None:
    with pytest.raises(ProblemError, match=says) as caught:
        kind().check(3)
    assert any(digit in str(caught.value) for digit in "0123456789")


def test_a_regularizer_of_ones_own_has_no_closed_forms() -> None:
    made = HalfSquares()
    assert not made.closed_form
    for method in (made.weights_from, made.weights_from_norms, made.block):
        with pytest.raises(UnsupportedProblem, match="comes without"):
            method(np.ones(3))  # type: ignore[operator]
    able = mv.available_solvers(
        mv.Problem(KernelBank.from_grams(random_grams(3, 8)), np.array([1, -1] * 4), "hinge", made)
    )
    assert ("spg" in able, "closed-form" in able) == (True, False)
    assert made.kkt_residual(np.array([1.0, 0.0]), np.array([-1.0, 0.0])) == 0.0
    assert made.kkt_residual(np.array([1.0, 1.0]), np.array([-1.0, 0.0])) > 0.1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lam", [1e-8, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("norms", [(0.0, 0.0, 0.0), (1.0, 0.0, 2.0, 0.0), (1e-200, 1.0, 0.0), (1e6, 0.0, 1e-6), (0.0,)])
def test_kernels_without_a_norm_keep_what_the_entropy_gives_them(norms: tuple[float, ...], lam: float) -> None:
    """``lam log d - x^2 / (2 d^2)`` is the same for all weights, also for those of norms that are exactly zero."""
    regularizer, x = mv.Entropy(lam), np.array(norms)
    d = regularizer.weights_from_norms(x)
    assert (d >= 0.0).all()
    assert d.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.isfinite(regularizer.block(x))
    held = d > 1e-300  # others are exp of a common value that no double holds
    pulls = 0.5 * (x[held] / d[held]) ** 2
    slopes = lam * np.log(d[held]) - pulls
    # rounding of the terms and of log d, whose last digit a small weight's pull doubles
    assert np.ptp(slopes) <= 1e-11 * (pulls.max() + lam * np.abs(np.log(d[held])).max())
    assert (d[x == 0.0] <= d[held].min() * (1.0 + 1e-12)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e25, 1e200, 1e308])
def test_beside_very_large_norms_the_entropy_is_nothing(size: float) -> None:
    """``sum x^2 / (2 d)`` alone is least where weights are proportional to the norms."""
    shares = np.array([0.5, 0.25, 0.25, 1e-4, 0.0])
    found = mv.Entropy(1.0).weights_from_norms(size * shares)
    np.testing.assert_allclose(found, shares / shares.sum(), rtol=1e-14)
    near = mv.Entropy(1.0).weights_from_norms(1e21 * shares)  # where the equations are solved still
    np.testing.assert_allclose(near, found, rtol=1e-11)
