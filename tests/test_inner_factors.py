"""The inner problems on factors: the optimum that other programs find, dual variables that prove it, no column read
that has no weight, and few passes over many points."""

from functools import cache

import _problems
import cvxpy as cp
import numpy as np
import pytest
from _reference import optimal_value

import mklviz as mv
from mklviz.errors import UnsupportedProblem
from mklviz.inner import factors
from mklviz.inner.choice import inner_solver, is_solved
from mklviz.kernels import Nystrom
from mklviz.problem import EpsilonInsensitive, Hinge, Logistic, Loss, Problem, Squared
from mklviz.scenarios import load_scenario

N, R = 90, 12
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(R, N))
W = RNG.random(R) / R
W[4:7] = 0.0
Y = np.where(Z[0] + Z[1] ** 2 - 1.0 + 0.5 * RNG.normal(size=N) > 0.0, 1.0, -1.0)
SOLVED = (one for one in _problems.LOSSES if is_solved(one, "factors") and not one.multiclass)  # machine by machine
LOSSES = [Hinge(0.01), Hinge(100.0), *SOLVED]


def by_conic(loss: Loss, w: np.ndarray) -> float:
    """The value of the primal by a conic solver: min 1/2 |theta|^2 + loss(X theta + b), X = Z' diag(w)^1/2."""
    theta, b = cp.Variable(R), cp.Variable()
    decisions = (Z.T * np.sqrt(w)) @ theta + (b if loss.bias else 0.0)
    if isinstance(loss, Hinge):
        lost = cp.sum(cp.pos(1.0 - cp.multiply(Y, decisions)))
    elif isinstance(loss, Squared):
        lost = 0.5 * cp.sum_squares(Y - decisions)
    else:
        lost = cp.sum(cp.logistic(-cp.multiply(Y, decisions)))
    return optimal_value(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(theta) + loss.C * lost)))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
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
    assert inner.value == pytest.approx(by_conic(loss, W), rel=1e-6)  # the conic solver's own accuracy


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
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
    cold.set_dual(10.0 * RNG.normal(size=N))
    cold.solve((Z, other), 1e-8, True)
    loss.check_dual(loss.dual_from_signed(cold.signed, Y), Y)
    assert warm.value == pytest.approx(cold.value, rel=1e-7)


def test_weights_of_zero_leave_the_bias_alone() -> None:
    for loss in (Hinge(1.0), Logistic(1.0), Squared(1.0)):
        inner = inner_solver(loss, Y, "factors")
        inner.solve((Z, np.zeros(R)), 1e-6, False)
        np.testing.assert_array_equal(inner.scores, 0.0)
        assert inner.value == pytest.approx(loss.primal(np.zeros(N), Y)[0], rel=1e-6)


def test_losses_without_a_method_on_factors_are_refused_with_a_sentence() -> None:
    with pytest.raises(UnsupportedProblem, match="ε-insensitive loss where kernels are given by factors"):
        inner_solver(EpsilonInsensitive(1.0), Y, "factors")


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_without_any_weight_the_best_constant_is_found_also_from_another_solution(loss: Loss) -> None:
    inner = inner_solver(loss, Y, "factors")
    inner.solve((Z, W), 1e-3, False)
    inner.solve((Z, np.zeros(R)), 1e-7, True)
    assert not inner.scores.any()
    assert inner.value == pytest.approx(loss.primal(np.zeros(N), Y)[0], rel=1e-6)


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
        swept, measure = factors.swept, factors.HingeFactors._measure

        def counted_steps(rows, order, *rest):  # type: ignore[no-untyped-def]
            self.steps += len(order)
            return swept(rows, order, *rest)

        def counted_look(inner, *rest):  # type: ignore[no-untyped-def]
            self.looks += 1
            return measure(inner, *rest)

        patch.setattr(factors, "swept", counted_steps)
        patch.setattr(factors.HingeFactors, "_measure", counted_look)


@pytest.mark.full
@pytest.mark.parametrize("solver", ["closed-form", "spg"])
def test_a_race_on_many_points_takes_few_passes(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, problem = Count(monkeypatch), posed()
    trace = mv.solve(problem, solver, gap=1e-3)
    assert trace.status == "converged"
    assert count.steps <= MOST_STEPS[solver] * problem.n
    assert count.looks <= MOST_LOOKS[solver]
