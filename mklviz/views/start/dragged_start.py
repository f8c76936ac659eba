"""The handle on the triangle of the page Start: solvers begin where it is, and their paths are sent to the page.

The recording stays until the solvers are compiled; nothing is prepared until the handle is touched.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mklviz.analysis.own_weights import DraggedPaths, PathsFrom
from mklviz.engine.race import entered
from mklviz.engine.task import Task
from mklviz.engine.warmup import WARMUP
from mklviz.problem import Problem
from mklviz.recipe.prepared import Prepared
from mklviz.scenarios import load_scenario
from mklviz.typing import Array
from mklviz.views.host.beside import beside
from mklviz.views.host.component import ScriptedComponent
from mklviz.views.host.polling import Polling
from mklviz.views.start.triangle import RECORDED, path_shares, proof

__all__ = ["WAITS", "DraggedStart"]

WAITS = "Warming up the solvers: their paths follow soon."
CORNERS = 3


class DraggedStart(ScriptedComponent):
    """Invisible part of the page, which takes the weights of the handle and answers with paths."""

    _esm = beside(__file__, "dragged_start.js")

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
        shares = _shares(message.get("weights")) if isinstance(message, dict) else None
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
            self.send({"turn": self._turn, "said": self._preparing.fault})
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
            self.send({"turn": self._turn, "said": WAITS})
        self._waits = waits
        return waits

    def _answer(self, paths: PathsFrom | None, fault: str) -> None:
        if paths is None:
            self.send({"turn": self._asked, "said": fault})
        else:
            proved = proof(paths.traces) if paths.traces else ""
            words = " ".join([proved, *paths.missing.values()])
            self.send({"turn": self._asked, "paths": path_shares(paths.traces), "said": words})


def _shares(weights: Any) -> Array | None:
    """Return the shares of three kernels; None for anything else."""
    if not isinstance(weights, list) or len(weights) != CORNERS:
        return None
    if not all(isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0.0 for weight in weights):
        return None
    return np.array(weights, dtype=float) / sum(weights) if math.isclose(sum(weights), 1.0, abs_tol=1e-3) else None
