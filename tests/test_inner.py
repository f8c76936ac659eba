"""The inner problem of every loss, on matrices and on factors: feasible, valued, as exact as asked, stopped at once."""

from dataclasses import replace
from functools import cache

import _problems
import numpy as np
import pytest
from _conic import conic_value
from _formulations import LOSSES, MULTICLASS, N, targets, targets_of
from _problems import left_at, random_grams
from scipy.linalg import LinAlgError, cho_solve

import mklviz as mv
from mklviz.context import interruptible
from mklviz.errors import KernelError, UnsupportedProblem
from mklviz.inner import Inner, choice, factors, register_inner, sweeps
from mklviz.inner import blocked as _blocked
from mklviz.inner import matrix_game as _matrix_game
from mklviz.inner.blocked import cholesky, scaled_copy
from mklviz.inner.choice import inner_solver, is_solved
from mklviz.inner.conjugates import balanced
from mklviz.inner.rows import RowsInner
from mklviz.inner.svm import BoxInner
from mklviz.kernels import KernelBank, Nystrom
from mklviz.problem import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Loss,
    MulticlassHinge,
    Problem,
    Squared,
)
from mklviz.scenarios import load_scenario
from mklviz.solvers._cutting_plane import CuttingPlaneModel

EVERY_LOSS = [*LOSSES, *MULTICLASS]


def kernel(seed: int = 0, n: int = N) -> np.ndarray:
    return n * random_grams(3, n, seed)[2]


@pytest.mark.parametrize("seed", range(5))
def test_balanced_variables_sum_to_zero_and_only_those_of_the_heavier_class_shrink(seed: int) -> None:
    rng = np.random.default_rng(seed)
    signed = rng.normal(rng.normal(), 1.0, 30) * (rng.random(30) < 0.7)
    found, given = balanced(signed), signed.copy()
    assert abs(found.sum()) <= 1e-15 * np.abs(signed).sum()  # a rounding error of each summand
    heavier = np.sign(signed) == np.sign(signed.sum())
    np.testing.assert_array_equal(found[~heavier], signed[~heavier])
    shares = found[heavier] / signed[heavier]
    assert 0.0 <= shares.max() < 1.0
    np.testing.assert_allclose(shares, shares[0], rtol=1e-15)
    np.testing.assert_array_equal(balanced(-signed), -found)
    np.testing.assert_array_equal(signed, given)


def test_what_one_class_alone_has_is_balanced_by_nothing_and_nothing_stays() -> None:
    np.testing.assert_array_equal(balanced(np.array([1.0, 2.0, 0.0])), np.zeros(3))
    np.testing.assert_array_equal(balanced(np.zeros(3)), np.zeros(3))
    even = np.array([1.0, -0.5, -0.5])
    np.testing.assert_array_equal(balanced(even), even)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(1e9, 0.1), EpsilonInsensitive(1e9, 0.1, bias=False), Hinge(1e9)])
def test_a_warm_start_may_be_a_thousand_million_million_times_as_large_as_the_solution(loss: Loss) -> None:
    """What it leaves in rounding errors, in the sum and in scores, is not small beside what is left then."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
        y = y if loss.regression else np.sign(y)
        inner = inner_solver(loss, y)
        inner.set_dual(loss.C * rng.normal(size=20))
        inner.solve(1e7 * np.exp(-3.0 * ((X[:, None] - X) ** 2).sum(-1)), 1e-6, True)
        assert np.abs(inner.signed).max() < 1e-11 * loss.C
        assert inner.violation <= 1e-6
        loss.check_dual(loss.dual_from_signed(inner.signed, y), y)


@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_a_solution_handed_in_is_where_the_next_solve_starts(loss: Loss) -> None:
    y = targets_of(loss)
    one, other = inner_solver(loss, y), inner_solver(loss, y)
    one.solve(kernel(1), 1e-9, False)
    other.set_dual(one.signed)
    other.solve(kernel(1), 1e-2, True)  # a rough solve has nothing left to do
    # the last bits of the balance, the first steps of a Newton method that had converged
    np.testing.assert_allclose(other.signed, one.signed, atol=1e-7 * loss.C)


@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_hard_kernels_are_solved_and_a_solve_ends_with_those_of_no_numbers_or_when_told_to(loss: Loss) -> None:
    y = targets_of(loss)
    singular = [np.zeros((N, N)), np.ones((N, N)), np.outer(y, y), np.diag(np.arange(N) % 2.0), 1e-300 * np.eye(N)]
    for K in singular:
        inner = inner_solver(loss, y)
        inner.solve(K, 1e-6, False)
        assert np.isfinite(inner.value)
        loss.check_dual(loss.dual_from_signed(inner.signed, y), y)
    broken = kernel()
    broken[0, 1] = broken[1, 0] = np.nan
    with pytest.raises(KernelError):
        inner_solver(loss, y).solve(broken, 1e-6, False)
    with left_at(1):
        inner_solver(loss, y).solve(kernel(), 1e-6, False)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("C", "size"), [(3e4, 3e3), (3e4, 1e6), (1e5, 1e8)])
def test_logistic_regression_on_large_kernels_of_low_rank_is_exact_in_the_gap(
    C: float, size: float, bias: bool
) -> None:
    draw = np.random.default_rng(5)
    Z = draw.normal(size=(25, 4))
    y = np.where(Z[:, 0] + 0.3 * draw.normal(size=25) > 0.0, 1.0, -1.0)
    loss = Logistic(C, bias=bias)
    inner = inner_solver(loss, y)
    inner.solve(size * Z @ Z.T, 1e-6, False)
    primal = 0.5 * float(inner.signed @ inner.scores) + loss.primal(inner.scores, y)[0]
    assert ((inner.signed * y >= 0.0) & (inner.signed * y <= C)).all()
    # solutions of beta = -C l'(f) alone would carry the rounding of f times C K, up to 90 % of the objective here
    assert abs(primal - inner.value) <= 1e-7 * primal


def test_unknown_losses_and_those_without_a_method_on_factors_are_refused_in_a_sentence() -> None:
    class Other:
        label = "other"

    with pytest.raises(UnsupportedProblem, match="no inner solver for the other loss"):
        inner_solver(Other(), targets(False))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedProblem, match="ε-insensitive loss where kernels are given by factors"):
        inner_solver(EpsilonInsensitive(1.0), Y, "factors")


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_solutions_are_feasible_valued_and_as_exact_as_asked(loss: Loss, C: float, tol: float) -> None:
    loss, y = replace(loss, C=C), targets_of(loss)
    inner = inner_solver(loss, y)
    unit = 1.0 if loss.multiclass else 0.5 * np.ptp(y)
    for seed in range(4):  # warm-started from one kernel to the next
        K = kernel(seed)
        inner.solve(K, tol, seed > 0)
        dual = loss.dual_from_signed(inner.signed, y)
        loss.check_dual(dual, y)
        np.testing.assert_allclose(loss.signed(dual, y), inner.signed, atol=1e-12 * C)
        rounding = N * np.finfo(float).eps * (np.abs(K) @ np.abs(inner.signed)).max()  # large terms that cancel
        drift = 1e-9 * (1 + np.abs(inner.scores).max()) + rounding + 1e-3 * tol  # of scores updated step by step
        np.testing.assert_allclose(inner.scores, K @ inner.signed, atol=drift)
        value = loss.dual_value(dual, y) - 0.5 * np.vdot(inner.signed, inner.scores)
        assert inner.value == pytest.approx(value, rel=1e-9, abs=1e-9)
        primal = 0.5 * np.vdot(inner.signed, inner.scores) + loss.primal(inner.scores, y)[0]
        # every margin may be off by the tolerance and by rounding, and each costs C times that
        assert primal - inner.value <= (tol + rounding) * unit * C * inner.signed.size + 1e-9 * primal
        assert primal - inner.value >= -1e-9 * primal


@pytest.mark.parametrize("rank", [2, 5])
def test_classes_that_a_kernel_of_low_rank_cannot_tell_apart_take_few_rounds_at_huge_C(rank: int) -> None:
    """Newton steps on a singular kernel are huge: cut at the first bound they lead on where bent ones crawl."""
    factor = np.random.default_rng(rank).normal(size=(N, rank))
    K, loss, y, rounds = factor @ factor.T, MulticlassHinge(1e6), targets_of(MulticlassHinge()), 0

    def count() -> None:
        nonlocal rounds
        rounds += 1

    inner = inner_solver(loss, y)
    with interruptible(count):
        inner.solve(K, 1e-6, False)
    assert rounds <= 200  # 20 when this was written, 100,000 and more with bent steps alone
    primal = 0.5 * float(np.vdot(inner.signed, inner.scores)) + loss.primal(inner.scores, y)[0]
    assert inner.value <= primal * (1 + 1e-12)
    assert primal - inner.value <= 1e-6 * primal


class Nearer(Inner):
    """Stands for a method of one's own."""

    def solve(self, K: np.ndarray, tol: float, warm: bool) -> None:
        """Is not asked."""


def test_a_loss_is_solved_by_what_it_names_and_what_derives_from_it_by_what_is_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Naming(Hinge):
        inner_methods = {"rows": Nearer}

    class Derived(Naming):
        pass

    y = targets(False)
    assert isinstance(inner_solver(Derived(1.0), y, "rows"), Nearer)
    assert isinstance(inner_solver(Derived(1.0), y), BoxInner)
    monkeypatch.setitem(choice.METHODS, "rows", dict(choice.METHODS["rows"]))
    register_inner(Derived, RowsInner, "rows")
    assert isinstance(inner_solver(Derived(1.0), y, "rows"), RowsInner)
    assert isinstance(inner_solver(Naming(1.0), y, "rows"), Nearer)


# -- on factors


SAMPLES, R = 90, 12
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(R, SAMPLES))
W = RNG.random(R) / R
W[4:7] = 0.0
Y = np.where(Z[0] + Z[1] ** 2 - 1.0 + 0.5 * RNG.normal(size=SAMPLES) > 0.0, 1.0, -1.0)
SOLVED = (one for one in _problems.LOSSES if is_solved(one, "factors") and not one.multiclass)  # machine by machine
ON_FACTORS = [Hinge(0.01), Hinge(100.0), *SOLVED]


@pytest.mark.parametrize("loss", ON_FACTORS, ids=repr)
def test_the_value_is_that_of_a_conic_solver_and_the_dual_variables_prove_it(loss: Loss) -> None:
    inner, K = inner_solver(loss, Y, "factors"), Z.T * W @ Z
    inner.solve((Z, W), 1e-7, False)
    loss.check_dual(loss.dual_from_signed(inner.signed, Y), Y)
    np.testing.assert_allclose(inner.scores, K @ inner.signed, atol=1e-9 * np.abs(inner.scores).max())
    dual = loss.dual_value(loss.dual_from_signed(inner.signed, Y), Y) - 0.5 * inner.signed @ K @ inner.signed
    primal = loss.primal(inner.scores, Y)[0] + 0.5 * inner.signed @ K @ inner.signed
    assert inner.value == pytest.approx(dual, rel=1e-10)
    assert dual <= primal * (1.0 + 1e-12)
    assert primal - dual <= 2e-7 * primal
    posed = Problem(KernelBank.from_grams([K], normalize="none"), Y, loss)
    assert inner.value == pytest.approx(conic_value(posed), rel=1e-6)  # the conic solver's own accuracy


@pytest.mark.parametrize("loss", ON_FACTORS, ids=repr)
def test_it_agrees_with_the_solver_of_the_dense_kernel(loss: Loss) -> None:
    dense, inner = inner_solver(loss, Y), inner_solver(loss, Y, "factors")
    dense.solve(Z.T * W @ Z, 1e-9, False)
    for tol in (1e-2, 1e-4, 1e-8):
        inner.solve((Z, W), tol, tol < 1e-2)
        assert dense.value * (1.0 - 2.0 * tol) - 1e-12 <= inner.value <= dense.value * (1.0 + 1e-9)


@pytest.mark.parametrize("loss", [Hinge(1.0), Hinge(1.0, bias=False), Logistic(3.0), Squared(1.0)], ids=repr)
def test_a_warm_solve_ends_where_a_cold_one_does_from_any_start(loss: Loss) -> None:
    warm, other = inner_solver(loss, Y, "factors"), RNG.random(R) / R
    warm.solve((Z, W), 1e-6, False)
    warm.solve((Z, other), 1e-8, True)
    cold = inner_solver(loss, Y, "factors")
    cold.solve((Z, other), 1e-8, False)
    assert warm.value == pytest.approx(cold.value, rel=1e-7)
    cold.set_dual(10.0 * RNG.normal(size=SAMPLES))
    cold.solve((Z, other), 1e-8, True)
    loss.check_dual(loss.dual_from_signed(cold.signed, Y), Y)
    assert warm.value == pytest.approx(cold.value, rel=1e-7)


@pytest.mark.parametrize("loss", ON_FACTORS, ids=repr)
def test_without_any_weight_the_best_constant_is_found_also_from_another_solution(loss: Loss) -> None:
    inner = inner_solver(loss, Y, "factors")
    inner.solve((Z, W), 1e-3, False)
    inner.solve((Z, np.zeros(R)), 1e-7, True)
    assert not inner.scores.any()
    assert inner.value == pytest.approx(loss.primal(np.zeros(SAMPLES), Y)[0], rel=1e-6)


MOST_STEPS = {"closed-form": 150, "spg": 300}  # steps in single variables to the scenario's gap, in passes over all
MOST_LOOKS = {"closed-form": 100, "spg": 150}  # passes over all factors for an exact look


@cache
def posed() -> Problem:
    recipe = load_scenario("half-a-million").recipe.changed(approximation=Nystrom(100))
    return recipe.prepare(mv.load_dataset("covertype_like", n=20_000)).problem


class Count:
    """Steps and looks of the solver of an SVM on factors."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.steps = self.looks = 0
        swept, measure = sweeps.swept, factors.BoxFactors._measure

        def counted_steps(rows, near, *rest):  # type: ignore[no-untyped-def]
            self.steps += len(near[0])
            return swept(rows, near, *rest)

        def counted_look(inner, *rest):  # type: ignore[no-untyped-def]
            self.looks += 1
            return measure(inner, *rest)

        patch.setattr(sweeps, "swept", counted_steps)
        patch.setattr(factors.BoxFactors, "_measure", counted_look)


@pytest.mark.full
@pytest.mark.parametrize("solver", ["closed-form", "spg"])
def test_a_race_on_many_points_takes_few_passes(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, problem = Count(monkeypatch), posed()
    trace = mv.solve(problem, solver, gap=1e-3)
    assert trace.status == "converged"
    assert count.steps <= MOST_STEPS[solver] * problem.n
    assert count.looks <= MOST_LOOKS[solver]


# -- long computations in one piece are cut where someone may want them to stop


def definite(n: int) -> np.ndarray:
    half = RNG.normal(size=(n, n))
    return half @ half.T + n * np.eye(n)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SMALL": 5, "WIDTH": 7, "WORK": 1, "COPIED": 10}.items():
        monkeypatch.setattr(_blocked, name, value)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n", [1, 5, 6, 7, 60])
def test_the_factor_by_blocks_solves_the_system(n: int) -> None:
    A, right = definite(n), RNG.normal(size=(n, 2))
    solved = cho_solve(cholesky(A.copy()), right)
    np.testing.assert_allclose(A @ solved, right, atol=1e-12 * np.abs(right).max())  # the condition is at most five


@pytest.mark.usefixtures("small_blocks")
def test_a_matrix_that_is_not_definite_is_refused_in_any_block_and_its_factorisation_can_be_left_in_between() -> None:
    for place in (0, 20, 59):
        A = definite(60)
        A[place, place] = -1.0
        with pytest.raises(LinAlgError):
            cholesky(A)
    A = definite(60)
    np.testing.assert_allclose(scaled_copy(A, None, 2.0), A + 2.0 * np.eye(60))
    scale = RNG.random(60)
    np.testing.assert_allclose(scaled_copy(A, scale, 1.0), scale[:, None] * A * scale + np.eye(60))
    for work in (lambda: cholesky(A.copy()), lambda: scaled_copy(A, None, 1.0)):
        with left_at(6):
            work()


def model() -> CuttingPlaneModel:
    made = CuttingPlaneModel(30)
    for cut in 5.0 + np.random.default_rng(1).normal(size=(40, 30)):
        made.add(cut)
    return made


def test_the_linear_program_stops_between_pivots_and_goes_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = model().minimize()
    monkeypatch.setattr(_matrix_game, "_CHUNK", 1)
    piecewise = model().minimize()
    assert piecewise.theta == pytest.approx(whole.theta, rel=1e-12)
    np.testing.assert_allclose(piecewise.weights, whole.weights, atol=1e-10)
    with left_at(4):
        model().minimize()
