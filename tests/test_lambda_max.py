"""lambda_max: the least price at which the zero function is optimal, against its meaning and against a conic solver.

lambda_max = min ||beta||_{K_k}, the largest of all k,  over  beta_i in C dl(b0) for every best bias b0,  1'beta = 0
"""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from _conic import _root
from _problems import Array, blobs, dense, random_grams, small_bank
from _reference import optimal_value

import mklviz as mv
from mklviz.engine import solve, with_parameter
from mklviz.errors import UnsupportedProblem
from mklviz.kernels import Gaussian, KernelBank, NystromBank
from mklviz.problem import Loss, Regularizer

X, LABELS = blobs(40, 0.2)
BANK = small_bank(X)
RARE = np.where(np.random.default_rng(0).permutation(40) < 9, 1.0, -1.0)
NUMBERS = LABELS + 0.3 * np.sin(np.arange(40.0))
ROUNDED = np.round(NUMBERS, 1)

NULL_MODELS: dict[str, tuple[Loss, Array]] = {
    "hinge, equal classes": (mv.Hinge(3.0), np.where(np.arange(40) % 2 == 0, 1.0, -1.0)),
    "hinge, one class rare": (mv.Hinge(3.0), RARE),
    "hinge without bias": (mv.Hinge(3.0, bias=False), RARE),
    "logistic": (mv.Logistic(3.0), RARE),
    "logistic without bias": (mv.Logistic(3.0, bias=False), RARE),
    "squared": (mv.Squared(3.0), NUMBERS),
    "squared without bias": (mv.Squared(3.0, bias=False), NUMBERS),
    "epsilon-insensitive": (mv.EpsilonInsensitive(3.0, epsilon=0.2), NUMBERS),
    "epsilon-insensitive without bias": (mv.EpsilonInsensitive(3.0, epsilon=0.2, bias=False), NUMBERS),
    "epsilon-insensitive, many targets on a kink": (mv.EpsilonInsensitive(3.0, epsilon=1.0), np.round(3.0 * NUMBERS)),
    "epsilon-insensitive, rounded targets": (mv.EpsilonInsensitive(3.0, epsilon=0.1), ROUNDED),
    "epsilon-insensitive, rounded targets, no bias": (mv.EpsilonInsensitive(3.0, epsilon=0.8, bias=False), ROUNDED),
    "absolute error, rounded targets": (mv.EpsilonInsensitive(3.0, epsilon=0.0), np.round(NUMBERS)),
    "multiclass hinge": (mv.MulticlassHinge(3.0), np.arange(40.0) % 3),
    "one against all": (mv.OneAgainstAllHinge(3.0), np.arange(40.0) % 3),
}
PRICES: dict[str, Regularizer] = {
    "lam": mv.BlockL1(1.0),
    "sigma": mv.L1Penalty(1.0),
    "l1": mv.ElasticNet(1.0, 1.0),
    "alpha": mv.GroupSquaredPlusL1(1.0, 1.0),
}


@pytest.mark.each_value("release")
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", NULL_MODELS)
def test_zero_is_the_solution_from_lambda_max_on_and_not_below(name: str, price: str) -> None:
    loss, y = NULL_MODELS[name]
    base = mv.Problem(BANK, y, loss, PRICES[price])
    largest = mv.lambda_max(base)
    above = solve(with_parameter(base, price, largest * (1.0 + 1e-5)), "closed-form", gap=1e-7, max_iter=300)
    zero = base.zero_objective
    # no bound of the run, and so no function, is below the zero function
    assert above.objective.min() >= zero * (1.0 - 1e-9)
    below = solve(with_parameter(base, price, largest * 0.97), "closed-form", gap=1e-9, max_iter=300)
    assert below.objective.min() < zero * (1.0 - 1e-9)


# random problems


def subgradients(loss: mv.Hinge | mv.EpsilonInsensitive, y: Array, bias: float) -> tuple[Array, Array]:
    """Bounds of ``-C dl(y_i, bias)``; the distances below are multiples of 0.01 or zero."""
    if isinstance(loss, mv.Hinge):
        beyond = 1.0 - y * bias
        low, high = loss.C * (beyond > 1e-9), loss.C * (beyond > -1e-9)
        return np.where(y > 0.0, low, -high), np.where(y > 0.0, high, -low)
    r, e = y - bias, loss.epsilon
    low = 1.0 * (r > e + 1e-9) - 1.0 * (r < -e + 1e-9)
    high = 1.0 * (r > e - 1e-9) - 1.0 * (r < -e - 1e-9)
    return loss.C * low, loss.C * high


def best_biases(loss: mv.Hinge | mv.EpsilonInsensitive, y: Array) -> list[float]:
    """The bends of the loss in the bias at which it is least."""
    if not loss.bias:
        return [0.0]
    bends = (
        np.unique(y) if isinstance(loss, mv.Hinge) else np.unique(np.concatenate([y - loss.epsilon, y + loss.epsilon]))
    )
    values = np.array([loss.value(np.full(len(y), b), y) for b in bends])
    return list(bends[values <= values.min() * (1.0 + 1e-12)])


def column(beta: cp.Expression, loss: mv.Hinge | mv.EpsilonInsensitive, y: Array) -> list[cp.Constraint]:
    bounds = [subgradients(loss, y, bias) for bias in best_biases(loss, y)]
    limits = [beta >= np.max([low for low, _ in bounds], axis=0), beta <= np.min([high for _, high in bounds], axis=0)]
    return [*limits, cp.sum(beta) == 0.0] if loss.bias else limits


def by_conic(posed: mv.Problem) -> float:
    loss, y = posed.loss, posed.y
    beta, top = cp.Variable(loss.dual_shape(y)), cp.Variable()
    limits = [cp.norm(cp.vec(_root(gram).T @ beta, order="C")) <= top for gram in dense(posed.bank)]
    if isinstance(loss, mv.MulticlassHinge):
        own = np.eye(3)[y.astype(int)]
        limits += [beta <= loss.C * own, cp.sum(beta, axis=1) == 0.0, cp.multiply(own, beta) == loss.C * own]
    elif isinstance(loss, mv.OneAgainstAllHinge):
        for k in range(3):
            limits += column(beta[:, k], mv.Hinge(loss.C, bias=loss.bias), np.where(y == k, 1.0, -1.0))
    else:
        assert isinstance(loss, (mv.Hinge, mv.EpsilonInsensitive))
        limits += column(beta, loss, y)
    return optimal_value(cp.Problem(cp.Minimize(top), limits))


def random_case(kind: str, seed: int) -> mv.Problem:
    """A rare class, rounded and tied targets, or unequal classes; kernels of unequal size, C of any size."""
    rng = np.random.default_rng(seed)
    n, C, bias = int(rng.integers(12, 40)), 10.0 ** rng.uniform(-3, 3), bool(seed % 4)
    points = rng.normal(size=(n, 2))
    grams = [10.0 ** rng.uniform(-2, 2) * gram for gram in random_grams(4, n, seed)]
    bank = small_bank(points) if seed % 2 else KernelBank.from_grams(grams)
    if kind == "hinge":
        y = np.where(rng.random(n) < rng.uniform(0.1, 0.9), 1.0, -1.0)
        y[:2] = 1.0, -1.0
        return mv.Problem(bank, y, mv.Hinge(C, bias=bias), mv.BlockL1(1.0))
    if kind == "epsilon-insensitive":
        y = np.round(points[:, 0] + 0.4 * rng.normal(size=n), int(rng.integers(0, 3)))
        epsilon = (0.0, 0.1, 0.5, 1.0)[int(rng.integers(4))]
        return mv.Problem(bank, y, mv.EpsilonInsensitive(C, epsilon, bias=bias), mv.BlockL1(1.0))
    y = rng.integers(0, 3, n).astype(float)
    y[:3] = 0.0, 1.0, 2.0
    return mv.Problem(
        bank, y, mv.MulticlassHinge(C) if kind == "multiclass" else mv.OneAgainstAllHinge(C, bias=bias), mv.BlockL1()
    )


@pytest.mark.each_value
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["hinge", "epsilon-insensitive", "multiclass", "one against all"])
def test_it_is_what_a_conic_solver_finds(kind: str, seed: int) -> None:
    posed = random_case(kind, seed)
    assert mv.lambda_max(posed) == pytest.approx(by_conic(posed), rel=1e-5)  # proved to 1e-5 in max s


@pytest.mark.full
def test_targets_in_any_unit_and_from_any_origin_have_the_same_face() -> None:
    loss = mv.EpsilonInsensitive(3.0, epsilon=0.1)
    expected = mv.lambda_max(mv.Problem(BANK, ROUNDED, loss, mv.BlockL1(1.0)))
    for scale, origin in [(1e-9, 0.0), (1e9, 0.0), (1.0, 1e5), (1e-3, 7.0)]:
        moved = mv.Problem(BANK, scale * ROUNDED + origin, replace(loss, epsilon=0.1 * scale), mv.BlockL1(1.0))
        assert mv.lambda_max(moved) == pytest.approx(expected, rel=2e-5)  # two runs, each proved to 1e-5


def test_lambda_max_is_in_proportion_to_c_and_approximate_kernels_have_one_too() -> None:
    base = mv.Problem(BANK, RARE, mv.Hinge(3.0), mv.BlockL1(1.0))
    assert mv.lambda_max(with_parameter(base, "C", 300.0)) == pytest.approx(100.0 * mv.lambda_max(base), rel=1e-12)
    families = [Gaussian(widths=(1.0, 2.0), on="all+each")]
    near, exact = NystromBank.build(X, families, landmarks=len(X)), KernelBank.build(X, families)
    found, wanted = (mv.lambda_max(mv.Problem(bank, RARE, mv.Hinge(3.0), mv.BlockL1(1.0))) for bank in (near, exact))
    assert found == pytest.approx(wanted, rel=2e-5)  # two runs, each proved to 1e-5


@pytest.mark.parametrize("regularizer", [mv.Simplex(), mv.LpPenalty(2.0, 1.0)])
def test_other_prices_have_no_lambda_max(regularizer: Regularizer) -> None:
    with pytest.raises(UnsupportedProblem, match="no price makes all kernel weights zero"):
        mv.lambda_max(mv.Problem(BANK, RARE, mv.Hinge(3.0), regularizer))
