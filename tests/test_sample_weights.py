"""Weights of samples: w of one sample is that sample w times, twice the weights are twice C, and zero leaves it out."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from _formulations import LOSSES, MULTICLASS, REGULARIZERS, N, conic_value, targets_of, tiny_bank
from _plugins import LOSS, Save
from _problems import blobs
from _shown import html_of
from sklearn.svm import SVC

import mklviz as mv
from mklviz.engine import make_solver, solve, solver_classes
from mklviz.engine.run import describe
from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.inner.choice import inner_solver
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import Gaussian, KernelBank
from mklviz.problem import Loss, Regularizer, losses
from mklviz.problem.losses import loss_families
from mklviz.solvers.level import coarse_solution, some_samples
from mklviz.typing import Array

EVERY_LOSS = [*LOSSES, *MULTICLASS]
RNG = np.random.default_rng(21)
COUNTS = np.array([1.0, 0.0, 3.0, 2.0, 1.0, 1.0, 2.0, 4.0, 0.0, 1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0])
REPEATED = np.repeat(np.arange(N), COUNTS.astype(int))
UNEVEN = 10.0 ** RNG.uniform(-1.5, 0.7, size=N)  # some samples count a hundred times as much as others
CONIC = 1e-6  # what the conic solver is good for
# the methods that are not this exact by themselves
EXACT = {"pgd": {"svm_tolerance": 1e-9}, "simplemkl": {"svm_tolerance": 1e-9}}
TINY_GRAMS = np.stack([tiny_bank().combine(unit) for unit in np.eye(len(tiny_bank()))])


def given(grams: Array) -> KernelBank:
    """Return a bank of these kernels as they are, not scaled to the samples' number."""
    return KernelBank.from_grams(grams, normalize="none")


def weighted(loss: Loss, weights: Any, regularizer: Regularizer | None = None) -> mv.Problem:
    return mv.Problem(given(TINY_GRAMS), targets_of(loss), loss, regularizer or mv.Simplex(), weights)


def repeated(loss: Loss, regularizer: Regularizer | None = None) -> mv.Problem:
    bank = given(TINY_GRAMS[:, REPEATED][:, :, REPEATED])
    return mv.Problem(bank, targets_of(loss)[REPEATED], loss, regularizer or mv.Simplex())


def spread(dual: Array) -> Array:
    """Return the dual variables of the repeated samples that those of the weighted ones stand for."""
    return (dual.T / np.maximum(COUNTS, 1.0)).T[REPEATED]


@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_bounds_at_any_point_are_those_of_repeated_samples(loss: Loss) -> None:
    one, many = weighted(loss, COUNTS), repeated(loss)
    rng = np.random.default_rng(2)
    for _ in range(5):
        d = rng.dirichlet(np.ones(one.m))
        dual = 10.0 ** rng.uniform(-2, 0) * SvmOracle(one, 1e-3).solve(d).dual
        one.loss.check_dual(dual, one.y)
        assert one.objective(d, dual) == pytest.approx(many.objective(d, spread(dual)), rel=1e-12)
        assert one.lower_bound(dual) == pytest.approx(many.lower_bound(spread(dual)), rel=1e-11, abs=1e-12)
    assert one.zero_objective == pytest.approx(many.zero_objective, rel=1e-14)


@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
def test_inner_problems_have_the_decisions_of_repeated_samples(loss: Loss) -> None:
    d = np.array([0.4, 0.3, 0.2, 0.1])
    one, many = (SvmOracle(problem, 1e-10).solve(d) for problem in (weighted(loss, COUNTS), repeated(loss)))
    assert one.value == pytest.approx(many.value, rel=1e-9)
    found = one.scores + weighted(loss, COUNTS).loss.primal(one.scores, targets_of(loss))[1]
    wanted = many.scores + repeated(loss).loss.primal(many.scores, targets_of(loss)[REPEATED])[1]
    np.testing.assert_allclose(found[REPEATED], wanted, atol=1e-6)  # the tolerance bounds slopes, not decisions
    assert not one.dual[COUNTS == 0.0].any()


SOME = REGULARIZERS[:1] + REGULARIZERS[1::2]  # the simplex, which some methods need, and half of the others
POSED = [weighted(loss, UNEVEN, regularizer) for regularizer in SOME for loss in EVERY_LOSS]


def taken(name: str) -> list[mv.Problem]:
    """Return a problem of each regularizer that a solver takes: of the losses one after the other."""
    solver = make_solver(name)
    found: list[mv.Problem] = []
    for number, start in enumerate(range(0, len(POSED), len(EVERY_LOSS))):
        some = [problem for problem in POSED[start : start + len(EVERY_LOSS)] if not solver.refusal(problem)]
        found += [some[number % len(some)]] if some else []
    return found


@pytest.mark.parametrize("name", sorted(set(solver_classes()) - {"obscure"}))
def test_every_solver_finds_the_conic_optimum(name: str) -> None:
    solver, problems = make_solver(name, **EXACT.get(name, {})), taken(name)
    assert problems
    for problem in problems:
        trace = solve(problem, solver, gap=2e-2 if solver.stochastic else 1e-6, max_iter=3000)
        optimum = conic_value(problem)
        assert trace.status == "converged" or not solver.converges
        assert trace.lower_bound.max() <= optimum * (1.0 + CONIC)
        assert trace.objective.min() >= optimum * (1.0 - CONIC)
        last = trace.best
        assert last.objective == pytest.approx(problem.objective(last.weights, last.dual), rel=1e-9)


@pytest.mark.parametrize("name", ["silp", "level", "simplemkl", "spg", "pgd", "newton", "closed-form"])
def test_twice_the_weights_are_twice_the_c_step_by_step(name: str) -> None:
    loss = mv.Hinge(2.0)
    double, larger = weighted(loss, 2.0 * UNEVEN), weighted(mv.Hinge(4.0), UNEVEN)
    one, other = (solve(problem, name, gap=1e-4, max_iter=300) for problem in (double, larger))
    np.testing.assert_array_equal(one.objective, other.objective)  # a power of two changes no digit
    np.testing.assert_array_equal(one.weights, other.weights)


def test_equal_weights_are_another_c_and_weights_of_one_are_none() -> None:
    loss = mv.Hinge(2.0)
    tripled = solve(weighted(loss, np.full(N, 3.0)), "level", gap=1e-8)
    larger = solve(weighted(mv.Hinge(6.0), np.ones(N)), "level", gap=1e-8)
    assert tripled.objective.min() == pytest.approx(larger.objective.min(), rel=1e-8)
    for ones in (np.ones(N), 1):
        plain = weighted(loss, ones)
        assert plain.sample_weight is None
        assert plain.loss.sample_weight is None
    same = mv.MKLClassifier("gauss:1").fit(np.eye(4), [0, 1, 0, 1], sample_weight=3.0)
    other = mv.MKLClassifier("gauss:1", C=3.0).fit(np.eye(4), [0, 1, 0, 1])
    np.testing.assert_array_equal(same.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_one_kernel_has_the_decisions_of_libsvm(bias: float) -> None:
    X, y = blobs(60, 0.3, seed=4)
    weights = 10.0 ** np.random.default_rng(3).uniform(-2, 1, size=60) * np.where(y > 0, 1.0, 1.0 + bias)
    bank = KernelBank.build(X, [Gaussian(widths=(1.0,), on="all")])
    K = bank.combine(np.ones(1))
    problem = mv.Problem(bank, y, mv.Hinge(30.0), mv.Simplex(), weights)
    found = problem.predictor(np.ones(1), SvmOracle(problem, 1e-8).solve(np.ones(1)).dual)
    wanted = SVC(kernel="precomputed", C=30.0, tol=1e-8).fit(K, y, sample_weight=weights).decision_function(K)
    np.testing.assert_allclose(found.decision_values(X), wanted, atol=1e-5)


Z = np.random.default_rng(0).normal(size=(6, 40))
SIDES = np.where(Z[0] + 0.7 * np.random.default_rng(1).normal(size=40) > 0.0, 1.0, -1.0)
PARTS = np.array([0.3, 0.0, 0.2, 0.1, 0.2, 0.2])


@pytest.mark.parametrize("loss", [*LOSSES[:3], *LOSSES[4:7]], ids=repr)
def test_factors_give_what_the_matrix_gives(loss: Loss) -> None:
    weights = np.where(np.arange(40) % 7 == 0, 0.0, 10.0 ** np.random.default_rng(5).uniform(-1, 1, size=40))
    bound = loss.for_samples(weights)
    by_factors, by_matrix = inner_solver(bound, SIDES, "factors"), inner_solver(bound, SIDES)
    by_factors.solve((Z, PARTS), 1e-9, False)
    by_matrix.solve(Z.T * PARTS @ Z, 1e-9, False)
    assert by_factors.value == pytest.approx(by_matrix.value, rel=1e-9)
    bound.check_dual(bound.dual_from_signed(by_factors.signed, SIDES), SIDES)
    np.testing.assert_allclose(by_factors.scores, by_matrix.scores, atol=1e-6)


@pytest.mark.parametrize(
    "loss", [mv.Hinge(20.0), mv.Hinge(20.0, bias=False), mv.EpsilonInsensitive(20.0, 0.1)], ids=repr
)
def test_rows_give_what_the_matrix_gives(loss: Loss) -> None:
    X, y = blobs(90, 0.2, seed=3)
    weights = np.where(np.arange(90) % 7 == 0, 0.0, 10.0 ** np.random.default_rng(5).uniform(-1, 1, size=90))
    families = [Gaussian(widths=(0.5, 1.0, 3.0), on="all+each")]
    found = []
    for rows in (True, False):
        problem = mv.Problem(KernelBank.build(X, families, rows=rows), y, loss, mv.Simplex(), weights)
        assert problem.bank.access == ("rows" if rows else "matrix")
        found.append(SvmOracle(problem, 1e-7).solve(np.full(problem.m, 1.0 / problem.m)))
    assert found[0].value == pytest.approx(found[1].value, rel=1e-9)
    np.testing.assert_allclose(found[0].scores, found[1].scores, atol=1e-5)


@pytest.mark.full
def test_paths_and_other_formulations_keep_the_weights() -> None:
    problem = weighted(mv.Logistic(3.0), COUNTS, mv.BlockL1(0.7))
    top = mv.lambda_max(problem)
    assert top == pytest.approx(mv.lambda_max(repeated(mv.Logistic(3.0), mv.BlockL1(0.7))), rel=1e-9)
    path = mv.path(problem, "closed-form", lam=[1.01 * top, 0.5 * top], gap=1e-6)
    wanted = solve(repeated(mv.Logistic(3.0), mv.BlockL1(0.5 * top)), "closed-form", gap=1e-6).objective.min()
    assert path[1][1].objective.min() == pytest.approx(wanted, rel=1e-6)
    assert path[0][1].gap[-1] <= 1e-6
    posed = weighted(mv.Hinge(2.0), COUNTS)
    best = solve(posed, "newton", gap=1e-9).best
    for other in mv.equivalents(posed, best.weights, best.dual):
        assert other.problem.sample_weight is not None
        # its price comes from norms known to a root of 1e-9
        assert other.problem.gap(other.weights, other.dual) <= 1e-4


@pytest.mark.parametrize("loss", [mv.Hinge(2.0), mv.EpsilonInsensitive(1.0, 0.5), mv.MulticlassHinge(2.0)], ids=repr)
def test_the_largest_price_is_that_of_repeated_samples(loss: Loss) -> None:
    one, many = weighted(loss, COUNTS, mv.L1Penalty(1.0)), repeated(loss, mv.L1Penalty(1.0))
    assert mv.lambda_max(one) == pytest.approx(mv.lambda_max(many), rel=2e-5)  # its own accuracy


def test_a_coarse_start_is_of_samples_with_weight() -> None:
    X, y = blobs(60, 0.2, seed=1)
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.0 + np.arange(60) % 2)
    bank = KernelBank.build(X, [Gaussian(widths=(0.5, 1.0, 2.0), on="each")])
    problem = mv.Problem(bank, y, mv.Hinge(10.0), mv.Simplex(), weights)
    few = some_samples(problem, 0)
    assert weights[few].all()
    assert set(y[few]) == {-1.0, 1.0}
    start = coarse_solution(problem, make_solver("level"))
    problem.loss.check_dual(start.dual, y)
    assert problem.gap(start.weights, start.dual) < 1.0


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.ones(3), "one number for each of the 16 samples"),
        (np.ones((N, 1)), "one number for each of the 16 samples"),
        (np.where(np.arange(N) == 4, -1.0, 1.0), "that of sample 4 is -1"),
        (np.where(np.arange(N) == 4, np.nan, 1.0), "that of sample 4 is nan"),
        (np.where(np.arange(N) == 4, np.inf, 1.0), "that of sample 4 is inf"),
        (np.zeros(N), "All samples have weight zero"),
        (["much"] * N, "must be numbers"),
    ],
)
def test_weights_that_make_no_sense_are_refused_in_a_sentence(weights: Array, says: str) -> None:
    with pytest.raises(ProblemError, match=says):
        weighted(mv.Hinge(2.0), weights)


def test_classes_need_a_sample_with_weight() -> None:
    with pytest.raises(ProblemError, match=r"Only samples of weight above zero count. All labels are \+1"):
        weighted(mv.Hinge(2.0), (targets_of(mv.Hinge()) > 0.0).astype(float))
    with pytest.raises(ProblemError, match="All samples of class 1 have weight zero"):
        weighted(mv.MulticlassHinge(2.0), (targets_of(mv.MulticlassHinge()) != 1.0).astype(float))


def test_what_does_not_follow_says_so(save: Save) -> None:
    grouped = weighted(mv.Hinge(2.0, bias=False), UNEVEN, mv.GroupSquaredPlusL1(0.3, 0.0, 1.5))
    assert "no weights of them" in make_solver("obscure").refusal(grouped)
    assert "leave out those of weight zero" in make_solver("spicymkl").refusal(weighted(mv.Hinge(2.0), COUNTS))
    save(losses, "zebra", LOSS)
    with pytest.raises(UnsupportedProblem, match="zebra loss knows no weights of samples"):
        weighted(loss_families()["zebra-loss"](2.0), UNEVEN)


@pytest.mark.parametrize(
    ("loss", "says"), [(mv.Hinge(2.0), r"lie in \[0, C w\]"), (mv.Squared(0.5), "zero where the weight")]
)
def test_dual_variables_beyond_a_sample_s_own_bound_are_refused(loss: Loss, says: str) -> None:
    problem = weighted(loss, COUNTS)
    dual = SvmOracle(problem, 1e-6).solve(np.full(4, 0.25)).dual.copy()
    problem.lower_bound(dual)
    dual[COUNTS == 0.0] = 0.1
    with pytest.raises(ProblemError, match=says):
        problem.lower_bound(dual)


def test_a_loss_forgets_the_weights_of_other_samples_and_a_problem_says_that_it_has_some() -> None:
    problem = weighted(mv.Hinge(2.0), COUNTS)
    assert "C = 2 times the weight of each sample, 0 to 4" in describe(problem)
    assert "times the weight of each sample" in html_of(problem)
    assert "weight" not in describe(weighted(mv.Hinge(2.0), np.ones(N)))
    bound = weighted(mv.Hinge(2.0), UNEVEN).loss
    assert mv.Problem(given(TINY_GRAMS), targets_of(bound), bound).loss.sample_weight is None
    assert replace(bound, C=3.0).sample_weight is None
    assert bound == mv.Hinge(2.0)  # they belong to the samples, not to the loss
    assert replace(weighted(mv.Hinge(2.0), UNEVEN), loss=mv.Hinge(3.0)).loss.sample_weight is not None
