"""OGAProx: its projection against the optimality conditions, passes that are counted, and what averages are for."""

import numpy as np
import pytest
from _conic import optimum
from _problems import problem

from mklviz.engine import make_solver, solve
from mklviz.inner.conjugates import onto_balanced_box
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, Problem
from mklviz.record import Trace
from mklviz.solvers import ogaprox
from mklviz.solvers.ogaprox import OgaProxFacts

WHERE = "blobs, C = 100"


def run(**options: object) -> Trace:
    return solve(problem(WHERE), "ogaprox", **{"gap": 1e-7, "max_iter": 1000, **options})


@pytest.mark.parametrize("longer", [1e8, 1e16, 1e30])
def test_projections_of_points_far_beyond_the_box_balance_as_well(longer: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
        lower, upper = np.minimum(3.0 * y, 0.0), np.maximum(3.0 * y, 0.0)
        found = onto_balanced_box(longer * (y + 0.1 * rng.normal(size=20)), lower, upper)
        assert ((lower <= found) & (found <= upper)).all()
        assert abs(found.sum()) <= 1e-13 * np.abs(found).sum()
        assert np.abs(found).sum() == pytest.approx(6.0 * min((y > 0).sum(), (y < 0).sum()))


@pytest.mark.parametrize("C", [1e-10, 1e-6])
def test_boxes_may_be_tiny_beside_the_steps(C: float) -> None:
    posed = problem(WHERE)
    grams = [1e-6 * posed.bank.combine(unit) for unit in np.eye(posed.m)]
    tiny = Problem(KernelBank.from_grams(grams, precision="double"), posed.y, Hinge(C))
    trace = solve(tiny, "ogaprox", gap=1e-2, max_iter=10)
    assert trace.status == "converged"
    assert trace.best.objective == pytest.approx(2.0 * C * min((posed.y > 0).sum(), (posed.y < 0).sum()), rel=1e-2)


def test_it_solves_no_svm_and_ends_at_the_optimum_by_one_pass_over_the_kernels_a_step_and_one_more_in_ten() -> None:
    trace = run()
    assert trace.status == "converged"
    assert trace.best.objective == pytest.approx(optimum(WHERE), rel=1e-6)
    assert trace.final.svm_solves == 0
    passes = trace.fact("kernel_passes")
    assert passes[0] == 1.0
    np.testing.assert_array_equal(np.diff(passes), ogaprox.STEPS + 1.0)


def test_the_average_is_of_all_steps_and_shown_where_steps_too_long_circle() -> None:
    usual, long = run(), run(balance=1e3, max_iter=40)
    np.testing.assert_array_equal(long.fact("averaged"), ogaprox.STEPS * np.arange(len(long)))
    shown = [[OgaProxFacts.of(iterate).shown for iterate in trace[1:]] for trace in (usual, long)]
    assert set(shown[0]) | set(shown[1]) == {"average", "last"}
    assert shown[1].count("average") / len(shown[1]) > shown[0].count("average") / len(shown[0])


def test_problems_that_are_no_games_on_the_simplex_are_refused() -> None:
    assert "on the simplex" in make_solver("ogaprox").refusal(problem("linear penalty, blobs"))
