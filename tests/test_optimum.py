"""Every solver reaches the optimum that a general conic solver finds, and its certificate says so."""

from __future__ import annotations

from typing import Any

import pytest
from _conic import ACCURACY, dual, optimum
from _problems import MAKERS, problem
from _reference import by_clarabel, by_scs

from mklviz.engine import make_solver, solve, solver_classes

# what a method needs to be as exact as asked here: SVMs solved well below the gap where the solver does not see to it;
# cutting planes are as exact as their linear and quadratic programs, 1e-6
EXACT: dict[str, dict[str, Any]] = {
    "pgd": {"svm_tolerance": 1e-10},
    "simplemkl": {"svm_tolerance": 1e-10},
    "level": {"gap": 1e-6},
}
CASES = [
    pytest.param(solver, name, id=f"{solver}-{name}")
    for solver, kind in solver_classes().items()
    for name in MAKERS
    if kind.converges and not make_solver(solver).refusal(problem(name))
]


@pytest.mark.each_value
@pytest.mark.parametrize(("solver", "name"), CASES)
def test_every_solver_reaches_the_optimum(solver: str, name: str) -> None:
    best = optimum(name)
    trace = solve(problem(name), solver, **{"gap": 1e-7, "max_iter": 5000, **EXACT.get(solver, {})})
    assert trace.status in {"converged", "precision"}, trace.reason
    assert abs(trace.best.objective - best) <= 1e-6 * best
    assert -1.01e-6 * best <= trace.best_bound.lower_bound - best <= ACCURACY * best


@pytest.mark.full
@pytest.mark.parametrize("name", MAKERS)
def test_two_conic_solvers_agree(name: str) -> None:
    """Asked for what each always reaches, whatever the last digit of the data."""
    posed = dual(problem(name))
    clarabel, scs = by_clarabel(posed, 1e-6), by_scs(posed, 1e-6)
    assert clarabel == pytest.approx(scs, rel=1e-5)  # asked for 1e-6, where gap and violations add up
    assert optimum(name) == pytest.approx(scs * problem(name).loss.C, rel=1e-5)
