"""Every solver reaches the optimum that a general conic solver finds, and its certificate says so."""

from __future__ import annotations

import pytest
from _conic import ACCURACY, optimum
from _problems import MAKERS, problem

from mklviz.engine import MaxIter, Trace, make_solver, solve, solver_classes
from mklviz.problem import Simplex

CASES = [
    pytest.param(solver, name, id=f"{solver}-{name}")
    for solver in solver_classes()
    for name in MAKERS
    if not make_solver(solver).supports(problem(name))
]


def run(solver: str, name: str) -> Trace:
    return solve(problem(name), solver, gap=1e-7, max_iter=5000)


@pytest.mark.parametrize(("solver", "name"), CASES)
def test_every_solver_reaches_the_optimum(solver: str, name: str) -> None:
    trace = run(solver, name)
    slack = max(1e-6, ACCURACY) * abs(optimum(name))
    assert trace.final.gap <= 1e-6
    assert abs(trace.final.objective - optimum(name)) <= slack
    assert abs(trace.final.lower_bound - optimum(name)) <= slack
