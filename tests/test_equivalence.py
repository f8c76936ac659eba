"""One solution under many names: the equivalent problems are solved by it, and other solvers find the same function."""

from __future__ import annotations

import numpy as np
import pytest
from _formulations import LOSSES, tiny_problem

import mklviz as mv
from mklviz.engine import solve
from mklviz.errors import ProblemError
from mklviz.problem import Loss, Regularizer

LINEAR: list[Regularizer] = [mv.Simplex(), mv.L1Penalty(0.3), mv.BlockL1(0.7), mv.LpPenalty(1.0, 2.0)]
POWERS: list[Regularizer] = [mv.LpBall(1.5), mv.LpPenalty(1.5, 0.5), mv.PowerPenalty(1.5, 0.5), mv.BlockPower(0.6, 1.2)]


def solved(problem: mv.Problem) -> tuple[np.ndarray, np.ndarray]:
    trace = solve(problem, "spg", gap=1e-11, max_iter=2000)
    return trace.best.weights, trace.best.dual


def function(problem: mv.Problem, weights: np.ndarray, dual: np.ndarray) -> np.ndarray:
    scores = problem.bank.apply(weights, problem.loss.signed(dual, problem.y))
    return scores + problem.loss.primal(scores, problem.y)[1]


@pytest.mark.each_value
@pytest.mark.parametrize("regularizer", [*LINEAR, *POWERS], ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_solution_solves_the_equivalent_problems(loss: Loss, regularizer: Regularizer) -> None:
    posed = tiny_problem(loss, regularizer)
    weights, dual = solved(posed)
    found = mv.equivalents(posed, weights, dual)
    kinds = {type(other.problem.regularizer) for other in found}
    family = {*map(type, LINEAR)} if regularizer in LINEAR else {*map(type, POWERS), mv.GroupSquaredPlusL1}
    assert kinds == family - {type(regularizer)}
    for other in found:
        # the new C is right to about the square root of the gap it was solved to, which kinks pass on
        assert other.problem.gap(other.weights, other.dual) <= 1e-4
        assert other.sentence.endswith(".")
        assert f"{other.problem.loss.C:.4g}" in other.sentence
        np.testing.assert_allclose(
            function(other.problem, other.weights, other.dual), function(posed, weights, dual), rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize("regularizer", [LINEAR[1], POWERS[1]], ids=repr)
@pytest.mark.parametrize("loss", LOSSES[:4], ids=repr)
def test_solving_the_equivalent_problem_gives_the_same_weights_up_to_their_unit(
    loss: Loss, regularizer: Regularizer
) -> None:
    posed = tiny_problem(loss, regularizer)
    weights, dual = solved(posed)
    for other in mv.equivalents(posed, weights, dual):
        if other.problem.regularizer.smooth:
            again = solve(other.problem, "spg", gap=1e-8, max_iter=2000).best
            assert again.objective == pytest.approx(other.problem.objective(other.weights, other.dual), rel=1e-4)
            np.testing.assert_allclose(
                again.weights / again.weights.sum(), weights / weights.sum(), atol=1e-2
            )  # flat directions leave weights uncertain by the square root of the gap


def test_the_simplex_problem_of_the_linear_penalty_has_C_times_the_sum_of_the_weights() -> None:
    posed = tiny_problem(LOSSES[0], mv.L1Penalty(0.3))
    weights, dual = solved(posed)
    simplex = mv.equivalents(posed, weights, dual)[0]
    assert isinstance(simplex.problem.regularizer, mv.Simplex)
    assert pytest.approx(posed.loss.C * weights.sum(), rel=1e-4) == simplex.problem.loss.C
    assert simplex.weights.sum() == pytest.approx(1.0, rel=1e-14)


def test_formulations_of_no_single_norm_have_no_equivalents() -> None:
    dual, weights = np.zeros(16), np.full(4, 0.25)
    for regularizer in (mv.ElasticNet(), mv.Entropy(), mv.GroupSquaredPlusL1(1.0, 0.1)):
        assert mv.equivalents(tiny_problem(LOSSES[0], regularizer), weights, dual) == ()


def test_a_solution_without_weights_calibrates_nothing() -> None:
    with pytest.raises(ProblemError, match="No kernel has weight"):
        mv.equivalents(tiny_problem(LOSSES[0], mv.L1Penalty(1.0)), np.zeros(4), np.zeros(16))
