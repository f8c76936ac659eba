"""The triangle of three kernels in the HTML of a page, with the paths of a recorded race to run over it.

    shares p of three kernels  ->  (LEFT + SIDE (p_2 + p_3 / 2),  FOOT - SIDE sqrt(3/4) p_3)     in units of the viewBox

Its shades are those of the recorded objective. All colours are variables of CSS, so that one picture is light and dark.
The script beside it draws the paths. Solvers begin where its handle is, and their paths are sent to the page;
the recording stays until the solvers are compiled, and nothing is prepared until the handle is touched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from contourpy import FillType, contour_generator

from mklviz.analysis.own_weights import DraggedPaths, PathsFrom
from mklviz.analysis.weight_map import Mesh
from mklviz.engine.race import entered
from mklviz.engine.task import Task
from mklviz.engine.warmup import WARMUP
from mklviz.numbers import share_text
from mklviz.problem import Problem
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.record.bundle import recorded_evidence
from mklviz.scenarios import load_scenario
from mklviz.typing import Array
from mklviz.views.chart.columns import contour_levels
from mklviz.views.host.beside import beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.host.dragged_figure import ONE_IN_FLIGHT
from mklviz.views.host.ticks import Polling
from mklviz.views.lessons.pictures import triangle_mesh

__all__ = ["RECORDED", "WAITS", "DraggedStart", "best_shares", "path_shares", "proof", "triangle_svg"]

RECORDED = "three-kernels"
"""The scenario whose race runs over the triangle."""
VIEW = "50 16 580 456"
LEFT, FOOT, SIDE = 115.0, 436.0, 450.0
_PROOF = "Each path ends with a proof: its best point lies at most {gap} above the lowest objective there is."
BANDS = 12  # shades of the objective
NAMES = (  # where those of the kernels stand, within the picture in large type as well
    (LEFT - 60, FOOT + 26, "start"),
    (LEFT + SIDE + 60, FOOT + 26, "end"),
    (LEFT + 0.5 * SIDE, FOOT - np.sqrt(0.75) * SIDE - 12, "middle"),
)
CORNERS = np.array([[LEFT, FOOT], [LEFT + SIDE, FOOT], [LEFT + 0.5 * SIDE, FOOT - np.sqrt(0.75) * SIDE]])


def triangle_svg(titles: tuple[str, ...], label: str) -> str:
    """Return the triangle with its shades and the names of its corners, without paths."""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in CORNERS)
    names = "".join(
        f'<text class="corner" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">kernel {number}: {escape(title)}</text>'
        for number, (title, (x, y, anchor)) in enumerate(zip(titles, NAMES, strict=True), 1)
    )
    return (
        f'<svg viewBox="{VIEW}" role="group" aria-label="{escape(label)}">'
        f'<polygon class="ground" points="{corners}"/>{_shades()}<polygon class="side" points="{corners}"/>{names}'
        '<g class="ghosts"></g><g class="paths"></g></svg>'
    )


def _shades() -> str:
    """Return the areas above each level of the objective, which darken one another where they overlap."""
    mesh = triangle_mesh(recorded_evidence(RECORDED).get("ground", {}).get("objective", ()))
    if mesh is None:
        return ""
    levels = contour_levels(mesh[2], BANDS)[1:-1]
    return "".join(f'<path class="shade" d="{_above(mesh, level)}"/>' for level in levels)


def _above(mesh: Mesh, level: float) -> str:
    """Return the area in which the objective is above a level, as a path."""
    across, up, height = mesh
    x, y = LEFT + SIDE * across, FOOT - SIDE * up
    filled: Any = contour_generator(x, y, height, fill_type=FillType.OuterOffset).filled(level, np.inf)
    return "".join(
        _ring(points[begin:end])
        for points, offsets in zip(filled[0], filled[1], strict=True)
        for begin, end in pairwise(offsets)
    )


def _ring(points: Array) -> str:
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points[:-1]) + "Z"


def path_shares(traces: Mapping[str, Trace]) -> dict[str, list[list[float]]]:
    """Return the weights at each step of runs, for the script that draws them."""
    return {key: [_shares(weights) for weights in trace.weights] for key, trace in traces.items()}


def best_shares(traces: Mapping[str, Trace]) -> list[float]:
    """Return the weights where the objective is lowest of all that runs have come to."""
    return _shares(min((trace.best for trace in traces.values()), key=lambda iterate: iterate.objective).weights)


def proof(traces: Mapping[str, Trace]) -> str:
    """Return what runs have proved of their ends, in a sentence."""
    gap = max(float(trace.gap[-1]) for trace in traces.values())
    return _PROOF.format(gap=share_text(gap).replace(" ", "\N{NO-BREAK SPACE}"))


def _shares(weights: Array) -> list[float]:
    return [round(float(weight), 4) for weight in weights]


WAITS = "Warming up the solvers: their paths follow soon."


class DraggedStart(ScriptedComponent):
    """Invisible part of the page, which takes the weights of the handle and answers with paths."""

    _esm = ONE_IN_FLIGHT + beside(__file__, "dragged_start.js")

    def __init__(self) -> None:
        super().__init__(width=0, height=0, margin=0)
        self._recipe = load_scenario(RECORDED).recipe
        self._wanted: Array | None = None  # weights whose paths have not been asked for yet
        self._turn: Any = None  # the page's mark of what it asked last, which it has back with the answer
        self._asked: Any = None  # that of the paths that are computed
        self._waits = False  # for a solver that is being compiled, as the page says
        self._preparing = Task[Prepared]()
        self._dragged: DraggedPaths | None = None
        self._polling = Polling(self.look)

    def receive(self, message: Any) -> None:
        """Let the solvers begin at the weights of the handle; what are no weights is not answered."""
        shares = _read_shares(message.get("weights")) if isinstance(message, dict) else None
        if shares is not None:
            self._wanted, self._turn = shares, message.get("turn")
            self._preparing.ask(self._recipe, lambda _report: self._recipe.prepare(), "The start cannot be dragged")
            self._polling.begin()

    def close(self) -> None:
        """The session is over."""
        self._polling.end()
        self._wanted = None
        self._preparing.forget()
        if self._dragged is not None:
            self._dragged.task.forget()

    def look(self) -> bool:
        """Send paths if they are there, and ask for the next; return whether nothing is awaited any more."""
        if self._dragged is None:
            return self._prepare()
        if self._dragged.task.working and not self._dragged.task.ended:
            return False
        if self._dragged.task.ended:
            self._answer(self._dragged.task.take(), self._dragged.task.fault)
        if self._wanted is not None:
            if self._wait(self._dragged.problem):
                return False
            self._dragged.ask(self._wanted)
            self._wanted, self._asked = None, self._turn
        return not self._dragged.task.working

    def _prepare(self) -> bool:
        """Take the problem over when it is there; return whether there is none to wait for."""
        if not self._preparing.ended:
            return not self._preparing.working
        prepared = self._preparing.take()
        if prepared is None:
            self.send({"turn": self._turn, "sentence": self._preparing.fault})
            self._preparing.forget()
            return True
        solvers = [choice.make(self._recipe.split.seed) for choice in self._recipe.solvers]
        self._dragged = DraggedPaths(prepared.problem, entered(solvers))
        WARMUP.want(prepared.problem, [solver.name_ for solver in solvers])
        return False

    def _wait(self, problem: Problem) -> bool:
        """Return whether a solver is still being compiled, and say so."""
        waits = any(WARMUP.held(problem, choice.name) for choice in self._recipe.solvers)
        if waits and not self._waits:
            self.send({"turn": self._turn, "sentence": WAITS})
        self._waits = waits
        return waits

    def _answer(self, paths: PathsFrom | None, fault: str) -> None:
        if paths is None:
            self.send({"turn": self._asked, "sentence": fault})
        else:
            proved = proof(paths.traces) if paths.traces else ""
            words = " ".join([proved, *paths.missing.values()])
            self.send({"turn": self._asked, "paths": path_shares(paths.traces), "sentence": words})


def _read_shares(weights: Any) -> Array | None:
    """Return the shares of three kernels; None for anything else."""
    if not isinstance(weights, list) or len(weights) != len(CORNERS):
        return None
    if not all(isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0.0 for weight in weights):
        return None
    return np.array(weights, dtype=float) / sum(weights) if math.isclose(sum(weights), 1.0, abs_tol=1e-3) else None
