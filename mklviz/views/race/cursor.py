"""The step to which a person drags the cursor in the figures of a race."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.host.beside import beside
from mklviz.views.host.components import DraggedFigure

_EVENTS = ("mousemove", "panstart", "pan", "panend", "mouseleave")
_TELL = beside(__file__, "cursor_drag.js")
_COLUMNS: Mapping[str, Callable[[Trace], Array]] = {
    "iteration": lambda trace: np.arange(trace.first_step, trace.last_step + 1, dtype=float),
    "svm_solves": lambda trace: trace.svm_solves.astype(float),
    "seconds": lambda trace: trace.seconds,
}


class CursorDrag:
    """Listens to figures; `on_place` is called with a place on the horizontal axis and the number of the line dragged.

    The number is -1 where the drag did not begin on a line. `first`: whether a drag from anywhere moves the cursor
    before anybody has chosen so, by putting all tools away.
    """

    def __init__(self) -> None:
        self.on_place: Callable[[float, int], None] | None = None
        self.first = False
        self.dragged = DraggedFigure("cursor", self._take)

    def listen(self, plots: Sequence[figure], marks: ColumnDataSource) -> None:
        """Follow what is dragged on these figures, whose lines of the cursor are drawn from `marks`."""
        tell = self.dragged.script(_TELL, marks=marks)
        for plot in plots:
            for event in _EVENTS:
                plot.js_on_event(event, tell)
            if self.first:
                plot.toolbar.active_drag = None

    def _take(self, columns: Mapping[str, Any]) -> None:
        places, lines = list(columns.get("x", [])), list(columns.get("line", []))
        if self.on_place is not None and len(places) == len(lines) == 1 and _number(places[0]) and _number(lines[0]):
            self.on_place(float(places[0]), int(lines[0]))
        self.dragged.answer()


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) < np.inf


def step_near(traces: Sequence[Trace], column: str, place: float) -> int | None:
    """Return the step whose value in a column is nearest to a place; None where there is none."""
    nearest: list[tuple[float, int]] = []
    for trace in filter(len, traces):
        away = np.abs(_COLUMNS[column](trace) - place)
        nearest.append((float(away.min()), trace.first_step + int(away.argmin())))
    return min(nearest)[1] if nearest else None
