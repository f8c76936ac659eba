"""The height of a map in a thread, stage by stage: coarse at once, finer while nothing else is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.engine.background import Background
from mklviz.problem import Problem
from mklviz.views.geometry.ground import STAGES, Ground, Mesh
from mklviz.views.geometry.landscape import Landscape, no_heights
from mklviz.views.geometry.map_chart import MapPoint

__all__ = ["Survey", "point_of"]

NAMED = 3  # kernels that are named beside a point
Sheet = tuple[Mesh, list[MapPoint]]


class Survey:
    """The map that is being drawn; nothing here touches the page.

    Attributes
    ----------
    ground : Ground or None
    sheet : tuple or None
        The finest map so far: its mesh, and its nodes with what is said of them.
    trouble : str
        Why there is no map, or no finer one, as a sentence.
    """

    def __init__(self) -> None:
        self.ground: Ground | None = None
        self.sheet: Sheet | None = None
        self.trouble = ""
        self._landscape: Landscape | None = None
        self._work: Background[tuple[int, Sheet]] | None = None
        self._resting = False
        self._drawn = -1

    @property
    def working(self) -> bool:
        """Whether a stage is being computed."""
        return self._work is not None

    @property
    def fraction(self) -> float:
        """How much of the stage is done."""
        return 0.0 if self._work is None else self._work.fraction

    @property
    def stage(self) -> int:
        """The finest stage that is drawn; -1 before the first."""
        return self._drawn

    def begin(self, problem: Problem, ground: Ground) -> None:
        """Turn to another ground."""
        self.clear()
        self.ground, self.trouble = ground, no_heights(problem)
        if not self.trouble:
            self._landscape = Landscape(problem, ground)

    def look(self, idle: bool) -> bool:
        """Begin with a stage that is due, coarse at once and finer when `idle`; return whether one has ended."""
        work, landscape = self._work, self._landscape
        if work is not None and work.ended:
            self._work = None
            self.trouble = "" if self._resting else work.trouble
            self._resting = False
            if work.result is not None:
                self._drawn, self.sheet = work.result
            return work.result is not None
        due = landscape is not None and not self.trouble and self._drawn + 1 < STAGES
        if work is None and due and landscape is not None and (idle or self._drawn < 0):
            self._work = Background(partial(_sheet, landscape, self._drawn), "The map")
        return False

    def stop(self) -> None:
        """Be content with the map as it is."""
        if self._work is not None:
            self._work.cancel()

    def rest(self) -> None:
        """Compute nothing until somebody looks again; what is known by then stays."""
        if self._work is not None and not self._work.ended:
            self._resting = True
            self._work.cancel()

    def clear(self) -> None:
        """Forget the ground."""
        self.stop()
        self.ground, self.sheet, self.trouble, self._landscape, self._work = None, None, "", None, None
        self._resting, self._drawn = False, -1


def _sheet(landscape: Landscape, drawn: int, report: Callable[[float], None]) -> tuple[int, Sheet]:
    """Return the stage after the one `drawn` and its sheet, whose heights may be known: somebody may have left."""
    mesh = landscape.refine(report) if landscape.stage <= drawn else landscape.mesh
    names = landscape.problem.bank.names
    nodes = []
    for key in landscape.ground.nodes(landscape.stage):
        report(1.0)
        x, y = landscape.ground.drawn_at(key)
        weights = landscape.ground.weights_at(key)
        nodes.append(point_of((x, y), "Weights here", landscape.heights[key], weights, names))
    return landscape.stage, (mesh, nodes)


def point_of(
    place: tuple[float, float] | Array, title: str, objective: float, weights: Array, names: Sequence[str]
) -> MapPoint:
    """Return a point of a map with its objective and its heaviest kernels in words."""
    heaviest = np.argsort(-weights, kind="stable")[:NAMED] if len(weights) > NAMED else range(len(weights))
    told = ", ".join(f"{names[k]} {weights[k]:.3f}" for k in heaviest)
    more = int((weights > ACTIVE_WEIGHT).sum()) - NAMED
    told += f" and {more:,} more" if more > 0 else ""
    return MapPoint(float(place[0]), float(place[1]), title, f"{objective:,.6g}", told)
