"""K_d in single precision: fast, and nobody can tell, as all that is certified is certified in double precision."""

from functools import cache

import numpy as np
import pytest
from _problems import left_at

from mklviz.engine import objective_profile, solve
from mklviz.inner.oracle import ROUNDED_SHARE, SvmOracle
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.problem import EpsilonInsensitive, Hinge, L1Penalty, Problem, Regularizer, Simplex, Squared
from mklviz.typing import Array

POINTS = 520
FAMILIES = [Gaussian(on="all+each"), Polynomial(on="all+each")]


@cache
def points() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(POINTS, 6))
    y = np.sign(np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 - 1.0 + 0.5 * X[:, 2] + 0.3 * rng.normal(size=POINTS))
    return X, y


@cache
def bank() -> KernelBank:
    built = KernelBank.build(points()[0], FAMILIES)
    assert built.rounding_pays
    return built


class CountingBank(KernelBank):
    """A bank that counts how often it formed K_d in each way."""

    rounded = exact = 0
    pays = True

    @property
    def rounding_pays(self) -> bool:
        return self.pays

    def combine_rounded(self, weights: Array, out: Array | None = None) -> Array:
        self.rounded += out is not None  # by a solver: the bound on rounding gives no room
        return super().combine_rounded(weights, out)

    def combine(self, weights: Array, out: Array | None = None) -> Array:
        self.exact += 1
        return super().combine(weights, out)


def counting(samples: int = POINTS) -> CountingBank:
    return CountingBank.build(points()[0][:samples], FAMILIES)


def posed(C: float = 10.0, regularizer: Regularizer | None = None, counted: KernelBank | None = None) -> Problem:
    return Problem(counted or bank(), points()[1], Hinge(C), regularizer or Simplex())


def test_entries_are_right_to_a_millionth() -> None:
    rng = np.random.default_rng(1)
    for weights in (np.full(len(bank()), 1.0 / len(bank())), rng.random(len(bank())) * (rng.random(len(bank())) < 0.3)):
        K = bank().combine(weights)
        rounded = bank().combine_rounded(weights, np.full_like(K, np.nan))
        assert 0.0 < np.abs(rounded - K).max() <= 1e-6 * K.max()
        assert np.array_equal(rounded, rounded.T)
    assert not bank().combine_rounded(np.zeros(len(bank()))).any()


def test_small_banks_and_those_without_large_factors_are_not_rounded() -> None:
    X, _ = points()
    assert not KernelBank.build(X[:200], [Gaussian(on="all+each")]).rounding_pays
    assert not KernelBank.build(np.round(X), [Gaussian(on="each")]).rounding_pays  # few different values
    assert not KernelBank.build(X, [Gaussian(widths=(0.01,))]).rounding_pays  # full rank
    many = [Gaussian(on="all+each"), Gaussian(widths=(0.01, 0.02, 0.03, 0.04), on="each")]
    assert not KernelBank.build(X, many).rounding_pays  # certificates would read all that is dense once more


def test_kernels_computed_on_the_fly_are_not_applied_twice() -> None:
    """To multiply their sum with a vector is to form it."""
    wide = np.random.default_rng(3).normal(size=(POINTS, 60))
    for most, pays in ((2**25, False), (2**31, True)):
        built = KernelBank.build(wide, FAMILIES, max_bytes=most)
        assert ("on the fly" in built.backend, built.rounding_pays) == (not pays, pays)


@pytest.mark.parametrize("solver", ["spg", "level", "silp", "simplemkl", "newton", "pgd"])
def test_what_a_run_says_is_exact(solver: str) -> None:
    """P and D of every step are those of the kernels, to the rounding of double precision."""
    counted = counting()
    trace = solve(posed(counted=counted), solver, gap=1e-6, max_iter=30)
    assert counted.rounded > 0.5 * trace.final.svm_solves
    for iterate in trace:
        assert iterate.objective == pytest.approx(posed().objective(iterate.weights, iterate.dual), rel=1e-11)
        own = iterate.lower_bound if iterate.dual_bound is None else iterate.dual_bound
        assert own == pytest.approx(posed().lower_bound(iterate.dual), rel=1e-11)
        if iterate.certificate is not None:
            assert iterate.lower_bound <= posed().lower_bound(iterate.certificate) * (1.0 + 1e-11)


@pytest.mark.parametrize(
    ("solver", "regularizer"),
    [("level", Simplex()), ("newton", Simplex()), ("spg", Simplex()), ("newton", L1Penalty(5.0))],
    ids=["level", "newton", "spg", "newton, price"],
)
def test_fine_gaps_are_reached(solver: str, regularizer: Regularizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """On rounded kernels, and where a run goes over to double precision on the way."""
    runs = []
    for pays, share in ((False, ROUNDED_SHARE), (True, ROUNDED_SHARE), (True, 1e-9)):
        counted = counting()
        counted.pays = pays
        monkeypatch.setattr("mklviz.inner.oracle.ROUNDED_SHARE", share)
        runs.append(solve(posed(10.0, regularizer, counted), solver, gap=1e-8))
        assert runs[-1].status == "converged"
        assert (counted.rounded > 0) == pays
    assert counted.exact > 0
    reference = runs[0].final.svm_solves
    for run in runs[1:]:
        assert run.best.objective == pytest.approx(runs[0].best.objective, rel=2e-8)
        assert run.final.svm_solves <= 1.2 * reference + 2


def test_regression_is_rounded_and_losses_that_factor_the_kernel_are_not() -> None:
    counted = counting()
    X, _ = points()
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    tube = Problem(counted, y, EpsilonInsensitive(C=10.0, epsilon=0.1))
    trace = solve(tube, "level", gap=1e-3)
    assert trace.status == "converged"
    assert trace.best.objective == pytest.approx(tube.objective(trace.best.weights, trace.best.dual), rel=1e-11)
    assert counted.rounded == trace.final.svm_solves
    solve(Problem(counted, y, Squared(C=10.0)), "level", gap=1e-2)
    assert counted.rounded == trace.final.svm_solves


def test_a_band_asks_whether_it_is_still_wanted() -> None:
    with left_at(3):
        bank().combine_rounded(np.full(len(bank()), 1.0))


@pytest.mark.parametrize("C", [1e6, 1e8])
def test_the_first_svm_is_exact_where_rounding_shows(C: float) -> None:
    first = SvmOracle(posed(C), 1e-6, rounding=True).solve(np.full(len(bank()), 1.0 / len(bank())))
    exact = SvmOracle(posed(C), 1e-6).solve(first.weights)
    assert first.error - exact.error <= 1.1 * ROUNDED_SHARE * (first.primal - first.lower_bound)


def test_who_asks_for_heights_gets_exact_ones() -> None:
    """Maps and profiles make no iterates, so nothing would tell how much rounding may add."""
    counted = counting()
    trace = solve(posed(1e6, counted=counted), "newton", gap=1e-2, max_iter=5)
    before = counted.rounded
    profile = objective_profile(posed(1e6, counted=counted), trace[0].weights, trace.best.weights, 5)
    assert counted.rounded == before
    assert not profile.hill


def test_the_kernel_is_not_formed_anew_at_the_same_weights() -> None:
    counted = counting(40)
    problem = Problem(counted, points()[1][:40], Hinge(10.0), Simplex())
    oracle = SvmOracle(problem, 1e-2)
    rough = oracle.solve(np.full(problem.m, 1.0 / problem.m))
    finer = oracle.solve(rough.weights.copy(), 1e-9)
    assert counted.exact == 1
    assert finer.value >= rough.value * (1.0 - 1e-12)  # rounding of sums
    oracle.solve(np.eye(problem.m)[0])
    assert counted.exact == 2
