"""SMO-MKL: the calculus of one pair step, the conic optimum at the end, and what it refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _conic_lp import ACCURACY, lp_optimum
from _problems import blobs, dense, problem, random_grams, small_bank

from mklviz.context import interruptible
from mklviz.contract import Iterate
from mklviz.engine import make_solver, solve
from mklviz.errors import Interrupted, UnsupportedProblem
from mklviz.inner.warm import usual_weights
from mklviz.kernels import Gaussian, KernelBank
from mklviz.problem import Hinge, LpBall, LpPenalty, Problem, Simplex, Squared
from mklviz.record import Trace
from mklviz.solvers import _smo_mkl as pairs
from mklviz.solvers.smo_mkl import SmoMkl, _Pairs

Array = np.ndarray
POWERS = [1.01, 1.1, 1.5, 2.0, 3.0, 20.0]


def posed(p: float, C: float = 10.0, sigma: float = 1.0, n: int = 30) -> Problem:
    X, y = blobs(n, 0.2, seed=40)
    return Problem(small_bank(X), y, Hinge(C), LpPenalty(p, sigma))


def to_the_end(asked: Problem, most: int = 2000) -> list[Iterate]:
    return list(itertools.islice(SmoMkl().iterates(asked), most))


def assert_sound(trace: Trace) -> None:
    assert trace.status in {"converged", "limit"}
    for column in (trace.weights, trace.dual, trace.objective, trace.lower_bound, trace.step):
        assert np.isfinite(column).all()
    assert trace.gap.min() >= -1e-9  # rounding, where C is huge and the optimum is not


# one pair step


class Line:
    """The dual objective along one pair, written down once more without any of the solver's tricks."""

    def __init__(self, p: float, seed: int = 0, m: int = 6) -> None:
        rng = np.random.default_rng(seed)
        self.q, self.sigma = p / (p - 1.0), 0.7
        roots = rng.normal(size=(m, 5)) * rng.uniform(0.5, 1.5, size=(m, 1))
        moves = rng.normal(size=(m, 5))
        self.s, self.g, self.r = (roots**2).sum(1), (roots * moves).sum(1), (moves**2).sum(1)

    def phi(self, t: float) -> float:
        s = self.s + 2.0 * t * self.g + t * t * self.r
        return float((s / s.max()) ** self.q @ np.ones(len(s))) ** (2.0 / self.q) * s.max() ** 2 / (8.0 * self.sigma)

    def slope(self, t: float, linear: float) -> tuple[float, float]:
        scratch = np.empty_like(self.s), np.empty_like(self.s)
        found = pairs._slope(t, linear, self.s, self.g, self.r, self.q, self.sigma, *scratch)
        return float(found[0]), float(found[1])

    def best(self, linear: float, room: float) -> float:
        scratch = np.empty_like(self.s), np.empty_like(self.s)
        return float(pairs._best_step(self.s, self.g, self.r, linear, room, self.q, self.sigma, *scratch))


@pytest.mark.parametrize("p", POWERS)
def test_slope_and_curvature_along_a_pair_are_derivatives(p: float) -> None:
    line, h = Line(p), 1e-5
    for t in (0.0, 0.3, 1.1):
        slope, curvature = line.slope(t, 2.0)
        rise = (line.phi(t + h) - line.phi(t - h)) / (2 * h)
        # central differences of functions of order 1 to 100: h² of the third derivative, and rounding over h
        assert slope == pytest.approx(2.0 - rise, rel=1e-4, abs=1e-4)
        bend = (line.slope(t + h, 2.0)[0] - line.slope(t - h, 2.0)[0]) / (2 * h)
        assert curvature == pytest.approx(bend, rel=1e-3, abs=1e-4)
        assert curvature <= 0.0


@pytest.mark.each_value
@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("seed", range(5))
def test_the_step_is_the_best_along_the_pair(p: float, seed: int) -> None:
    line = Line(p, seed)
    linear = line.slope(0.0, 0.0)[0] * -1.0 + 3.0  # so that the slope at zero is 3
    t = line.best(linear, 1e6)
    assert t > 0.0
    before, after = line.slope(t * (1 - 1e-9), linear)[0], line.slope(t * (1 + 1e-9), linear)[0]
    assert before > -1e-12
    assert after < 1e-12
    assert line.best(linear, 0.5 * t) == 0.5 * t


def test_for_p_2_the_step_is_the_root_of_a_cubic() -> None:
    line = Line(2.0, seed=3)
    linear = line.slope(0.0, 0.0)[0] * -1.0 + 3.0
    roots = np.roots(pairs._cubic(line.s, line.g, line.r, linear, line.sigma)[::-1])
    real = roots[np.abs(roots.imag) < 1e-9].real  # a decreasing cubic has one real root
    assert line.best(linear, 1e6) == pytest.approx(real[0], rel=1e-10)


@pytest.mark.parametrize("p", POWERS)
def test_from_zero_the_dual_is_a_quartic_and_the_step_its_maximum(p: float) -> None:
    """Two samples: 2a - a⁴ ||r||²/(8 sigma) is largest where a³ = 4 sigma / ||r||², or at C."""
    grams = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.5], [-0.5, 3.0]]])
    r = np.array([2.0, 5.0])
    size = float((r ** (p / (p - 1))).sum() ** ((p - 1) / p))
    for C in (0.1, 100.0):
        asked = Problem(KernelBank.from_grams(grams), np.array([1.0, -1.0]), Hinge(C), LpPenalty(p, 3.0))
        final = to_the_end(asked)[-1]
        np.testing.assert_allclose(final.dual, min((12.0 / size**2) ** (1 / 3), C), rtol=1e-12)
        assert abs(final.gap) <= 1e-12  # rounding


@pytest.mark.parametrize("p", POWERS)
def test_what_is_kept_up_to_date_is_right(p: float) -> None:
    asked = posed(p)
    run = _Pairs(asked)
    kernels = dense(asked.bank)
    args = run.K, run.diagonal, run.G, run.q, run.sigma, run.state, run.s, run.d
    np.testing.assert_allclose(run.K, kernels.transpose(1, 2, 0), atol=1e-15)
    values = []
    for _ in range(25):
        assert pairs.take_steps(*args, 1e-9, 1)[0] == 1
        b = run.signed
        np.testing.assert_allclose(run.G, (kernels @ b).T, atol=1e-12)
        np.testing.assert_allclose(run.s, asked.bank.quad(b), rtol=1e-9, atol=1e-12)
        weights = asked.regularizer.weights_from(run.s)
        np.testing.assert_allclose(run.d, weights, rtol=1e-9, atol=1e-15 * weights.max())
        scores = asked.bank.apply(weights, b)
        np.testing.assert_allclose(run.state[pairs.F], asked.y - scores, atol=1e-9)
        assert abs(b.sum()) <= 1e-12
        values.append(asked.lower_bound(b * asked.y, run.s))
    assert (np.diff(values) > 0.0).all()


# whole runs


@pytest.mark.each_value
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("p", [1.01, 1.1, 1.5, 2.0, 4.0])
def test_it_reaches_the_conic_optimum(p: float, C: float) -> None:
    asked = posed(p, C, sigma=0.5)
    best, trace = lp_optimum(asked), solve(asked, "smo-mkl", gap=1e-7)
    assert trace.status == "converged"
    assert trace.best.objective == pytest.approx(best, rel=ACCURACY)
    assert trace.best.lower_bound == pytest.approx(best, rel=ACCURACY)


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["three random Gram matrices", "sonar", "every point twice, some with either label"])
@pytest.mark.parametrize("p", [1.1, 2.0])
def test_it_agrees_with_the_closed_form(name: str, p: float) -> None:
    asked = Problem(problem(name).bank, problem(name).y, Hinge(20.0), LpPenalty(p, 10.0))
    ours, theirs = (solve(asked, solver, gap=1e-7, max_iter=3000) for solver in ("smo-mkl", "closed-form"))
    assert ours.status == theirs.status == "converged"
    assert ours.best.objective == pytest.approx(theirs.best.objective, rel=2e-7)


@pytest.mark.parametrize("p", [1.01, 1.5, 2.0])
def test_every_iterate_is_certified_and_every_sweep_raises_the_bound(p: float) -> None:
    asked = posed(p, 100.0)
    found = to_the_end(asked, 12)
    np.testing.assert_array_equal(found[0].weights, usual_weights(asked))
    np.testing.assert_array_equal(found[0].dual, 0.0)
    for before, after in itertools.pairwise(found):
        assert after.objective == pytest.approx(asked.objective(after.weights, after.dual), rel=1e-9)  # rounding
        assert after.lower_bound == pytest.approx(asked.lower_bound(after.dual), rel=1e-9)
        assert after.lower_bound >= before.lower_bound * (1 - 1e-12)
        assert after.step == pytest.approx(np.abs(after.weights - before.weights).sum(), rel=1e-12)
        assert after.svm_solves == 0
        said = SmoMkl().narrate(before, after)
        assert said.endswith(".")
        assert said[0].isdigit()
    assert found[1].facts.pair_steps == asked.n


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0, 20.0])
def test_it_goes_on_to_rounding_and_says_so(p: float) -> None:
    before, final = to_the_end(posed(p, 5.0))[-2:]
    assert "Rounding" in final.end.reason
    assert abs(final.gap) <= 1e-12
    assert SmoMkl().narrate(before, final).endswith(".")
    assert "No pair" in SmoMkl().narrate(final, final)


def test_same_seed_same_trace_and_nobody_can_disturb_it() -> None:
    clean = to_the_end(posed(1.5, 100.0), 8)
    for expected, iterate in zip(clean, SmoMkl().iterates(posed(1.5, 100.0)), strict=False):
        np.testing.assert_array_equal(iterate.weights, expected.weights)
        np.testing.assert_array_equal(iterate.dual, expected.dual)
        assert iterate.objective == expected.objective
        iterate.weights[:] = iterate.dual[:] = np.nan


def test_permuting_kernels_permutes_weights() -> None:
    grams = random_grams(3, 30, seed=4)
    _, y = blobs(30, 0.2, seed=41)
    ordered, permuted = (
        solve(Problem(KernelBank.from_grams(some), y, Hinge(30.0), LpPenalty(1.3, 1.0)), "smo-mkl", gap=1e-10)
        for some in (grams, [grams[2], grams[0], grams[1]])
    )
    # weights are right to the square root of the gap
    np.testing.assert_allclose(permuted.best.weights, ordered.best.weights[[2, 0, 1]], rtol=1e-4)


@pytest.mark.parametrize("p", [1.01, 1.5, 2.0])
def test_identical_kernels_share_the_weight_of_one(p: float) -> None:
    """Equal kernels K with weights t m^{-1/p} cost what one kernel m^{1-1/p} K with weight t costs."""
    X, y = blobs(20, 0.1, seed=42)
    four = KernelBank.build(X, [Gaussian(widths=(1.0,) * 4)])
    alone = KernelBank.from_grams([4 ** (1 - 1 / p) * four.combine(np.eye(4)[0])])
    many, one = (solve(Problem(bank, y, Hinge(10.0), LpPenalty(p)), "smo-mkl", gap=1e-9) for bank in (four, alone))
    assert many.best.objective == pytest.approx(one.best.objective, rel=2e-9)
    np.testing.assert_allclose(many.best.weights, many.best.weights[0], rtol=1e-9)


def test_the_ball_is_reached_through_the_penalty() -> None:
    """With t = ||d*||_p, d*/t is optimal in the ball for C t."""
    p = 1.5
    asked = posed(p, 10.0, 2.0)
    found = solve(asked, "smo-mkl", gap=1e-10).best
    t = float((found.weights**p).sum() ** (1 / p))
    ball = Problem(asked.bank, asked.y, Hinge(10.0 * t), LpBall(p))
    assert ball.gap(found.weights / t, t * found.dual) <= 1e-8


@pytest.mark.each_value
@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("p", [1.0001, 1.01, 2.0, 100.0])
def test_extreme_problems_end_without_nan(p: float, C: float) -> None:
    for sigma in (1e-6, 1.0, 1e6):
        assert_sound(solve(posed(p, C, sigma, n=16), "smo-mkl", gap=1e-4, max_iter=50))


def test_degenerate_banks_and_labels_end_without_nan() -> None:
    X, y = blobs(16, 0.2, seed=43)
    grams = random_grams(3, 16)
    mixed = KernelBank.from_grams([1e-8 * grams[0], grams[1], 1e6 * grams[2], np.zeros((16, 16))])
    flat = KernelBank.build(np.ones((16, 2)), [Gaussian(on="all+each")])
    twice = KernelBank.build(np.vstack([X, X]), [Gaussian(on="all+each")])
    pair = KernelBank.build(X[:2], [Gaussian()])
    lonely = np.where(np.arange(16) == 3, 1.0, -1.0)
    empty = KernelBank.from_grams([np.zeros((16, 16))])
    for p in (1.01, 2.0):
        cases = [(mixed, y), (flat, y), (twice, np.concatenate([y, -y])), (pair, y[:2]), (mixed, lonely), (empty, y)]
        for bank, labels in cases:
            assert_sound(solve(Problem(bank, labels, Hinge(100.0), LpPenalty(p)), "smo-mkl", gap=1e-3, max_iter=100))


def test_samples_that_stand_twice_do_not_hold_up_the_others() -> None:
    """The slope between twins is rounding and so is their curvature: they must not look like the best pair."""
    for name in ("every point twice", "every point twice, some with either label"):
        for p in (1.01, 1.1, 2.0):
            asked = Problem(problem(name).bank, problem(name).y, Hinge(20.0), LpPenalty(p, 10.0))
            assert to_the_end(asked)[-1].gap <= 1e-8


# refusals


def test_it_refuses_in_a_sentence_what_it_cannot_do() -> None:
    X, y = blobs(16, 0.2, seed=44)
    bank = small_bank(X)
    refused = {
        "simplex": Problem(bank, y, Hinge(1.0), Simplex()),
        "p above 1": Problem(bank, y, Hinge(1.0), LpPenalty(1.0)),
        "with bias": Problem(bank, y, Hinge(1.0, bias=False), LpPenalty(2.0)),
        "hinge loss": Problem(bank, y, Squared(1.0), LpPenalty(2.0)),
    }
    for words, asked in refused.items():
        why = SmoMkl().refusal(asked)
        assert words in why
        assert why.endswith(".")
        with pytest.raises(UnsupportedProblem, match=words):
            next(SmoMkl().iterates(asked))
    assert SmoMkl().refusal(posed(2.0)) == ""


def test_it_refuses_banks_that_would_not_fit_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklviz.inner.oracle.DENSE_LIMIT", 1000)
    assert "keeps every kernel in full, and 20 kernels on 30 samples" in make_solver("smo-mkl").refusal(posed(2.0))


def test_it_can_be_cancelled_in_the_middle_of_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklviz.solvers.smo_mkl.CHUNK", 1)
    calls = []

    def checkpoint() -> None:
        calls.append(1)
        if len(calls) > 10:
            raise Interrupted("Enough.")

    iterates = SmoMkl().iterates(posed(2.0))
    next(iterates)
    with pytest.raises(Interrupted), interruptible(checkpoint):
        next(iterates)
    assert len(calls) == 11
