"""Every loss with every regularizer: weak duality anywhere, the conic optimum in the end, and degenerate input."""

from typing import Any

import numpy as np
import pytest
from _conic import ACCURACY, block_form, optimum
from _formulations import (
    LOSSES,
    MULTICLASS,
    REGULARIZERS,
    N,
    block_optimum,
    random_feasible,
    targets,
    tiny_bank,
    tiny_problem,
)
from _problems import MAKERS, dense, problem
from _reference import by_clarabel, by_scs
from solver_fuzz import examine, make_case

import mklviz as mv
from mklviz.check.solvers import certified
from mklviz.engine import make_solver, solve, solver_classes
from mklviz.problem import Loss, Regularizer

EVERY_LOSS = [*LOSSES, *MULTICLASS]
# the conic solver is asked for 1e-9, but cones for powers are only approximated where powers are not simple fractions
CONIC = 1e-6
# what the methods need to be this exact where they do not see to it themselves
EXACT = {"pgd": {"svm_tolerance": 1e-9}, "simplemkl": {"svm_tolerance": 1e-9}}
STOCHASTIC = {"gap": 1e-3, "max_iter": 1200}  # epochs; the error falls like one over their number


def random_weights(regularizer: Regularizer, rng: np.random.Generator) -> np.ndarray:
    return regularizer.project(rng.exponential(size=4) * 10.0 ** rng.uniform(-2, 1))


@pytest.mark.each_value("release")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_weak_duality_at_random_points(loss: Loss, regularizer: Regularizer) -> None:
    posed, rng = tiny_problem(loss, regularizer), np.random.default_rng(1)
    uppers, lowers = [], []
    for _ in range(40):
        dual = random_feasible(posed, rng) * 10.0 ** rng.uniform(-3, 0)
        uppers.append(posed.objective(random_weights(regularizer, rng), dual))
        lowers.append(posed.lower_bound(dual))
    best = block_optimum(loss, regularizer)
    assert max(lowers) <= best + CONIC * abs(best)
    assert min(uppers) >= best - CONIC * abs(best)


@pytest.mark.product
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_the_conic_solvers_that_get_there_agree_on_the_optimum(loss: Loss, regularizer: Regularizer) -> None:
    posed = tiny_problem(loss, regularizer)
    answers = [ask(block_form(posed), 1e-6) for ask in (by_clarabel, by_scs)]
    found = [value for value in answers if value is not None and np.isfinite(value)]  # SCS may end at a weight of zero
    assert found
    # asked for 1e-6, where gap and violations add up
    np.testing.assert_allclose(np.array(found), block_optimum(loss, regularizer), rtol=1e-5)


@pytest.mark.each_value("release")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_the_objective_is_the_block_form_at_the_best_weights(loss: Loss, regularizer: Regularizer) -> None:
    """At given dual variables and weights, exchanging the weights for the best ones for the norms costs nothing."""
    posed, rng = tiny_problem(loss, regularizer), np.random.default_rng(2)
    dual = 0.3 * random_feasible(posed, rng)
    signed = loss.signed(dual, posed.y)
    K, weights = dense(posed.bank), random_weights(regularizer, rng)
    parts = np.array([d * gram @ signed for d, gram in zip(weights, K, strict=True)])
    columns = signed.reshape(N, -1)
    norms = weights * np.sqrt(np.einsum("ic,kij,jc->k", columns, K, columns))
    block = regularizer.block(norms) + loss.primal(parts.sum(0), posed.y)[0]
    assert posed.objective(weights, dual) >= block * (1 - 1e-9)
    if not regularizer.weighted:  # then the block form is what is charged
        assert posed.objective(weights, dual) == pytest.approx(block, rel=1e-9)


METHODS = {name: make_solver(name) for name in solver_classes()}
CASES = [
    pytest.param(solver, loss, regularizer, id=f"{solver}-{loss}-{regularizer}")
    for solver, method in METHODS.items()
    for loss in EVERY_LOSS
    for regularizer in REGULARIZERS
    if not method.refusal(tiny_problem(loss, regularizer))
]


@pytest.mark.each_value
@pytest.mark.parametrize(("solver", "loss", "regularizer"), CASES)
def test_solvers_reach_the_conic_optimum(solver: str, loss: Loss, regularizer: Regularizer) -> None:
    posed, best = tiny_problem(loss, regularizer), block_optimum(loss, regularizer)
    stochastic = solver_classes()[solver].stochastic
    options = {"gap": 2e-6, "max_iter": 300, **EXACT.get(solver, {}), **(STOCHASTIC if stochastic else {})}
    if solver == "pgd" and isinstance(regularizer, mv.Entropy):  # curvature without bound, where plain slopes crawl
        options["exact"] = True
    if stochastic and loss.multiclass:
        options["max_iter"] = 4000  # a step moves two classes: the gradients, squared, are twice as long
    trace = solve(posed, solver, **options)  # type: ignore[arg-type]
    accuracy = 5e-3 if stochastic else 1e-5
    off = (trace.objective.min() - best) / abs(best)
    assert -accuracy <= off
    assert off <= accuracy or not solver_classes()[solver].converges, trace.reason
    assert trace.lower_bound.max() <= best + CONIC * abs(best)
    certified(posed, [trace.best], best - accuracy * abs(best), best + CONIC * abs(best))


# degenerate input


KINDS = [mv.Hinge, mv.Logistic, mv.Squared, mv.EpsilonInsensitive]


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_tiny_and_huge_C_are_solved(kind: type[Loss], bias: bool, C: float) -> None:
    posed = mv.Problem(tiny_bank(), targets(kind.regression), kind(C, bias=bias), mv.Simplex())
    trace = solve(posed, "level", gap=1e-3, max_iter=200)
    assert trace.status == "converged"
    assert trace.gap.min() >= -1e-9


SEEDS = [pytest.param(seed, marks=[pytest.mark.full] * (seed >= 20)) for seed in range(60)]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_solver_says_what_cannot_be_true(seed: int) -> None:
    # time limits are kept out of it: this machine may be busy
    faults, _ = examine(make_case(seed), seconds=60.0)
    assert [fault for fault in faults if fault.kind != "unfinished"] == []


@pytest.mark.full
def test_cases_are_of_all_kinds_and_a_seed_poses_the_same_problem_again() -> None:
    problems = [make_case(seed).problem for seed in range(200)]
    assert len({problem.loss.name_ for problem in problems}) == 6
    assert len({problem.regularizer.name_ for problem in problems}) == 10
    assert {problem.convex for problem in problems} == {True, False}
    one, other = make_case(7), make_case(7)
    assert one.words == other.words
    np.testing.assert_array_equal(one.problem.y, other.problem.y)
    np.testing.assert_array_equal(dense(one.problem.bank), dense(other.problem.bank))


# what a method needs to be as exact as asked here: SVMs solved well below the gap where the solver does not see to it;
# cutting planes are as exact as their linear and quadratic programs, 1e-6
AS_EXACT: dict[str, dict[str, Any]] = {
    "pgd": {"svm_tolerance": 1e-10},
    "simplemkl": {"svm_tolerance": 1e-10},
    "level": {"gap": 1e-6},
}
MADE = [
    pytest.param(solver, name, id=f"{solver}-{name}")
    for solver, kind in solver_classes().items()
    for name in MAKERS
    if kind.converges and not make_solver(solver).refusal(problem(name))
]


@pytest.mark.each_value
@pytest.mark.parametrize(("solver", "name"), MADE)
def test_every_solver_reaches_the_optimum(solver: str, name: str) -> None:
    best = optimum(name)
    trace = solve(problem(name), solver, **{"gap": 1e-7, "max_iter": 5000, **AS_EXACT.get(solver, {})})
    assert trace.status in {"converged", "precision"}, trace.reason
    assert abs(trace.best.objective - best) <= 1e-6 * best
    assert -1.01e-6 * best <= trace.best_bound.lower_bound - best <= ACCURACY * best


@pytest.mark.product
@pytest.mark.parametrize("name", MAKERS)
def test_two_conic_solvers_agree(name: str) -> None:
    """Asked for what each always reaches, whatever the last digit of the data."""
    found = [ask(block_form(problem(name)), 1e-6) for ask in (by_clarabel, by_scs)]
    np.testing.assert_allclose(found, optimum(name), rtol=1e-5)  # asked for 1e-6, where gap and violations add up
