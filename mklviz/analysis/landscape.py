"""The objective W(d) = J(d) + r(d) at the nodes of a map, and at weights that a person sets.

Each inner problem of a map begins at its neighbour's end.

A height is the certified upper bound of an inner problem that is solved until it is off by less than anybody sees: by a
share of the range of the heights, or where they hardly differ, of the least range that a picture shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

import numpy as np

from mklviz.analysis.curves import RunCurve
from mklviz.analysis.decisions import Lines
from mklviz.analysis.weight_map import STAGES, Key, MapPoint, Mesh, WeightMap, point_of
from mklviz.context.blas import one_blas_thread
from mklviz.contract import Iterate
from mklviz.engine import Race
from mklviz.engine.task import ProgressReport, Task
from mklviz.inner.oracle import FINEST, SvmOracle, needs_known_loss
from mklviz.problem import Problem
from mklviz.problem.proving import relative_gap
from mklviz.record import Trace
from mklviz.typing import Array, Indices

TOLERANCE = 1e-2  # of the first inner problem
RESOLUTION = 1e-5  # of the range of heights, by which one may be off: bends of a 65th of a curve are larger
FLAT = 1e-3  # of a height, below which no range is drawn larger


def no_heights(problem: Problem) -> str:
    """Return "" or why the height of a map cannot be computed."""
    return needs_known_loss(problem, "A map")


class Landscape:
    """A map that becomes finer.

    `stage` is the finest that is complete, -1 before the first, `heights` has the objective at each known node, and
    `oracle` is what solves for it, None before the first.
    """

    def __init__(self, problem: Problem, map_: WeightMap) -> None:
        self.problem, self.map, self.stage = problem, map_, -1
        self.heights: dict[Key, float] = {}
        self.oracle: SvmOracle | None = None
        self._low, self._high = np.inf, -np.inf  # the range of heights

    @property
    def finished(self) -> bool:
        """Whether there is no finer stage."""
        return self.stage + 1 >= STAGES

    def refine(self, report: Callable[[float], None]) -> Mesh:
        """Complete the next stage and return it; `report` takes the fraction done, and may raise to stop."""
        stage = self.stage + 1
        missing = [key for key in self.map.nodes(stage) if key not in self.heights]
        if self.oracle is None:
            self.oracle = SvmOracle(self.problem, TOLERANCE)
        with one_blas_thread():
            for count, key in enumerate(missing):
                report(count / len(missing))
                self.heights[key] = self._height(self.oracle, self.map.weights_at(key))
        self.stage = stage
        return self.mesh

    def finest(self) -> Mesh:
        """Complete all stages and return the last."""
        while not self.finished:
            self.refine(lambda _: None)
        return self.mesh

    def _height(self, oracle: SvmOracle, weights: Array) -> float:
        """Return the objective at `weights`, solved as finely as the range of heights asks, and so from now on."""
        point = oracle.solve(weights)
        if not np.isfinite(point.primal):  # outside the weights allowed: drawn as high as the highest
            return point.primal
        self._low, self._high = min(self._low, point.primal), max(self._high, point.primal)
        range_ = max(self._high - self._low, FLAT * abs(point.primal))
        while point.error > RESOLUTION * range_ and oracle.tol > FINEST:
            oracle.tol = max(0.1 * oracle.tol, FINEST)
            point = oracle.solve(weights)
        return point.primal

    @property
    def mesh(self) -> Mesh:
        """The finest stage that is complete; where the objective is infinite, as high as the highest."""
        x, y, z = self.map.mesh(self.stage, self.heights.__getitem__)
        finite = np.isfinite(z)
        return x, y, np.where(finite, z, z[finite].max() if finite.any() else 0.0)


ONE_MAP = Lock()  # is computed at a time in a process, however many people look at theirs
Sheet = tuple[Mesh, list[MapPoint]]


class Survey:
    """The map that is being drawn; nothing here touches the page.

    `sheet` is the finest map so far, its mesh and its nodes with their texts, and `stage` says how fine it is,
    -1 before the first. The `task` computes one stage after the other.
    """

    def __init__(self) -> None:
        self.map: WeightMap | None = None
        self.sheet: Sheet | None = None
        self.stage = -1
        self.task = Task[tuple[int, Sheet]](ONE_MAP)
        self.landscape: Landscape | None = None
        self._refusal = ""

    def progress(self, doing: str) -> str:
        """Say how far the stage is, or why there is no map or no finer one."""
        if self.task.working:
            return f"{doing} the objective: {100 * self.task.fraction:.0f} % of the points."
        return self._refusal or self.task.fault

    def begin(self, race: Race, map_: WeightMap) -> None:
        """Turn to another map."""
        self.clear()
        self.map, self._refusal = map_, race.missing or no_heights(race.problem)
        if not self._refusal:
            self.landscape = Landscape(race.problem, map_)

    def update(self, idle: bool) -> bool:
        """Take a finished stage, or begin the next: the first at once, finer ones when `idle`."""
        finer = self.task.take()
        if finer is not None:
            self.stage, self.sheet = finer
        elif self.landscape is not None and self.stage + 1 < STAGES and (idle or self.stage < 0):
            sheet = partial(_sheet, self.landscape, self.stage)
            self.task.ask(self.stage, sheet, "The map could not be computed")
        return finer is not None

    def rest(self) -> None:
        """Stop computing until the next update; known heights stay."""
        if self.task.working:
            self.task.forget()

    def clear(self) -> None:
        """Forget the map."""
        self.task.forget()
        self.map, self.sheet, self.landscape = None, None, None
        self.stage, self._refusal = -1, ""


def _sheet(landscape: Landscape, drawn: int, report: ProgressReport) -> tuple[int, Sheet]:
    """Return the stage after the one `drawn` and its sheet; its heights may be known if it was asked for before."""
    mesh = landscape.refine(report) if landscape.stage <= drawn else landscape.mesh
    names = landscape.problem.bank.names
    nodes = []
    for key in landscape.map.nodes(landscape.stage):
        report(1.0)
        x, y = landscape.map.drawn_at(key)
        weights = landscape.map.weights_at(key)
        nodes.append(point_of((x, y), "Weights here", landscape.heights[key], weights, names))
    return landscape.stage, (mesh, nodes)


# Kernel weights that a person sets, and what they are worth.
#
#     above(d) = (W(d) - D*) / |W(d)|,  W(d) = J(d) + r(d),  D* the best lower bound that any solver has proved
#
# The newest weights win: what is computed for older ones is given up. Nothing here touches a page.


def why_no_start(problem: Problem) -> str:
    """Return "" or why paths cannot begin at weights that are given alone, in a sentence."""
    if problem.regularizer.closed_form and problem.convex and not problem.regularizer.on_simplex:
        return "These solvers begin at functions, not at kernel weights, so there is no start to drag."
    return ""


MOST_BARS = 12  # kernels that can be mixed
YOURS = "Your mix"
MIX_TOLERANCE = 1e-4  # of the inner problem


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
        self._oracle = SvmOracle(problem, MIX_TOLERANCE)

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
