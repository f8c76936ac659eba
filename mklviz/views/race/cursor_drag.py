"""The cursor of a race is dragged on its figures: where no tool takes the drag, it goes with the mouse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.plotting import figure

from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.host.beside import beside
from mklviz.views.host.dragged_figure import DraggedFigure

__all__ = ["CursorDrag", "step_near"]

_TELL = beside(__file__, "cursor_drag.js")
_COLUMNS: Mapping[str, Callable[[Trace], Array]] = {
    "iteration": lambda trace: np.arange(trace.first_step, trace.last_step + 1, dtype=float),
    "svm_solves": lambda trace: trace.svm_solves.astype(float),
    "seconds": lambda trace: trace.seconds,
}


class CursorDrag:
    """Listens to figures; `on_place` is called with a place on the horizontal axis.

    `first`: whether a drag moves the cursor before anybody has chosen so, by putting all tools away.
    """

    def __init__(self) -> None:
        self.on_place: Callable[[float], None] | None = None
        self.first = False
        self.dragged = DraggedFigure("cursor", self._take)

    def listen(self, plots: Sequence[figure]) -> None:
        """Follow what is dragged on these figures."""
        tell = self.dragged.script(_TELL)
        for plot in plots:
            plot.js_on_event("pan", tell)
            if self.first:
                plot.toolbar.active_drag = None

    def _take(self, columns: Mapping[str, Any]) -> None:
        told: Sequence[Any] = columns.get("x", [])
        if self.on_place is not None and len(told) == 1 and isinstance(told[0], (int, float)) and abs(told[0]) < np.inf:
            self.on_place(float(told[0]))
        self.dragged.answer()


def step_near(traces: Sequence[Trace], column: str, place: float) -> int | None:
    """Return the step whose value in a column is nearest to a place; None where there is none."""
    nearest: list[tuple[float, int]] = []
    for trace in filter(len, traces):
        away = np.abs(_COLUMNS[column](trace) - place)
        nearest.append((float(away.min()), trace.first_step + int(away.argmin())))
    return min(nearest)[1] if nearest else None
