"""The inner problem of every loss: feasible, valued, as exact as asked, and no better point nearby."""

import cvxpy as cp
import numpy as np
import pytest
from _formulations import LOSSES, MULTICLASS, N, classes, targets
from _problems import random_grams
from _reference import optimal_value

from mklviz.context import interruptible
from mklviz.errors import Interrupted, KernelError, UnsupportedProblem
from mklviz.inner import Inner, choice, register_inner
from mklviz.inner.choice import inner_solver
from mklviz.inner.conjugates import balanced
from mklviz.inner.multiclass import project
from mklviz.inner.rows import RowsInner
from mklviz.inner.svm import BoxInner
from mklviz.problem import EpsilonInsensitive, Hinge, Logistic, Loss, MulticlassHinge, OneAgainstAllHinge, Squared


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


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_solutions_are_feasible_and_valued(loss: Loss, tol: float) -> None:
    y = targets(loss.regression)
    inner = inner_solver(loss, y)
    for seed in range(5):  # warm-started from one kernel to the next
        K = kernel(seed)
        inner.solve(K, tol, seed > 0)
        loss.check_dual(loss.dual_from_signed(inner.signed, y), y)
        np.testing.assert_allclose(inner.scores, K @ inner.signed, atol=1e-9 * (1 + np.abs(inner.scores).max()))
        value = loss.dual_value(loss.dual_from_signed(inner.signed, y), y) - 0.5 * inner.signed @ inner.scores
        assert inner.value == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_warm_start_changes_nothing_but_the_work(loss: Loss) -> None:
    y = targets(loss.regression)
    warm, cold = inner_solver(loss, y), inner_solver(loss, y)
    warm.solve(kernel(1), 1e-9, False)
    warm.solve(kernel(2), 1e-9, True)
    cold.solve(kernel(2), 1e-9, False)
    assert warm.value == pytest.approx(cold.value, rel=1e-9)


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


@pytest.mark.parametrize("loss", [*LOSSES, *MULTICLASS], ids=repr)
def test_a_solution_handed_in_is_where_the_next_solve_starts(loss: Loss) -> None:
    y = classes() if loss.multiclass else targets(loss.regression)
    one, other = inner_solver(loss, y), inner_solver(loss, y)
    one.solve(kernel(1), 1e-9, False)
    other.set_dual(one.signed)
    other.solve(kernel(1), 1e-2, True)  # a rough solve has nothing left to do
    # the last bits of the balance, the first steps of a Newton method that had converged
    np.testing.assert_allclose(other.signed, one.signed, atol=1e-7 * loss.C)


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", [Hinge, Logistic, Squared, EpsilonInsensitive])
def test_weights_of_the_loss_of_all_sizes(kind: type[Loss], bias: bool, C: float) -> None:
    """The value at the solution meets the primal value of its function."""
    loss = kind(C, bias=bias)
    y, K = targets(loss.regression), kernel() + 0.1 * np.eye(N)
    inner = inner_solver(loss, y)
    inner.solve(K, 1e-8, False)
    primal = 0.5 * inner.signed @ inner.scores + loss.primal(inner.scores, y)[0]
    # every margin may be off by the tolerance, and each costs C times that
    assert primal - inner.value <= 1e-5 * abs(primal) + N * 1e-8 * 0.5 * np.ptp(y) * C
    assert primal - inner.value >= -1e-9 * abs(primal) - 1e-12 * C


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_singular_and_zero_kernels_are_solved(loss: Loss) -> None:
    y = targets(loss.regression)
    for K in (np.zeros((N, N)), np.ones((N, N)), np.outer(y, y)):
        inner = inner_solver(loss, y)
        inner.solve(K, 1e-6, False)
        assert np.isfinite(inner.value)
        loss.check_dual(loss.dual_from_signed(inner.signed, y), y)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_kernels_that_are_no_numbers_are_refused(loss: Loss) -> None:
    K = kernel()
    K[0, 1] = K[1, 0] = np.nan
    with pytest.raises(KernelError):
        inner_solver(loss, targets(loss.regression)).solve(K, 1e-6, False)


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


def test_unknown_losses_are_refused() -> None:
    class Other:
        label = "other"

    with pytest.raises(UnsupportedProblem, match="no inner solver for the other loss"):
        inner_solver(Other(), targets(False))  # type: ignore[arg-type]


# several classes


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("kind", [MulticlassHinge, OneAgainstAllHinge])
def test_several_classes_are_feasible_valued_and_as_exact_as_asked(kind: type[Loss], C: float, tol: float) -> None:
    loss, y = kind(C), classes()
    inner = inner_solver(loss, y)
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
        assert primal - inner.value <= (tol + rounding) * C * inner.signed.size + 1e-9 * primal
        assert primal - inner.value >= -1e-9 * primal


@pytest.mark.parametrize("rank", [2, 5])
def test_classes_that_a_kernel_of_low_rank_cannot_tell_apart_take_few_rounds_at_huge_C(rank: int) -> None:
    """Newton steps on a singular kernel are huge: cut at the first bound they lead on where bent ones crawl."""
    factor = np.random.default_rng(rank).normal(size=(N, rank))
    K, loss, y, rounds = factor @ factor.T, MulticlassHinge(1e6), classes(), 0

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


@pytest.mark.parametrize("seed", range(8))
def test_the_step_on_one_sample_is_the_projection_of_a_general_solver(seed: int) -> None:
    """B_i = argmin ||B_i - v|| over B_i <= C Y_i, sum B_i = 0."""
    rng = np.random.default_rng(seed)
    C, v, own = rng.exponential(2.0), 10.0 ** rng.uniform(-2, 2) * rng.normal(size=5), int(rng.integers(5))
    point = cp.Variable(5)
    upper = C * np.eye(5)[own]
    optimal_value(cp.Problem(cp.Minimize(cp.sum_squares(point - v)), [point <= upper, cp.sum(point) == 0]))
    found = project(v[:, None], np.array([own]), np.array([C]))[:, 0]
    np.testing.assert_allclose(found, point.value, atol=1e-5 * (1 + C))  # what the conic solver leaves
    assert found.sum() == pytest.approx(0.0, abs=1e-14 * C)


def test_two_classes_are_the_hinge_loss_without_bias_in_other_units() -> None:
    """f_1 - f_0 = 2 K b with B = (-b, b): the same problem as the plain hinge with twice the kernel."""
    K, y = kernel(2), np.where(targets(False) > 0, 1.0, 0.0)
    two, plain = inner_solver(MulticlassHinge(2.0), y), inner_solver(Hinge(2.0, bias=False), 2.0 * y - 1.0)
    two.solve(K, 1e-10, False)
    plain.solve(2.0 * K, 1e-10, False)
    assert two.value == pytest.approx(plain.value, rel=1e-9)
    np.testing.assert_allclose(two.signed[:, 1], plain.signed, atol=1e-8)


@pytest.mark.parametrize("loss", MULTICLASS, ids=repr)
def test_several_classes_take_hard_kernels_and_cancelling(loss: Loss) -> None:
    y = classes()
    for K in (np.zeros((N, N)), np.ones((N, N)), np.diag(np.arange(N) % 2.0), 1e-300 * np.eye(N)):
        inner = inner_solver(loss, y)
        inner.solve(K, 1e-6, False)
        assert np.isfinite(inner.value)
        loss.check_dual(loss.dual_from_signed(inner.signed, y), y)
    broken = kernel()
    broken[0, 1] = broken[1, 0] = np.nan
    with pytest.raises(KernelError):
        inner_solver(loss, y).solve(broken, 1e-6, False)

    def stop() -> None:
        raise Interrupted

    with pytest.raises(Interrupted), interruptible(stop):
        inner_solver(loss, y).solve(kernel(), 1e-6, False)


class Nearer(Inner):
    """Stands for a method of one's own."""

    def __init__(self, loss: Loss, y: np.ndarray) -> None:
        self.loss = loss


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
