"""Every solver on a dozen points, which takes no time even where compiled functions run without the compiler.

Each proves that the optimum lies between its best bounds, so the intervals of all solvers have a point in common.
"""

from functools import cache

import numpy as np
import pytest
from _problems import FORMULATIONS, blobs, dense, formulate

from mklviz.check.solvers import certified
from mklviz.engine import available_solvers, solve
from mklviz.kernels import Gaussian, KernelBank, NystromBank, Polynomial, ProductBank
from mklviz.problem import EpsilonInsensitive, Hinge, L1Penalty, Logistic, Loss, LpPenalty, Problem, Squared
from mklviz.record import Trace

STEPS = 12
X, LABELS = blobs(12, 0.1, features=2)
FAMILIES = [Gaussian(widths=(0.5, 2.0), on="all+each"), Polynomial(degrees=(2,), on="all+each")]


@cache
def posed(kind: str) -> Problem:
    return formulate(kind, KernelBank.build(X, FAMILIES), LABELS, 10.0)


@cache
def run(solver: str, kind: str) -> Trace:
    return solve(posed(kind), solver, gap=1e-3, max_iter=STEPS)


PAIRS = [(solver, kind) for kind in FORMULATIONS for solver in available_solvers(posed(kind))]


@pytest.mark.parametrize(("solver", "kind"), PAIRS)
def test_bounds_are_those_of_the_problem_and_come_closer(solver: str, kind: str) -> None:
    trace = run(solver, kind)
    certified(posed(kind), [trace.best, trace.best_bound], -np.inf, np.inf)
    assert trace.gap[-1] < trace.gap[0] or trace.gap[-1] <= 1e-3


@pytest.mark.parametrize("kind", FORMULATIONS)
def test_the_optimum_lies_between_the_bounds_of_every_solver(kind: str) -> None:
    traces = [run(solver, kind) for solver in available_solvers(posed(kind))]
    least, most = max(trace.lower_bound.max() for trace in traces), min(trace.objective.min() for trace in traces)
    assert np.isfinite([least, most]).all()
    assert least <= most + 1e-9 * abs(most)


HINGES = [Hinge(10.0), Hinge(10.0, bias=False)]
READ = [("rows", loss) for loss in (*HINGES, EpsilonInsensitive(10.0, epsilon=0.2))]
READ += [("factors", loss) for loss in (*HINGES, Logistic(10.0), Squared(10.0))]


@pytest.mark.full
@pytest.mark.parametrize(("access", "loss"), READ, ids=str)
def test_rows_and_factors_prove_what_matrices_prove(access: str, loss: Loss) -> None:
    matrices = KernelBank.build(X, FAMILIES)
    if access == "rows":
        bank: KernelBank | NystromBank = KernelBank.build(X, FAMILIES, rows=True)
    else:
        bank = NystromBank.build(X, FAMILIES, landmarks=12)
        matrices = KernelBank.from_grams(dense(bank), normalize="none")
    assert bank.access == access
    for solver in ("spg", "closed-form"):
        found, expected = (solve(Problem(b, LABELS, loss, LpPenalty(2.0, 1.0)), solver) for b in (bank, matrices))
        assert found.best.objective == pytest.approx(expected.best.objective, rel=2e-2)  # both gaps are 1e-2
        assert found.lower_bound.max() <= expected.objective.min() * (1.0 + 1e-9)


def test_a_product_goes_down() -> None:
    trace = solve(Problem(ProductBank.build(X), LABELS, Hinge(10.0), L1Penalty(1.0)), "spg", max_iter=STEPS)
    assert trace.objective.min() < trace.objective[0]
