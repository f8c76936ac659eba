"""The referee: P and D by independent formulas, P >= optimum >= D at any point whatever, and labels that fit."""

import numpy as np
import pytest
from _formulations import random_feasible
from _problems import blobs, dense, problem, small_bank

from mklviz.errors import ProblemError
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, L1Penalty, Problem, Simplex

RNG = np.random.default_rng(5)
REGULARIZERS = [Simplex(), L1Penalty(0.05), L1Penalty(2.0), L1Penalty(300.0)]


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_objective_and_bound_agree_with_their_formulas(C: float, regularizer: Simplex | L1Penalty) -> None:
    X, y = blobs(24, 0.2, seed=1)
    posed = Problem(small_bank(X), y, Hinge(C), regularizer)
    K = dense(posed.bank)
    for _ in range(20):
        a = random_feasible(posed, RNG)
        d = RNG.dirichlet(np.ones(posed.m))
        signed = a * y
        scores = np.tensordot(d, K, 1) @ signed
        s = np.einsum("i,kij,j->k", signed, K, signed)
        loss = min(np.maximum(0.0, 1.0 - y * (scores + bias)).sum() for bias in y - scores)
        objective = 0.5 * d @ s + C * loss
        if isinstance(regularizer, L1Penalty):
            objective += regularizer.sigma * d.sum()
            tau = min(1.0, np.sqrt(2.0 * regularizer.sigma / s.max()))
            bound = tau * a.sum()
            assert (tau**2 * s <= 2.0 * regularizer.sigma * (1 + 1e-12)).all()  # the scaled point is feasible
        else:
            bound = a.sum() - 0.5 * s.max()
        assert posed.objective(d, a) == pytest.approx(objective, rel=1e-11)
        assert posed.lower_bound(a) == pytest.approx(bound, rel=1e-11, abs=1e-11 * a.sum())
        assert posed.lower_bound(a, posed.bank.quad(signed)) == posed.lower_bound(a)
        assert posed.primal(d, scores, float(signed @ scores)) == pytest.approx(objective, rel=1e-11)
        assert posed.gap(d, a) == pytest.approx((objective - bound) / objective, rel=1e-9)


def test_zero_is_a_point_like_any_other() -> None:
    posed = problem("blobs, C = 1")
    zero = np.zeros(posed.n)
    assert posed.lower_bound(zero) == 0.0
    fewer = min((posed.y > 0).sum(), (posed.y < 0).sum())
    assert posed.objective(posed.regularizer.start(posed.m), zero) == 2.0 * fewer


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a, C: a - 0.6 * C,
        lambda a, C: a + C,
        lambda a, C: np.where(np.arange(len(a)) == np.argmin(a), a + 0.1 * C, a),
        lambda a, C: np.where(np.arange(len(a)) == 0, np.nan, a),
        lambda a, C: a[:-1],
        lambda a, C: np.full_like(a, np.inf),
    ],
)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_infeasible_dual_points_get_no_bound(spoil: object, C: float) -> None:
    X, y = blobs(12, seed=2)
    posed = Problem(small_bank(X), y, Hinge(C))
    a = np.full(12, 0.5 * C)
    assert np.isfinite(posed.lower_bound(a))
    with pytest.raises(ProblemError, match="must lie in"):
        posed.lower_bound(spoil(a, C))  # type: ignore[operator]


def bank(n: int = 4) -> KernelBank:
    return KernelBank.from_grams([np.eye(n)])


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([1, -1, 1], "bank has 4 samples, but y has 3"),
        ([1, 1, 1, 1], r"All labels are \+1"),
        ([0, 1, 0, 1], r"labels -1 and \+1, but y holds 0, 1"),
        ([1, -1, np.nan, 1], "y holds -1, 1, nan"),
        (["a", "b", "a", "b"], "must be numbers"),
    ],
)
def test_labels_that_do_not_fit_are_refused(y: list[object], says: str) -> None:
    with pytest.raises(ProblemError, match=says) as caught:
        Problem(bank(), np.array(y))
    assert str(caught.value).endswith(".")


def test_defaults_are_the_hinge_loss_on_the_simplex_and_labels_are_copied_flattened_and_cannot_be_written() -> None:
    y = np.array([[1], [-1], [1], [-1]])
    posed = Problem(bank(), y)  # type: ignore[arg-type]
    y[:] = 1
    np.testing.assert_array_equal(posed.y, [1.0, -1.0, 1.0, -1.0])
    assert posed.y.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        posed.y[0] = -1.0
    assert (posed.loss, posed.regularizer, posed.m, posed.n) == (Hinge(1.0), Simplex(), 1, 4)
