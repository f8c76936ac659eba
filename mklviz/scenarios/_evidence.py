"""What several lessons compute for their pictures: the objective on straight ways, and SVM solves in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mklviz.contract import Array
from mklviz.engine import objective_profile
from mklviz.problem import Problem
from mklviz.record import Trace

__all__ = ["best_of", "counted_solves", "objective_along", "objective_on_triangle", "trials"]

ON_A_WAY, ON_A_SIDE = 25, 17  # points of a way, and of a side of a triangle


def best_of(traces: Sequence[Trace]) -> Trace:
    """Return the run that found the least objective."""
    return min(traces, key=lambda trace: trace.best.objective)


def trials(trace: Trace) -> float:
    """Return the SVM solves of a step, on average."""
    return (trace.final.svm_solves - trace[0].svm_solves) / max(len(trace) - 1, 1)


def counted_solves(traces: Sequence[Trace]) -> str:
    """Return how many SVMs each run solved, in words."""
    return ", ".join(f"{trace.label} {trace.final.svm_solves:,}" for trace in traces)


def objective_along(problem: Problem, stops: Sequence[Array]) -> dict[str, list[float]]:
    """Return the objective on the straight way from each stop to the next; a stop has a whole number as its place."""
    place, objective = [0.0], []
    for leg, (one, other) in enumerate(pairwise(stops)):
        profile = objective_profile(problem, one, other, points=ON_A_WAY)
        objective += profile.values[1 if leg else 0 :].tolist()
        place += (leg + profile.shares[1:]).tolist()
    return {"place": place, "objective": objective}


def objective_on_triangle(problem: Problem) -> dict[str, list[list[float]]]:
    """Return the objective of three kernels; row i from the side where the first has i/16 of the weight.

    A row goes from the third kernel to the second, each with its share of the rest.
    """
    rows = []
    for first in np.linspace(0.0, 1.0, ON_A_SIDE):
        ends = np.array([[first, 0.0, 1.0 - first], [first, 1.0 - first, 0.0]])
        rows.append(objective_profile(problem, ends[0], ends[1], points=ON_A_SIDE).values.tolist())
    return {"objective": rows}
