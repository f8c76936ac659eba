"""Very many points behind few columns, as in the scenario of half a million: work is counted, in passes over the data.

Labels are noisy and C is large, so that there is always a sample whose optimality condition is violated.
"""

from __future__ import annotations

from functools import cache

import pytest

import mklviz as mv
from mklviz.inner import factors
from mklviz.kernels import Nystrom
from mklviz.problem import Problem
from mklviz.scenarios import load_scenario

MOST_STEPS = {"closed-form": 150, "spg": 300}  # steps in single variables to the scenario's gap, in passes over all
MOST_LOOKS = {"closed-form": 100, "spg": 150}  # passes over all factors for an exact look


@cache
def posed() -> Problem:
    recipe = load_scenario("half-a-million").recipe.changed(approximation=Nystrom(100))
    return recipe.prepare(mv.load_dataset("covertype_like", n=40_000)).problem


class Count:
    """Steps and looks of the solver of an SVM on factors."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.steps = self.looks = 0
        sweep, measure = factors.sweep, factors.HingeFactors._measure

        def counted_sweep(rows, order, *rest):  # type: ignore[no-untyped-def]
            self.steps += len(order)
            return sweep(rows, order, *rest)

        def counted_look(inner, *rest):  # type: ignore[no-untyped-def]
            self.looks += 1
            return measure(inner, *rest)

        patch.setattr(factors, "sweep", counted_sweep)
        patch.setattr(factors.HingeFactors, "_measure", counted_look)


@pytest.mark.parametrize("solver", ["closed-form", pytest.param("spg", marks=pytest.mark.full)])
def test_a_race_on_many_points_takes_few_passes(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, problem = Count(monkeypatch), posed()
    trace = mv.solve(problem, solver, gap=1e-3)
    assert trace.status == "converged"
    assert count.steps <= MOST_STEPS[solver] * problem.n
    assert count.looks <= MOST_LOOKS[solver]
