"""SMO-MKL: the calculus of one pair step, a certified optimum at the end, and what it refuses."""

import itertools

import numpy as np
import pytest
from _problems import blobs, dense, problem, small_bank

from mklviz.contract import Iterate
from mklviz.engine import make_solver, solve
from mklviz.inner.warm import usual_weights
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, LpPenalty, Problem
from mklviz.solvers import _smo_mkl as pairs
from mklviz.solvers.smo_mkl import SmoMkl, _Pairs

POWERS = [1.01, 1.1, 1.5, 2.0, 3.0, 20.0]


def posed(p: float, C: float = 10.0, sigma: float = 1.0, n: int = 30) -> Problem:
    X, y = blobs(n, 0.2, seed=40)
    return Problem(small_bank(X), y, Hinge(C), LpPenalty(p, sigma))


def to_the_end(asked: Problem, most: int = 2000) -> list[Iterate]:
    return list(itertools.islice(SmoMkl().iterates(asked), most))


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
    args = (run.K, run.diagonal, run.G), run.q, run.sigma, run.state, run.s, run.d
    np.testing.assert_allclose(run.K, kernels.transpose(1, 2, 0), atol=1e-15)
    values = []
    for _ in range(25):
        before = run.signed.copy()
        assert pairs.take_steps(*args, 1e-9, 1)[0] == 1
        b = run.signed
        np.testing.assert_allclose(run.G, (kernels @ b).T, atol=1e-12)
        np.testing.assert_allclose(run.s, asked.bank.quad(b), rtol=1e-9, atol=1e-12)
        weights = asked.regularizer.weights_from(run.s)
        np.testing.assert_allclose(run.d, weights, rtol=1e-9, atol=1e-15 * weights.max())
        scores = asked.bank.apply(weights, b)
        np.testing.assert_allclose(run.state[pairs.F], asked.y - scores, atol=1e-9)
        assert abs(b.sum()) <= 1e-12
        slopes = (asked.y - scores)[b != before]
        at_bound = np.isclose(np.abs(b[b != before]), [[0.0], [10.0]]).any()
        assert at_bound or np.ptp(slopes) <= 1e-9  # the best along the pair
        values.append(asked.lower_bound(b * asked.y, run.s))
    assert (np.diff(values) > 0.0).all()


@pytest.mark.each_value
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("p", [1.01, 1.1, 1.5, 2.0, 4.0])
def test_it_proves_its_optimum(p: float, C: float) -> None:
    assert solve(posed(p, C, sigma=0.5), "smo-mkl", gap=1e-7).status == "converged"


@pytest.mark.parametrize("p", [1.01, 1.5, 2.0])
def test_every_sweep_raises_the_bound(p: float) -> None:
    asked = posed(p, 100.0)
    found = to_the_end(asked, 12)
    np.testing.assert_array_equal(found[0].weights, usual_weights(asked))
    np.testing.assert_array_equal(found[0].dual, 0.0)
    for before, after in itertools.pairwise(found):
        assert after.lower_bound >= before.lower_bound * (1 - 1e-12)
        assert after.step == pytest.approx(np.abs(after.weights - before.weights).sum(), rel=1e-12)
        assert after.svm_solves == 0
        assert SmoMkl().narrate(before, after)[0].isdigit()
    assert found[1].facts.pair_steps == asked.n


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0, 20.0])
def test_it_goes_on_to_rounding_and_says_so(p: float) -> None:
    before, final = to_the_end(posed(p, 5.0))[-2:]
    assert "Rounding" in final.end.reason
    assert abs(final.gap) <= 1e-12
    assert SmoMkl().narrate(before, final).endswith(".")
    assert "No pair" in SmoMkl().narrate(final, final)


def test_samples_that_stand_twice_do_not_hold_up_the_others() -> None:
    """The slope between twins is rounding and so is their curvature: they must not look like the best pair."""
    for name in ("every point twice", "every point twice, some with either label"):
        for p in (1.01, 1.1, 2.0):
            asked = Problem(problem(name).bank, problem(name).y, Hinge(20.0), LpPenalty(p, 10.0))
            assert to_the_end(asked)[-1].gap <= 1e-8


def test_it_refuses_banks_that_would_not_fit_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklviz.inner.oracle.DENSE_LIMIT", 1000)
    assert "keeps every kernel in full, and 20 kernels on 30 samples" in make_solver("smo-mkl").refusal(posed(2.0))
