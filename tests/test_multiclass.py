"""Data with more than two classes from the table to the score: all classes at once, and one against the rest."""

import numpy as np
import pytest
from _shown import html_of

import mklviz as mv
from mklviz.context import interruptible
from mklviz.datasets import DataError, load_dataset
from mklviz.engine import solve
from mklviz.errors import ProblemError
from mklviz.inner.choice import inner_solver
from mklviz.kernels import Bank, Gaussian, KernelBank
from mklviz.problem import Loss, loss_families
from mklviz.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe
from mklviz.scenarios import load_scenario

IRIS = Recipe(
    data=DataChoice("iris"),
    kernels=KernelChoice(families=(Gaussian(widths=(0.5, 2.0), on="all+each"),)),
    problem=ProblemChoice(loss=mv.Hinge(10.0)),
)


@pytest.mark.parametrize("loss", ["multiclass-hinge", "one-against-all"])
def test_the_score_is_the_share_of_new_points_whose_largest_decision_is_their_class(loss: str) -> None:
    prepared = IRIS.changed(loss=loss_families()[loss](10.0)).prepare()
    final = solve(prepared.problem, "level", gap=1e-4).best
    decisions = prepared.problem.decision_values(final.weights, final.dual, prepared.cross)
    assert decisions.shape == (prepared.test.n_samples, 3)
    right = decisions.argmax(axis=1) == prepared.test.y
    assert prepared.score(final) == pytest.approx(right.mean(), abs=1e-15)
    assert right.mean() > 0.9
    assert prepared.score_label == "test accuracy"


def test_one_class_against_the_rest_meets_the_samples_of_all_classes_at_once() -> None:
    together = IRIS.changed(loss=mv.MulticlassHinge(10.0)).prepare()
    for code, name in enumerate(together.train.classes):
        alone = IRIS.changed(positive=name).prepare()
        np.testing.assert_array_equal(alone.train.X, together.train.X)
        np.testing.assert_array_equal(alone.problem.y > 0, together.problem.y == code)
        np.testing.assert_array_equal(alone.test.y > 0, together.test.y == code)
        assert alone.train.classes == ("the rest", name)
        assert f"{name} against the rest" in alone.train.title


def test_what_has_no_such_class_or_only_two_or_cannot_be_taken_apart_is_refused() -> None:
    with pytest.raises(DataError, match="no class 'rose'; there are setosa, versicolor, virginica"):
        IRIS.changed(positive="rose").prepare()
    with pytest.raises(DataError, match="more than two classes"):
        load_dataset("sonar").against_rest("mine")
    with pytest.raises(ProblemError, match="choose the multiclass hinge or the one-against-all hinge loss"):
        IRIS.prepare()
    with pytest.raises(ProblemError, match="has two classes, which the hinge loss tells apart"):
        IRIS.changed(loss=mv.MulticlassHinge(10.0), positive="setosa").prepare()
    bank = KernelBank.from_grams(np.eye(4)[None])
    with pytest.raises(ProblemError, match="needs class numbers"):
        mv.one_against_all(mv.Problem(bank, np.array([1.0, -1.0, 1.0, -1.0])))
    two = mv.one_against_all(mv.Problem(bank, np.array([3.0, 7.0, 7.0, 3.0]), mv.MulticlassHinge()))
    assert [list(machine.y) for machine in two] == [[1.0, -1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0]]
    for machine in mv.one_against_all(mv.Problem(bank, np.array([0.0, 1.0, 2.0, 0.0]), mv.MulticlassHinge(3.0))):
        assert machine.loss == mv.Hinge(3.0, bias=False)


def test_separate_machines_with_the_same_weights_are_the_shared_ones() -> None:
    """P is additive over the classes but for r(d), which the shared problem pays once; so is D before the weights."""
    shared = IRIS.changed(loss=mv.OneAgainstAllHinge(10.0)).prepare().problem
    final = solve(shared, "level", gap=1e-6).best
    machines = mv.one_against_all(shared)
    parts = [machine.objective(final.weights, final.dual[:, k]) for k, machine in enumerate(machines)]
    assert sum(parts) == pytest.approx(final.objective, rel=1e-12)  # r is zero on the simplex
    alone = [solve(machine, "level", gap=1e-6).best for machine in machines]
    # weights of its own can only help each class
    assert sum(found.objective for found in alone) <= final.objective * (1 + 1e-6)
    for machine, part in zip(machines, alone, strict=True):
        assert part.objective <= solve(machine, "spg", gap=1e-3).best.objective * (1 + 1e-6)


BANK = KernelBank.build(np.random.default_rng(9).normal(size=(12, 2)), [Gaussian(widths=(1.0,), on="all+each")])
SOLVERS = ["level", "silp", "spg", "pgd", "simplemkl", "closed-form"]

TAKEN: list[tuple[str, Loss]] = [
    *[(solver, loss) for solver in SOLVERS for loss in (mv.MulticlassHinge(10.0), mv.OneAgainstAllHinge(10.0))],
    ("ufo", mv.MulticlassHinge(10.0)),
]


@pytest.mark.each_value
@pytest.mark.parametrize("numbers", [(0, 2, 5), (1, 2, 3), (-1, 0, 1), (2, 1, 0), (10**9, 7, -(10**9))], ids=repr)
@pytest.mark.parametrize(("solver", "loss"), TAKEN)
def test_classes_may_be_numbered_anyhow(solver: str, numbers: tuple[int, ...], loss: Loss) -> None:
    """No class is invented between the labels, the k-th smallest is column k, and predictions are named as given."""
    order = np.argsort(numbers)
    regularizer = mv.GroupSquaredPlusL1(1.0, 0.1) if solver == "ufo" else mv.Simplex()
    posed = mv.Problem(BANK, np.array(numbers)[np.arange(12) % 3], loss, regularizer)
    usual = mv.Problem(BANK, np.argsort(order)[np.arange(12) % 3], loss, regularizer)
    assert posed.loss.dual_shape(posed.y) == (12, 3)
    found, plain = (solve(each, solver, max_iter=20).best for each in (posed, usual))
    np.testing.assert_array_equal(found.dual, plain.dual)
    assert (found.objective, found.lower_bound) == (plain.objective, plain.lower_bound)
    names, codes = (each.predictor(plain.weights, plain.dual).predict(BANK.points) for each in (posed, usual))
    np.testing.assert_array_equal(names, np.array(numbers)[order][codes.astype(int)])


# kernels that are never formed: one machine per class, each with its own feasible dual variables


@pytest.mark.parametrize("solver", ["level", "spg", "closed-form"])
@pytest.mark.parametrize("access", ["rows", "factors"])
def test_one_against_all_needs_no_matrix(access: str, solver: str) -> None:
    X, y = np.random.default_rng(9).normal(size=(60, 2)), np.arange(60) % 3.0
    X += 0.7 * y[:, None]
    families = [Gaussian(widths=(0.5, 2.0), on="all+each")]
    bank: Bank = KernelBank.build(X, families, rows=True)
    if access == "factors":
        bank = mv.NystromBank.build(X, families, landmarks=12)
    assert bank.access == access
    formed = KernelBank.build(X, families)
    if access == "factors":
        formed = KernelBank.from_grams([bank.combine(unit) for unit in np.eye(len(bank))])
    problem, other = (mv.Problem(each, y, mv.OneAgainstAllHinge(5.0)) for each in (bank, formed))
    found, known = (solve(each, solver, gap=1e-4, max_iter=500) for each in (problem, other))
    assert (found.status, known.status) == ("converged", "converged")
    assert found.best.dual.shape == (60, 3)
    problem.loss.check_dual(found.best.dual, problem.y)  # of every class
    assert found.best.lower_bound <= known.best.objective
    assert known.best.lower_bound <= found.best.objective


def test_an_estimator_of_several_classes_by_landmarks_tells_one_against_all() -> None:
    X, y = np.random.default_rng(9).normal(size=(60, 2)), np.arange(60) % 3
    X += 2.0 * np.eye(3)[y][:, :2]
    plain = mv.MKLClassifier("gauss:1,4", approximation=mv.Nystrom(12))
    named = mv.MKLClassifier("gauss:1,4", approximation=mv.Nystrom(12), loss="one-against-all")
    np.testing.assert_array_equal(plain.fit(X, y).decision_function(X), named.fit(X, y).decision_function(X))
    assert plain.score(X, y) > 0.6


# the experiment of the UFO-MKL paper, section 5.2


def test_one_sample_given_twice_with_two_classes_takes_no_creeping_however_large_the_kernel() -> None:
    y, asked = np.array([0.0, 1.0]), []
    inner = inner_solver(mv.MulticlassHinge(1e7), y, "matrix")
    with interruptible(lambda: asked.append(1)):
        inner.solve(np.full((2, 2), 1e8), 1e-3, False)
    assert inner.value == pytest.approx(2e7)  # both dual variables at C, which cancel in the kernel
    assert len(asked) < 100


@pytest.mark.parametrize("seed", range(3))
def test_three_classes_at_once_choose_the_kernel_that_tells_all_apart(seed: int) -> None:
    """Its weight is the only one that is not exactly zero, and new points are told apart by it."""
    recipe = load_scenario("three-groups").recipe.changed(seed=seed)
    prepared = recipe.prepare()
    trace = solve(prepared.problem, recipe.solvers[0].make(seed), gap=1e-3)
    final = trace.final  # the best one has the least objective, not the fewest kernels
    assert trace.gap[-1] <= 1e-3
    assert not final.weights[:3].any()
    assert final.weights[3] > 0.0
    assert prepared.score(final) > 0.98
    # the optimum itself: what other kernels have left in a method without thresholds fades with the gap
    other = solve(prepared.problem, "closed-form", gap=1e-5, max_iter=2000).best
    assert other.weights[:3].max() < 0.01 * other.weights[3]
    assert final.objective == pytest.approx(other.objective, rel=1e-3)


@pytest.mark.each_value
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("positive", "apart"), [("class 1", 1), ("class 2", 2), ("class 3", 0)])
def test_each_class_against_the_rest_takes_two_kernels(seed: int, positive: str, apart: int) -> None:
    """The kernel that sets it apart and the one that tells all apart; on some splits a third has a trace."""
    recipe = load_scenario("three-groups-one-against-all").recipe.changed(seed=seed, positive=positive)
    prepared = recipe.prepare()
    final = solve(prepared.problem, "level", gap=1e-5).best
    assert set(np.flatnonzero(final.weights > 0.2)) == {apart, 3}
    assert final.weights[[apart, 3]].sum() > 0.95
    assert prepared.score(final) > 0.98


def test_a_problem_of_several_classes_says_so_in_a_notebook() -> None:
    assert "12 of 3 classes" in html_of(mv.Problem(BANK, np.arange(12) % 3.0, mv.MulticlassHinge()))
