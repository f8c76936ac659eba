"""Approximate kernels: never more than the exact ones, the same where every point is a landmark, errors told truly."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from _problems import blobs
from _shown import html_of

from mklviz.context import interruptible
from mklviz.engine import available_solvers, solve
from mklviz.errors import BankTooLarge, Interrupted
from mklviz.kernels import Gaussian, KernelBank, KernelFamily, Laplacian, Linear, Nystrom, NystromBank, Polynomial
from mklviz.problem import Hinge, LpBall, LpPenalty, Problem

N, FEATURES = 60, 3
X, Y = blobs(N, noise=0.1, features=FEATURES)
FAMILIES: Sequence[KernelFamily] = (
    Gaussian(widths=(0.5, 1.0, 4.0), on="all+each"),
    Polynomial(degrees=(1, 2), on="all"),
    Laplacian(widths=(2.0,), on="all"),
    Linear(on=[0, 2]),
)
WEIGHTS = np.random.default_rng(1).random(16)
WEIGHTS[3:6] = 0.0


def bank(landmarks: int, **options: object) -> NystromBank:
    return NystromBank.build(X, FAMILIES, landmarks, **options)  # type: ignore[arg-type]


def one(m: int, k: int) -> np.ndarray:
    return np.eye(m)[k]


@pytest.mark.parametrize("choice", ["kmeans++", "leverage"])
@pytest.mark.parametrize("normalize", ["trace", "mean-diagonal", "diagonal", "none"])
def test_with_every_point_a_landmark_the_kernels_are_exact(choice: str, normalize: str) -> None:
    exact = KernelBank.build(X, FAMILIES, normalize)
    same = bank(N, choice=choice, normalize=normalize)
    v, new = np.random.default_rng(2).normal(size=N), np.random.default_rng(3).normal(size=(7, FEATURES))
    assert same.names == exact.names
    # pivots stop at 1e-10 of the largest diagonal entry
    np.testing.assert_allclose(same.quad(v), exact.quad(v), rtol=1e-7, atol=1e-7 * exact.quad(v).max())
    np.testing.assert_allclose(same.apply(WEIGHTS, v), exact.apply(WEIGHTS, v), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(same.combine(WEIGHTS), exact.combine(WEIGHTS), rtol=1e-6, atol=1e-8)
    which = np.array([0, 5, 14])
    np.testing.assert_allclose(same.products(v, which), exact.products(v, which), rtol=1e-6, atol=1e-7)
    # a new point may have a share that no sample has, in which both are zero
    scale = np.abs(exact.cross(new).combine(WEIGHTS)).max()
    np.testing.assert_allclose(
        same.cross(new).combine(WEIGHTS), exact.cross(new).combine(WEIGHTS), rtol=0.0, atol=1e-5 * scale
    )
    assert same.trace_errors.max() < 1e-8
    assert same.frobenius_errors.max() < 1e-8


@pytest.mark.parametrize("choice", ["kmeans++", "leverage"])
def test_no_approximate_kernel_is_larger_than_the_exact_one_and_its_errors_are_told(choice: str) -> None:
    exact, few = KernelBank.build(X, FAMILIES), bank(6, choice=choice)
    for k in range(len(few)):
        rest = exact.combine(one(len(few), k)) - few.combine(one(len(few), k))
        assert np.linalg.eigvalsh(rest)[0] > -1e-10  # of unit trace
        assert few.trace_errors[k] == pytest.approx(np.trace(rest), abs=1e-9)
        # there are fewer points than are sampled, so that the sample is everything
        size = np.linalg.norm(exact.combine(one(len(few), k)))
        assert few.frobenius_errors[k] == pytest.approx(np.linalg.norm(rest) / size, abs=1e-9)
    worst, mean = few.error(WEIGHTS)
    assert worst == few.trace_errors[WEIGHTS > 0.0].max()
    assert mean == pytest.approx(1.0 - np.trace(few.combine(WEIGHTS)) / np.trace(exact.combine(WEIGHTS)))
    assert few.trace_errors.max() > 0.1


def test_the_optimum_falls_to_the_exact_one_as_landmarks_become_all_points() -> None:
    families = [Gaussian(widths=(0.5, 1.0), on="all+each")]

    def optimum(bank: KernelBank | NystromBank) -> tuple[float, float]:
        final = solve(Problem(bank, Y, Hinge(10.0), LpBall(2.0)), "closed-form", gap=1e-6).best
        return final.lower_bound, final.objective

    exact = optimum(KernelBank.build(X, families))
    above = [optimum(NystromBank.build(X, families, landmarks)) for landmarks in (4, 16, N)]
    # an approximate kernel is smaller, so the quadratic term is, and what is left to maximise is larger
    assert all(high >= exact[0] for _, high in above)
    assert above[0][0] > 1.01 * exact[1]
    assert above[-1] == pytest.approx(exact, rel=2e-6)


def test_the_function_learned_needs_one_point_instead_of_all_samples() -> None:
    problem = Problem(bank(10), Y, Hinge(5.0))
    final = solve(problem, "spg", gap=1e-3).best
    predictor, new = problem.predictor(final.weights, final.dual), np.random.default_rng(3).normal(size=(9, FEATURES))
    cross = problem.bank.cross(new)
    by_samples = cross.combine(final.weights) @ (final.dual * Y) + predictor.bias
    np.testing.assert_allclose(predictor.decision_values(new), by_samples, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cross.apply(final.weights, final.dual * Y) + predictor.bias, by_samples, rtol=1e-9)
    at_samples = problem.bank.apply(final.weights, final.dual * Y) + predictor.bias
    np.testing.assert_allclose(predictor.decision_values(X), at_samples, rtol=1e-9, atol=1e-12)
    back = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(back.decision_values(new), predictor.decision_values(new))
    assert len(back._part.rows) == 1


def test_landmarks_are_shared_and_kernels_of_low_rank_get_few_columns() -> None:
    few = bank(20)
    marks = {subset.columns: id(subset.landmarks) for subset in few.maps.subsets}
    assert all(marks[subset.columns] == id(subset.landmarks) for subset in few.maps.subsets)
    linear = few.maps.subsets[-1].roots[0]
    assert len(linear.pivots) == 2  # a linear kernel on two features
    assert few.trace_errors[-1] < 1e-12


def test_points_that_repeat_are_one_landmark() -> None:
    twice = np.repeat(X[:5], 4, axis=0)
    same = NystromBank.build(twice, [Gaussian(widths=(1.0,))], landmarks=20)
    assert len(same.maps.subsets[0].landmarks) == 5
    assert same.trace_errors[0] < 1e-12


def test_the_same_seed_gives_the_same_bank_and_another_seed_another() -> None:
    first, again, other = (bank(8, seed=seed).factors(WEIGHTS)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_large_factors_are_kept_in_single_precision() -> None:
    double = bank(10)
    single = bank(10, max_bytes=4 * N * 160)
    assert double.factors(WEIGHTS)[0].dtype == np.float64
    assert single.factors(WEIGHTS)[0].dtype == np.float32
    v = np.random.default_rng(2).normal(size=N)
    np.testing.assert_allclose(single.quad(v), double.quad(v), rtol=1e-4)  # sums cancel a few digits
    np.testing.assert_allclose(single.apply(WEIGHTS, v), double.apply(WEIGHTS, v), atol=1e-5)
    assert solve(Problem(single, Y, Hinge(5.0)), "level", gap=1e-4).gap[-1] <= 1e-4


@pytest.mark.parametrize("name", available_solvers())
def test_a_solver_reaches_the_optimum_of_the_same_exact_bank_or_says_why_not(name: str) -> None:
    families = [Gaussian(widths=(0.5, 2.0), on="all+each")]
    regularizer = LpPenalty(1.5, 1.0) if name == "smo-mkl" else LpBall(1.5)
    same = Problem(NystromBank.build(X, families, N), Y, Hinge(2.0), regularizer)
    if name not in available_solvers(same):
        return
    exact = Problem(KernelBank.build(X, families), Y, Hinge(2.0), regularizer)
    trace = solve(same, name, gap=1e-4, max_iter=3000)
    final = trace.best
    assert trace.gap[-1] <= 1e-4
    assert final.objective == pytest.approx(solve(exact, name, gap=1e-4, max_iter=3000).best.objective, rel=2e-4)
    assert final.facts.approximation_error < 1e-8


def test_building_tells_how_far_it_is_and_stops_when_asked() -> None:
    told: list[float] = []
    bank(10, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    def unwanted() -> None:
        raise Interrupted("Nobody waits for it.")

    with pytest.raises(Interrupted), interruptible(unwanted):
        bank(10)
    ready = bank(10)
    with pytest.raises(Interrupted), interruptible(unwanted):
        ready.quad(np.ones(N))


def test_a_bank_that_needs_too_much_memory_is_refused_before_it_is_built() -> None:
    assert NystromBank.check_size(500_000, 54, [Gaussian(widths=(1, 2))], Nystrom(100)) == (2, 4 * 200 * 500_000)
    with pytest.raises(BankTooLarge, match=r"2 kernels of 500,000 samples by 9,000 landmarks each need about 33.5 GB"):
        NystromBank.check_size(500_000, 54, [Gaussian(widths=(1, 2))], Nystrom(9000))


def test_words_say_what_is_exact_and_what_is_not() -> None:
    few = bank(6)
    assert "approximated by 6 landmarks; objective and gap are exact for the approximate kernels" in few.words()
    assert "averaged by the weights of SPG" in few.words(WEIGHTS, "SPG")
    assert "less than 0.001 %" in bank(N).words()
    assert "approximated by Nyström" in few.backend
    assert "largest error of a trace" in html_of(few)
    assert repr(few).startswith("NystromBank(16 kernels, 60 samples")
