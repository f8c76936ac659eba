"""The closed-form update: Kloft's formula step by step, a certified optimum at the end, and what zero does."""

import itertools

import numpy as np
import pytest
from _formulations import REGULARIZERS
from _problems import blobs, problem, random_grams, small_bank

from mklviz.contract import Iterate
from mklviz.datasets import load_dataset
from mklviz.engine import make_solver, solve
from mklviz.kernels import KernelBank, paper_bank
from mklviz.problem import ElasticNet, Hinge, L1Penalty, Logistic, Loss, LpBall, Problem, Regularizer, Simplex, Squared
from mklviz.solvers.closed_form import FARTHEST, SHRUNK, ClosedFormFacts

NAMES = [repr(regularizer) for regularizer in REGULARIZERS]
EXACT = {"svm_tolerance": 1e-11}  # the SVM's own error stays far below what is compared


def posed(regularizer: Regularizer, C: float = 10.0, n: int = 30) -> Problem:
    X, y = blobs(n, 0.2, seed=30)
    return Problem(small_bank(X), y, Hinge(C), regularizer)


def steps(of: Problem, count: int, **options: float) -> list[Iterate]:
    return list(itertools.islice(make_solver("closed-form", **options).iterates(of), count))


@pytest.mark.each_value
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("p", [1.01, 1.1, 1.5, 2.0, 3.0])
def test_it_proves_its_optimum_over_the_lp_ball(p: float, C: float) -> None:
    assert solve(posed(LpBall(p), C), "closed-form", gap=1e-7).status == "converged"


@pytest.mark.parametrize("p", [1.1, 2.0, 5.0])
def test_a_step_is_the_formula_of_the_paper(p: float) -> None:
    asked = posed(LpBall(p))
    before, after = steps(asked, 2)
    norms = before.weights * np.sqrt(asked.bank.quad(asked.loss.signed(before.dual, asked.y)))
    expected = norms ** (2 / (p + 1)) / (norms ** (2 * p / (p + 1))).sum() ** (1 / p)
    np.testing.assert_allclose(after.weights, expected, rtol=1e-12)  # rounding of powers
    assert after.step == pytest.approx(np.abs(after.weights - before.weights).sum(), rel=1e-12)
    change = after.weights - before.weights
    assert after.facts.gained == (change > 0).sum()
    assert after.facts.most == asked.bank.names[int(change.argmax())]


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=NAMES)
def test_the_objective_never_rises(regularizer: Regularizer) -> None:
    found = [iterate.objective for iterate in steps(posed(regularizer), 60, **EXACT)]
    # exact SVMs leave rounding and the square of their tolerance
    assert (np.diff(found) <= 1e-9 * found[0]).all()


def test_a_fixed_point_ends_the_run_with_a_sentence_and_zero_is_absorbing() -> None:
    asked = problem("one kernel")
    found = steps(Problem(asked.bank, asked.y, asked.loss, LpBall(2.0)), 100)
    assert 2 <= len(found) < 100
    assert "fixed point" in found[-1].end.reason
    assert found[-1].step == 0.0
    """A kernel that is zero loses its weight at once; no weight of zero ever comes back."""
    grams = random_grams(3, 20, seed=1)
    _, y = blobs(20, 0.3, seed=32)
    asked = Problem(KernelBank.from_grams([grams[0], np.zeros((20, 20)), *grams[1:]]), y, Hinge(10.0), LpBall(1.2))
    weights = np.array([iterate.weights for iterate in steps(asked, 20)])
    assert weights[0, 1] > 0.0
    np.testing.assert_array_equal(weights[1:, 1], 0.0)
    gone = weights == 0.0
    assert (gone[1:] >= gone[:-1]).all()


def test_on_the_simplex_kernels_fade_by_a_power_of_their_s() -> None:
    """The formula alone multiplies weights by sqrt(s_k) but for a common factor, its power w by s_k^(w/2)."""
    asked = posed(Simplex())
    powers = []
    for before, after in itertools.pairwise(steps(asked, 8)):
        power = after.facts.power
        faded = before.weights * asked.bank.quad(asked.loss.signed(before.dual, asked.y)) ** (0.5 * power)
        np.testing.assert_allclose(after.weights, faded / faded.sum(), rtol=1e-10)  # rounding, and the power's
        fade = float((after.weights / before.weights).min())
        assert after.facts.fastest_fade == pytest.approx(fade, rel=1e-9)
        powers.append(power)
    assert powers == pytest.approx([1.0] + 6 * [FARTHEST])


@pytest.mark.each_value
@pytest.mark.parametrize("loss", [Hinge(10.0), Squared(10.0), Logistic(1.0)], ids=lambda loss: loss.name_)
@pytest.mark.parametrize("p", [1.33, 2.0])
def test_in_the_ball_the_weights_become_the_root_of_their_share(p: float, loss: Loss) -> None:
    """w = (p+1)/p, read off the step before, is d+ proportional to (d s)^(1/p), whatever the loss."""
    X, y = blobs(24, 0.2, seed=31)
    asked = Problem(small_bank(X), y, loss, LpBall(p))
    _, before, after = steps(asked, 3, **EXACT)
    assert after.facts.power == pytest.approx((p + 1) / p, rel=1e-9)
    root = (before.weights * asked.bank.quad(loss.signed(before.dual, y))) ** (1 / p)
    np.testing.assert_allclose(after.weights, root / (root**p).sum() ** (1 / p), rtol=1e-8)  # rounding, and the power's


def test_a_step_that_went_too_far_is_followed_by_the_formula() -> None:
    asked, method = posed(Simplex()), make_solver("closed-form")
    found = list(itertools.islice(method.iterates(asked), 120))
    at = next(t for t, iterate in enumerate(found) if ClosedFormFacts.of(iterate).retreats > 0.0)
    assert found[at - 1].facts.power > 1.0
    assert found[at - 1].gap > SHRUNK * found[at - 2].gap
    assert found[at].facts.power == 1.0
    quad = asked.bank.quad(asked.loss.signed(found[at - 1].dual, asked.y))
    formula = asked.regularizer.weights_from_norms(found[at - 1].weights * np.sqrt(quad))
    np.testing.assert_allclose(found[at].weights, formula, rtol=1e-12)  # rounding
    assert "the gap grew" in method.narrate(found[at - 1], found[at])
    assert "further than the formula" in method.narrate(found[at - 2], found[at - 1])


def test_few_svms_are_needed_on_sonar() -> None:
    """19, 9 and 5 to a gap of 1e-3, where the formula alone takes 35, 15 and 7; 3 either way for the SVMs."""
    train, _ = load_dataset("sonar").split(train=0.5, seed=0, standardize=True)
    y = np.where(train.y == train.y.min(), -1.0, 1.0)
    bank = paper_bank(train.X)
    for p, expected in ((1.1, 19), (1.33, 9), (2.0, 5)):
        trace = solve(Problem(bank, y, Hinge(100.0), LpBall(p)), "closed-form", gap=1e-3)
        assert abs(trace.final.svm_solves - expected) <= 3


@pytest.mark.parametrize("seed", [7, 10, 28])
def test_weights_do_not_grow_on_norms_that_are_rounding_alone(seed: int) -> None:
    """Points that repeat with other labels: the SVM's solution is orthogonal to a kernel, whose s_k is what rounding
    leaves, and the formula multiplied weights by the same factor at every step, up to 1e291."""
    x, y = np.array([0.0, 0.0, 0.0, 4.0, 4.0, 4.0, -5.0, 0.0]), np.array([-1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    factor = np.random.default_rng(seed).normal(size=(8, 3))
    grams = [2e6 * np.exp(-(np.subtract.outer(x, x) ** 2) / 2.0), 5e5 * factor @ factor.T]
    for price in (0.1, 0.2, 0.3):
        posed = Problem(KernelBank.from_grams(grams), y, Hinge(C=2e5), L1Penalty(price))
        trace = solve(posed, "closed-form", gap=1e-2, max_iter=400)
        assert trace.status in ("converged", "precision", "limit")
        most = 100.0 * posed.zero_objective / price  # weights that cost more than a hundred times the zero function
        assert trace.weights.max() < most
        assert trace.best.objective <= posed.zero_objective * (1.0 + 1e-6)


@pytest.mark.parametrize("regularizer", [LpBall(1.33), L1Penalty(5.0), ElasticNet(1.0, 0.1)], ids=lambda r: r.name_)
def test_steps_that_go_ahead_save_a_third_of_the_svms(
    regularizer: Regularizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = posed(regularizer)
    ahead = solve(asked, "closed-form", gap=1e-4).final.svm_solves  # 8, 22 and 20 when this was written
    monkeypatch.setattr("mklviz.solvers.closed_form.FARTHEST", 1.0)
    assert ahead <= 2 / 3 * solve(asked, "closed-form", gap=1e-4).final.svm_solves  # 13, 39 and 37
