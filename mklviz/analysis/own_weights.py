"""Kernel weights that a person sets, and what they are worth.

    above(d) = (W(d) - D*) / |W(d)|,  W(d) = J(d) + r(d),  D* the best lower bound that any solver has proved

The newest weights win: what is computed for older ones is given up. Nothing here touches a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from mklviz.analysis.curves import RunCurve
from mklviz.analysis.decisions import Lines
from mklviz.context.blas import one_blas_thread
from mklviz.contract import Iterate
from mklviz.engine.task import ProgressReport, Task
from mklviz.inner import SvmOracle
from mklviz.problem import Problem
from mklviz.problem.proving import relative_gap
from mklviz.record import Trace
from mklviz.typing import Array, Indices

__all__ = [*("MOST_BARS", "YOURS", "Mix", "Mixer", "above", "mix_lines", "mixed_kernels", "standing", "why_no_start")]


def why_no_start(problem: Problem) -> str:
    """Return "" or why paths cannot begin at weights that are given alone, in a sentence."""
    if problem.regularizer.closed_form and problem.convex and not problem.regularizer.on_simplex:
        return "These solvers begin at functions, not at kernel weights, so there is no start to drag."
    return ""


MOST_BARS = 12  # kernels that can be mixed
YOURS = "Your mix"
TOLERANCE = 1e-4  # of the inner problem


@dataclass(frozen=True)
class Mix:
    """Weights with what they are worth: a certified iterate, its score on the test samples, and its decision."""

    iterate: Iterate
    score: float
    boundary: Lines  # where f is zero, for samples in the plane


class Mixer:
    """Solves the problem at the newest weights of a few `kernels`; the others have none."""

    def __init__(
        self,
        problem: Problem,
        kernels: Indices,
        score: Callable[[Iterate], float],
        boundary: Callable[[Iterate], Lines],
    ) -> None:
        self.problem, self.kernels = problem, kernels
        self.task = Task[Mix](Lock())  # one solve after the other begins at the end of the last
        self._score, self._boundary = score, boundary
        self._oracle = SvmOracle(problem, TOLERANCE)

    def ask(self, shares: Sequence[float]) -> None:
        """Begin to solve at the allowed weights nearest to what the bars say; what is solved at others is given up."""
        weights = np.zeros(self.problem.m)
        weights[self.kernels] = shares
        allowed = self.problem.regularizer.project(weights)
        self.task.ask(object(), lambda report: self._mix(allowed, report), "Your mix could not be solved")

    def _mix(self, weights: Array, report: ProgressReport) -> Mix:
        report(0.0)
        with one_blas_thread():
            iterate = self._oracle.iterate(self._oracle.solve(weights), 0.0)
            return Mix(iterate, self._score(iterate), self._boundary(iterate))


def mixed_kernels(traces: Mapping[str, Trace]) -> Indices:
    """Return the kernels to mix: all of a few, the heaviest in any run of many, in the order of the bank."""
    largest = np.max([trace.best.weights for trace in traces.values() if len(trace)], axis=0)
    return np.sort(np.argsort(-largest, kind="stable")[:MOST_BARS])


def above(objective: float, traces: Mapping[str, Trace]) -> float:
    """Return how far an objective is above the best bound that is proved, not below zero, where rounding decides."""
    bound = max(trace.best_bound.lower_bound for trace in traces.values() if len(trace))
    return max(relative_gap(objective, bound), 0.0)


def mix_lines(mine: float | None, traces: Mapping[str, Trace]) -> list[RunCurve]:
    """Return the curves of how far each solver is above the bound at its steps, and the mix across."""
    curves = []
    for key, trace in traces.items():
        share = [above(value, traces) for value in trace.objective]
        curves.append(RunCurve(key, range(trace.first_step, trace.last_step + 1), share))
    if mine is not None:
        last = float(max(trace.last_step for trace in traces.values()))
        curves.append(RunCurve(YOURS, [0.0, last], [mine, mine], mark=(last, mine)))
    return curves


def standing(mine: float, traces: Mapping[str, Trace]) -> str:
    """Say at which step each solver first gets lower than a mix that is so far above the bound."""
    sentences = []
    for trace in traces.values():
        lower = [t for t, value in enumerate(trace.objective) if above(value, traces) < mine]
        if not lower:
            sentences.append(f"You beat {trace.label}: none of its steps is lower.")
        else:
            sentences.append(f"{trace.label} first gets lower at step {trace.first_step + lower[0]:,}.")
    return " ".join(sentences)
