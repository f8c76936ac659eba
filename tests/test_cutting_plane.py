"""The cutting plane model's linear program against scipy's, and SILP on top of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from _problems import problem
from scipy.optimize import linprog

from mklviz.contract import Array, Iterate
from mklviz.errors import SolverError
from mklviz.inner.averaging import cut_of
from mklviz.inner.oracle import SvmOracle
from mklviz.solvers._cutting_plane import CuttingPlaneModel, next_tolerance
from mklviz.solvers.silp import Silp


def random_cuts(J: int, m: int, seed: int) -> Array:
    """Return cuts as kernels give them: a common intercept each, less what the kernel explains."""
    rng = np.random.default_rng(seed)
    return rng.uniform(1.0, 3.0, (J, 1)) - rng.exponential(size=(J, m))


def filled(cuts: Array, purge: bool = False) -> CuttingPlaneModel:
    model = CuttingPlaneModel(cuts.shape[1], purge)
    for cut in cuts:
        model.add(cut)
    return model


def lowest(cuts: Array) -> float:
    """Return the minimum of the model from scipy's linear program, solved from scratch."""
    J, m = cuts.shape
    scale = np.abs(cuts).max()
    result = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.column_stack([cuts / scale, -np.ones(J)]),
        b_ub=np.zeros(J),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(result.fun) * scale


def first(solver: Silp, name: str, count: int) -> list[Iterate]:
    return list(itertools.islice(solver.iterates(problem(name)), count))


@pytest.mark.parametrize(("J", "m"), [(1, 1), (1, 7), (5, 3), (20, 40), (60, 20)])
@pytest.mark.parametrize("seed", range(5))
def test_theta_is_the_minimum_of_the_model(J: int, m: int, seed: int) -> None:
    cuts = random_cuts(J, m, seed)
    model = filled(cuts)
    theta, d, multipliers = model.minimize()
    assert theta == pytest.approx(lowest(cuts), rel=1e-8, abs=1e-8)
    # both sides of the duality of a linear program: the vertex reaches what the multipliers prove
    assert model.value(d) == pytest.approx(theta, rel=1e-8, abs=1e-8)
    assert model.bound(multipliers) == pytest.approx(theta, rel=1e-8, abs=1e-8)
    assert d.min() >= 0.0
    assert d.sum() == pytest.approx(1.0, abs=1e-12)


def test_purging_keeps_the_binding_cuts_and_the_monotone_bound() -> None:
    model = CuttingPlaneModel(20, purge=True)
    kept_all = CuttingPlaneModel(20)
    found = []
    for cut in random_cuts(300, 20, seed=9):
        model.add(cut)
        kept_all.add(cut)
        found.append(model.minimize().theta)
    assert len(model) <= 101  # at most 20 cuts bind
    assert np.all(np.diff(found) >= 0.0)
    assert found[-1] <= kept_all.minimize().theta + 1e-9


def test_a_cut_that_is_not_finite_is_refused() -> None:
    with pytest.raises(SolverError, match="3 finite numbers"):
        CuttingPlaneModel(3).add(np.array([1.0, np.nan, 2.0]))


def test_a_model_without_cuts_has_no_minimum() -> None:
    with pytest.raises(SolverError, match="no cut yet"):
        CuttingPlaneModel(3).minimize()


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8])
def test_a_cut_lies_below_the_objective_however_rough_the_svm(tol: float) -> None:
    posed = problem("noisy blobs, C = 10")
    rng = np.random.default_rng(0)
    oracle = SvmOracle(posed, tol)
    cut = cut_of(oracle.solve(posed.regularizer.start(posed.m)))
    for d in rng.dirichlet(np.ones(posed.m), size=5):
        assert float(cut @ d) <= oracle.solve(d, 1e-10).primal


def test_the_svm_is_tightened_when_its_error_is_as_large_as_the_gap_of_the_model() -> None:
    posed = problem("noisy blobs, C = 10")
    point = SvmOracle(posed, 1e-1).solve(posed.regularizer.start(posed.m))
    error = point.primal - point.value
    assert error > 0.0
    assert next_tolerance(point, 5.0 * error) == pytest.approx(1e-2)
    assert next_tolerance(point, 20.0 * error) == 1e-1


@pytest.mark.parametrize("name", ["noisy blobs, C = 10", "random Gram matrices", "pima", "four identical kernels"])
def test_silp_promises_lower_bounds_that_never_fall_and_meet_the_objective(name: str) -> None:
    path = first(Silp(), name, 200)
    promised = np.array([iterate.facts.lp_value for iterate in path[1:]])
    best = min(iterate.objective for iterate in path)
    assert np.all(np.diff(promised) >= 0.0)
    assert promised.max() <= best
    assert best - promised.max() <= 1e-2 * best


def test_a_failing_linear_program_keeps_the_weights_and_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("_play", "_run"):
        monkeypatch.setattr(CuttingPlaneModel, method, lambda _: None)
    path = first(Silp(), "random Gram matrices", 5)
    assert len(path) == 2
    np.testing.assert_array_equal(path[1].weights, path[0].weights)
    assert "could not be solved" in path[1].end.reason
    assert "failed" in Silp().narrate(path[0], path[1])
