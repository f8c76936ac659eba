"""The log-determinant of the learned kernel: its value and slopes, where runs end, and what it does not go with."""

import numpy as np
import pytest
from _problems import Array, blobs, left_at
from scipy.optimize import minimize

import mklviz as mv
from mklviz.engine import lambda_max, solve
from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.kernels import Bank
from mklviz.problem import Hinge, LogDet, Problem, Squared

X, Y = blobs(24, 0.1)
BANKS: dict[str, Bank] = {
    "sum": mv.KernelBank.build(X, [mv.Gaussian(widths=(0.5, 2.0), on="all+each"), mv.Polynomial(on="each")]),
    "product": mv.ProductBank.build(X),
    "polynomial": mv.ParametricBank.build(X, mv.LearnedPolynomial(2)),
    "Gaussian": mv.ParametricBank.build(X, mv.LearnedGaussian()),
}


def value(bank: Bank, weights: Array, regularizer: LogDet) -> float:
    """price 1'd - sigma log det(K_d + eps I), by NumPy."""
    matrix = bank.combine(weights) + regularizer.eps * np.eye(bank.n_samples)
    return float(regularizer.price * weights.sum() - regularizer.sigma * np.linalg.slogdet(matrix)[1])


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr("mklviz.problem.regularizers.log_det._step", lambda n: 5)


@pytest.mark.parametrize("name", BANKS)
@pytest.mark.parametrize("small", [False, True])
def test_value_and_gradient_are_those_of_the_formula_however_it_is_cut(name, small, request):
    """Differences of second order at a step of 1e-5 of the weights agree with the slopes to 1e-6 of the largest."""
    if small:
        request.getfixturevalue("small_pieces")
    bank = BANKS[name]
    regularizer = LogDet(sigma=0.7, eps=0.01, price=0.3).for_bank(bank)
    weights = np.random.default_rng(0).exponential(size=len(bank)) / len(bank)
    assert regularizer.value(weights) == pytest.approx(value(bank, weights, regularizer), rel=1e-12)
    slopes = regularizer.gradient(weights)
    for k in range(len(bank)):
        move = 1e-5 * weights.mean() * np.eye(len(bank))[k]
        seen = value(bank, weights + move, regularizer) - value(bank, weights - move, regularizer)
        assert slopes[k] == pytest.approx(seen / (2.0 * move[k]), rel=1e-5, abs=1e-6 * np.abs(slopes).max())
    assert regularizer.value(-weights) == np.inf
    np.testing.assert_array_equal(regularizer.gradient(weights), slopes)  # remembered
    assert regularizer.project(np.array([-1.0, 2.0])).tolist() == [0.0, 2.0]


def reference_minimum(bank: Bank, regularizer: LogDet, C: float) -> float:
    """W of kernel ridge regression with bias, minimised by L-BFGS from equal weights with numerical gradients."""
    n = len(Y)

    def objective(weights: Array) -> float:
        system = np.block(
            [[bank.combine(weights) + np.eye(n) / C, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]]
        )
        beta = np.linalg.solve(system, np.append(Y, 0.0))[:n]
        return 0.5 * float(beta @ Y) + value(bank, weights, regularizer)

    m = len(bank)
    found = minimize(objective, np.full(m, 1 / m), method="L-BFGS-B", bounds=[(0, None)] * m, options={"ftol": 1e-14})
    return float(found.fun)


@pytest.mark.parametrize("name", BANKS)
@pytest.mark.parametrize("solver", ["spg", "pgd"])
def test_runs_end_where_another_optimiser_ends(name, solver):
    """From equal weights, where both descend into the same valley; the objective is flat to 1e-5 of itself there."""
    regularizer = LogDet(sigma=0.1, eps=0.01)
    problem = Problem(BANKS[name], Y, Squared(10.0), regularizer)
    options = {"spectral": True} if solver == "pgd" else {}
    trace = solve(problem, solver, projected_gradient=1e-5, **options)
    assert trace.status == "rule"
    assert np.isnan(trace.best.gap)
    least = reference_minimum(BANKS[name], regularizer, 10.0)
    assert trace.best.objective == pytest.approx(least, abs=1e-5 * abs(least))


def test_what_has_no_minimum_or_no_matrix_is_refused():
    plain = LogDet(price=0.0)
    for name in ("sum", "polynomial"):
        with pytest.raises(ProblemError, match="ever larger weights"):
            Problem(BANKS[name], Y, Hinge(), plain)
    for name in ("product", "Gaussian"):
        assert Problem(BANKS[name], Y, Hinge(), plain).regularizer == plain
    with pytest.raises(ProblemError, match="whole 24 x 24 kernel matrix"):
        Problem(mv.NystromBank.build(X, [mv.Gaussian()], landmarks=5), Y, Hinge(), LogDet())
    for wrong in ({"sigma": 0.0}, {"eps": -1.0}, {"price": -1.0}, {"price": np.nan}):
        with pytest.raises(ProblemError, match="must be a"):
            LogDet(**wrong)
    same = mv.KernelBank.from_grams(np.array([1e20 * np.ones((24, 24))]), normalize="none")
    with pytest.raises(ProblemError, match="Choose a larger eps"):
        Problem(same, Y, Hinge(), LogDet()).regularizer.value(np.ones(1))


def test_without_a_kernel_it_says_where_to_find_one_and_what_it_has_not_is_refused():
    alone, weights = LogDet(), np.ones(2)
    for ask in (alone.value, alone.gradient):
        with pytest.raises(UnsupportedProblem, match=r"problem\.regularizer"):
            ask(weights)
    asks = (alone.conjugate, alone.weights_from, alone.weights_from_norms, alone.block)
    for refused in (*asks, lambda weights: alone.prox(weights, 1.0)):
        with pytest.raises(UnsupportedProblem, match="followed by its gradient"):
            refused(weights)
    assert not alone.determined
    problem = Problem(BANKS["sum"], Y, Hinge(10.0), LogDet())
    assert problem.no_bound == "The log-determinant has no known dual: there is no lower bound, hence no gap."
    with pytest.raises(UnsupportedProblem, match="With the log-determinant no price"):
        lambda_max(problem)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("piece", [2, 4, 7, 9])
def test_a_determinant_is_left_between_two_pieces(piece):
    """The factor of 24 samples in steps of 5 takes five pieces, its inverse as many."""
    regularizer = LogDet().for_bank(BANKS["product"])
    with left_at(piece):
        regularizer.gradient(np.full(3, 0.1))
