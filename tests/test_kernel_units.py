"""Units of the kernels do not matter: K times u and C over u is the same problem, its duals and values over u."""

from __future__ import annotations

import numpy as np
import pytest
from _problems import dense, problem

from mklviz.engine import solve
from mklviz.inner.matrix_game import MatrixGame
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, L1Penalty, LpBall, LpPenalty, Problem, Regularizer, Simplex
from mklviz.solvers._level_qp import project_to_level_set

POSED = ("noisy blobs, C = 10", "pima", "separable blobs, C = 1000")


def in_units(name: str, unit: float, regularizer: Regularizer) -> Problem:
    """Return a problem with kernels `unit` times as large, and everything else so that weights stay what they are."""
    posed = problem(name)
    grams = [unit * gram for gram in dense(posed.bank)]
    return Problem(KernelBank.from_grams(grams), posed.y, Hinge(posed.loss.C / unit), regularizer)


@pytest.mark.each_value
@pytest.mark.parametrize("unit", [1e-8, 1e-3, 1e5, 1e8])
@pytest.mark.parametrize("name", POSED)
def test_newton_takes_the_same_steps_in_all_units(name: str, unit: float) -> None:
    for plain, scaled in ((Simplex(), Simplex()), (L1Penalty(50.0), L1Penalty(50.0 / unit))):
        here = solve(in_units(name, 1.0, plain), "newton", gap=1e-5)
        there = solve(in_units(name, unit, scaled), "newton", gap=1e-5)
        assert here.status == there.status == "converged"
        assert there.final.svm_solves == here.final.svm_solves
        # rounding, as its program passes it on to weights that matter little
        np.testing.assert_allclose(there.best.weights, here.best.weights, atol=1e-4 * here.best.weights.max())
        assert there.best.objective * unit == pytest.approx(here.best.objective, rel=1e-5)


@pytest.mark.each_value
@pytest.mark.parametrize("unit", [1e-8, 1e8])
@pytest.mark.parametrize("name", POSED)
def test_the_closed_form_takes_the_same_steps_in_all_units(name: str, unit: float) -> None:
    for plain, scaled in (
        (LpBall(1.33), LpBall(1.33)),
        (L1Penalty(50.0), L1Penalty(50.0 / unit)),
        (LpPenalty(2.0, 5.0), LpPenalty(2.0, 5.0 / unit)),
    ):
        here = solve(in_units(name, 1.0, plain), "closed-form", gap=1e-3)
        there = solve(in_units(name, unit, scaled), "closed-form", gap=1e-3)
        assert here.status == there.status == "converged"
        assert there.final.svm_solves == here.final.svm_solves
        np.testing.assert_allclose(there.best.weights, here.best.weights, rtol=1e-3, atol=1e-9)  # the SVM's tolerance


@pytest.mark.each_value
@pytest.mark.parametrize("solver", ["silp", "level", "newton", "closed-form"])
@pytest.mark.parametrize("name", POSED)
def test_powers_of_four_change_no_bit_of_any_step(name: str, solver: str) -> None:
    """Even powers round nothing, nor do their roots, so that even methods that jump, as SILP does, must do the same."""
    here, there = (solve(in_units(name, unit, Simplex()), solver, gap=1e-4, max_iter=60) for unit in (1.0, 2.0**-26))
    np.testing.assert_array_equal(here.weights, there.weights)
    np.testing.assert_array_equal(here.objective, there.objective * 2.0**-26)


@pytest.mark.parametrize("C", [1e-4, 1e5])
@pytest.mark.parametrize("name", POSED)
def test_extreme_prices_of_the_loss_end_at_the_gap(name: str, C: float) -> None:
    posed = problem(name)
    for solver, regularizer in (
        ("silp", Simplex()),
        ("newton", Simplex()),
        ("newton", L1Penalty(1.0)),
        ("closed-form", LpBall(1.33)),
        ("closed-form", L1Penalty(1.0)),
    ):
        trace = solve(Problem(posed.bank, posed.y, Hinge(C), regularizer), solver, gap=1e-3)
        assert trace.status == "converged", (solver, regularizer)
        assert trace.gap[-1] >= -1e-9  # rounding, where C is huge and the optimum is not


@pytest.mark.parametrize("unit", [2.0**-26, 2.0**26])
def test_programs_on_the_cuts_take_the_same_steps_in_all_units(unit: float) -> None:
    cuts = np.random.default_rng(4).normal(size=(30, 20)) * np.logspace(-3, 3, 30)[:, None]
    sizes = np.abs(cuts).max(axis=1)
    plain, scaled = MatrixGame().solve(cuts, sizes), MatrixGame().solve(unit * cuts, unit * sizes)
    assert plain is not None
    assert scaled is not None
    np.testing.assert_array_equal(plain[0], scaled[0])
    equal = np.full(20, 0.05)
    level = 0.5 * float((cuts @ equal).max())
    here = project_to_level_set(equal, cuts, level)
    there = project_to_level_set(equal, unit * cuts, unit * level)
    assert here.newton_steps == there.newton_steps
    np.testing.assert_array_equal(here.weights, there.weights)
