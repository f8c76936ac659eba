"""The height of a map: the objective W(d) = J(d) + r(d) at its nodes, each inner problem begun at its neighbour's end.

A height is the certified upper bound of an inner problem that is solved until it is off by less than anybody sees: by a
share of the range of the heights, or where they hardly differ, of the least range that a picture shows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mklviz.context.blas import one_blas_thread
from mklviz.inner.oracle import FINEST, SvmOracle, needs_known_loss
from mklviz.problem import Problem
from mklviz.typing import Array
from mklviz.views.geometry.ground import STAGES, Ground, Key, Mesh

__all__ = ["Landscape", "no_heights"]

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

    def __init__(self, problem: Problem, ground: Ground) -> None:
        self.problem, self.ground, self.stage = problem, ground, -1
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
        missing = [key for key in self.ground.nodes(stage) if key not in self.heights]
        if self.oracle is None:
            self.oracle = SvmOracle(self.problem, TOLERANCE)
        with one_blas_thread():
            for count, key in enumerate(missing):
                report(count / len(missing))
                self.heights[key] = self._height(self.oracle, self.ground.weights_at(key))
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
        x, y, z = self.ground.mesh(self.stage, self.heights.__getitem__)
        finite = np.isfinite(z)
        return x, y, np.where(finite, z, z[finite].max() if finite.any() else 0.0)
