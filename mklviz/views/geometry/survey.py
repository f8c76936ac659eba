"""The height of a map in a thread, stage by stage: coarse at once, finer while nothing else is computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Lock

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.engine import Race
from mklviz.engine.task import ProgressReport, Task
from mklviz.views.geometry.ground import STAGES, Ground, Mesh
from mklviz.views.geometry.landscape import Landscape, no_heights
from mklviz.views.geometry.map_chart import MapPoint

__all__ = ["Survey", "point_of"]

NAMED = 3  # kernels that are named beside a point
ONE_MAP = Lock()  # is computed at a time in a process, however many people look at theirs
Sheet = tuple[Mesh, list[MapPoint]]


class Survey:
    """The map that is being drawn; nothing here touches the page.

    `sheet` is the finest map so far, its mesh and its nodes with their texts, and `stage` says how fine it is,
    -1 before the first. The `task` computes one stage after the other.
    """

    def __init__(self) -> None:
        self.ground: Ground | None = None
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

    def begin(self, race: Race, ground: Ground) -> None:
        """Turn to another ground."""
        self.clear()
        self.ground, self._refusal = ground, race.missing or no_heights(race.problem)
        if not self._refusal:
            self.landscape = Landscape(race.problem, ground)

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
        """Forget the ground."""
        self.task.forget()
        self.ground, self.sheet, self.landscape = None, None, None
        self.stage, self._refusal = -1, ""


def _sheet(landscape: Landscape, drawn: int, report: ProgressReport) -> tuple[int, Sheet]:
    """Return the stage after the one `drawn` and its sheet; its heights may be known if it was asked for before."""
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
    position: tuple[float, float] | Array, title: str, objective: float, weights: Array, names: Sequence[str]
) -> MapPoint:
    """Return a point of a map with its objective and its heaviest kernels in words."""
    heaviest = np.argsort(-weights, kind="stable")[:NAMED] if len(weights) > NAMED else range(len(weights))
    more = int((weights > ACTIVE_WEIGHT).sum()) - NAMED
    kernels = ", ".join(f"{names[k]} {weights[k]:.3f}" for k in heaviest) + (f" and {more:,} more" if more > 0 else "")
    x, y = position
    return MapPoint(float(x), float(y), title, f"{objective:,.6g}", kernels)
