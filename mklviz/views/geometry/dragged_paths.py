"""Paths of solvers from a start that is dragged: solved anew for each of its places, each within few steps and seconds.

    start d  ->  d_0 = d, d_1, ..., d_T of each solver,  T <= STEPS, or until the gap is GOAL, or the time is over

The newest start wins: what is computed for an older one is given up. Nothing here touches a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from mklviz.context.blas import one_blas_thread
from mklviz.contract import Iterate, Solver
from mklviz.engine import Run, standard_rules
from mklviz.engine.task import ProgressReport, Task
from mklviz.problem import Problem
from mklviz.record import Trace
from mklviz.typing import Array

__all__ = ["DraggedPaths", "PathsFrom", "paths_from", "why_no_start"]

STEPS = 60  # of a solver
CUT = ("limit", "stopped")  # the ends of paths that would have gone on
GOAL = 1e-3  # gap, beyond which no path moves by a pixel
SECONDS = 0.1  # CPU seconds of all solvers together, compiling not counted
LEAST = 1e-3  # seconds for a solver that comes after slow ones
SAME = 1e-6  # weights further apart than this are not the same start


@dataclass(frozen=True)
class PathsFrom:
    """The traces of the solvers that begin at `start`, by the keys of their runs, and why others have none."""

    start: Array  # (m,)
    traces: Mapping[str, Trace]
    missing: Mapping[str, str]  # sentences

    @property
    def ended(self) -> bool:
        """Whether every path has come to its end, and none was cut short."""
        return not any(trace.status in CUT for trace in self.traces.values())


class DraggedPaths:
    """The paths from the newest start; the caller looks whether the `task` has ended, and takes the answer."""

    def __init__(self, problem: Problem, solvers: Mapping[str, Solver]) -> None:
        self.problem, self.solvers = problem, dict(solvers)
        self.task = Task[PathsFrom]()

    def ask(self, start: Array, seconds: float = SECONDS) -> None:
        """Begin to compute the paths from weights (m,), within CPU seconds; an older question is given up."""
        compute = partial(paths_from, self.problem, self.solvers, start.copy(), seconds)
        self.task.ask(object(), compute, "The paths could not be computed", "Computing the paths: {}.")


def why_no_start(problem: Problem) -> str:
    """Return "" or why paths cannot begin at weights that are given alone, in a sentence."""
    if problem.regularizer.closed_form and problem.convex and not problem.regularizer.on_simplex:
        return "These solvers begin at functions, not at kernel weights, so there is no start to drag."
    return ""


def paths_from(
    problem: Problem, solvers: Mapping[str, Solver], start: Array, seconds: float, report: ProgressReport
) -> PathsFrom:
    """Return the paths from the weights `start` (m,); each solver has its share of the CPU seconds that are left."""
    traces: dict[str, Trace] = {}
    missing: dict[str, str] = {}
    began = Iterate(start, np.zeros(problem.loss.dual_shape(problem.y)), math.nan, math.nan, 0.0, 0)
    for index, (key, solver) in enumerate(solvers.items()):
        report(index / len(solvers))
        trace = _path(problem, solver, began, seconds / (len(solvers) - index))
        seconds -= trace.seconds[-1] if len(trace) else 0.0
        fault = _fault(trace, start)
        if fault:
            missing[key] = fault
        else:
            traces[key] = trace
    return PathsFrom(start, traces, missing)


def _path(problem: Problem, solver: Solver, start: Iterate, seconds: float) -> Trace:
    alike = type(solver)(**solver.options(), name=solver.name)  # its own copy: the original may be in use
    run = Run(problem, alike, standard_rules(GOAL, STEPS, max(seconds, LEAST)), start=start)
    with one_blas_thread():
        while run.advance():
            pass
    return run.trace


def _fault(trace: Trace, start: Array) -> str:
    """Return "" or why a trace shows no path from the start."""
    if not len(trace):
        return f"{trace.label}: {trace.reason}"
    apart = float(np.abs(trace[0].weights - start).sum())
    return f"{trace.label} does not begin at weights that are given." if apart > SAME else ""
