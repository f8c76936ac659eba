"""The inner problem of every loss: feasible, valued, as exact as asked, and no better point nearby."""

from __future__ import annotations

import numpy as np
import pytest
from _formulations import LOSSES, N, targets
from _problems import random_grams

from mklviz.errors import Interrupted, KernelError, UnsupportedProblem
from mklviz.problem import EpsilonInsensitive, Hinge, Logistic, Loss, Squared
from mklviz.solvers._inner import inner_solver


def go_on() -> None:
    pass


def kernel(seed: int = 0, n: int = N) -> np.ndarray:
    return n * random_grams(3, n, seed)[2]


def slopes(loss: Loss, y: np.ndarray, signed: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """The largest slope among samples that may grow, the smallest among those that may shrink."""
    f, dual = y - scores, loss.dual_from_signed(signed, y)
    if isinstance(loss, Squared):
        f = f - signed / loss.C
        return f.max(), f.min()
    if isinstance(loss, Logistic):
        f = y * np.log((loss.C - dual) / dual) - scores
        return f.max(), f.min()
    up = f - np.where(signed >= 0, 1.0, -1.0) * getattr(loss, "epsilon", 0.0)
    down = f - np.where(signed > 0, 1.0, -1.0) * getattr(loss, "epsilon", 0.0)
    high = loss.C if isinstance(loss, EpsilonInsensitive) else np.where(y > 0, loss.C, 0.0)
    low = -loss.C if isinstance(loss, EpsilonInsensitive) else np.where(y > 0, 0.0, -loss.C)
    return up[signed < high].max(initial=-np.inf), down[signed > low].min(initial=np.inf)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_solutions_are_feasible_and_satisfy_kkt(loss: Loss, tol: float) -> None:
    y = targets(loss.regression)
    inner = inner_solver(loss, y)
    for seed in range(5):  # warm-started from one kernel to the next
        K = kernel(seed)
        inner.solve(K, tol, seed > 0, go_on)
        loss.check_dual(loss.dual_from_signed(inner.signed, y), y)
        np.testing.assert_allclose(inner.scores, K @ inner.signed, atol=1e-9 * (1 + np.abs(inner.scores).max()))
        value = loss.dual_value(loss.dual_from_signed(inner.signed, y), y) - 0.5 * inner.signed @ inner.scores
        assert inner.value == pytest.approx(value, rel=1e-9, abs=1e-9)
        top, bottom = slopes(loss, y, inner.signed, inner.scores)
        unit = tol * 0.5 * np.ptp(y) + 1e-10 * (1 + np.abs(inner.scores).max())
        if loss.bias:
            assert top - bottom <= 2.0 * unit
        else:
            assert top <= 2.0 * unit
            assert bottom >= -2.0 * unit


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_warm_start_changes_nothing_but_the_work(loss: Loss) -> None:
    y = targets(loss.regression)
    warm, cold = inner_solver(loss, y), inner_solver(loss, y)
    warm.solve(kernel(1), 1e-9, False, go_on)
    warm.solve(kernel(2), 1e-9, True, go_on)
    cold.solve(kernel(2), 1e-9, False, go_on)
    assert warm.value == pytest.approx(cold.value, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_solution_handed_in_is_where_the_next_solve_starts(loss: Loss) -> None:
    y = targets(loss.regression)
    one, other = inner_solver(loss, y), inner_solver(loss, y)
    one.solve(kernel(1), 1e-9, False, go_on)
    other.set_dual(one.signed)
    other.solve(kernel(1), 1e-2, True, go_on)  # a rough solve has nothing left to do
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
    inner.solve(K, 1e-8, False, go_on)
    primal = 0.5 * inner.signed @ inner.scores + loss.primal(inner.scores, y)[0]
    # every margin may be off by the tolerance, and each costs C times that
    assert primal - inner.value <= 1e-5 * abs(primal) + N * 1e-8 * 0.5 * np.ptp(y) * C
    assert primal - inner.value >= -1e-9 * abs(primal) - 1e-12 * C


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("kind", [Squared, EpsilonInsensitive])
def test_tolerances_follow_the_unit_of_the_targets(kind: type[Loss], scale: float) -> None:
    """Targets in other units, with C and epsilon to match, give the same solution in those units."""
    y = targets(True)
    plain = kind(2.0) if kind is Squared else EpsilonInsensitive(2.0, 0.2)
    scaled = kind(2.0) if kind is Squared else EpsilonInsensitive(2.0 * scale, 0.2 * scale)
    one, other = inner_solver(plain, y), inner_solver(scaled, scale * y)
    one.solve(kernel(), 1e-6, False, go_on)
    other.solve(kernel(), 1e-6, False, go_on)
    assert other.value == pytest.approx(scale**2 * one.value, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_singular_and_zero_kernels_are_solved(loss: Loss) -> None:
    y = targets(loss.regression)
    for K in (np.zeros((N, N)), np.ones((N, N)), np.outer(y, y)):
        inner = inner_solver(loss, y)
        inner.solve(K, 1e-6, False, go_on)
        assert np.isfinite(inner.value)
        loss.check_dual(loss.dual_from_signed(inner.signed, y), y)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_kernels_that_are_no_numbers_are_refused(loss: Loss) -> None:
    K = kernel()
    K[0, 1] = K[1, 0] = np.nan
    with pytest.raises(KernelError):
        inner_solver(loss, targets(loss.regression)).solve(K, 1e-6, False, go_on)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if isinstance(loss, (Logistic, Squared))], ids=repr)
def test_smooth_losses_can_be_cancelled(loss: Loss) -> None:
    def stop() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        inner_solver(loss, targets(loss.regression)).solve(kernel(), 1e-6, False, stop)


def test_unknown_losses_are_refused() -> None:
    class Other:
        label = "other"

    with pytest.raises(UnsupportedProblem, match="no inner solver for the other loss"):
        inner_solver(Other(), targets(False))  # type: ignore[arg-type]
