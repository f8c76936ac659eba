"""The cursor in the figures of a race: one upright line per run at the step shown, in every figure, and its drag."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import CDSView, ColumnDataSource, GlyphRenderer, IndexFilter, VSpan
from bokeh.plotting import figure

from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.host.beside import beside
from mklviz.views.host.dragging import DraggedFigure
from mklviz.views.look.palette import RunStyle

COLUMNS = ("iteration", "svm_solves", "seconds")


class Marks:
    """The lines of all figures, from one small source; `x` is the column that is drawn."""

    def __init__(self, styles: Mapping[str, RunStyle], x: str) -> None:
        self._keys, self._x = list(styles), x
        colours = [style.colour for style in styles.values()]
        nowhere = [math.nan] * len(colours)
        self.source = ColumnDataSource({"colour": colours, **dict.fromkeys(COLUMNS, nowhere)}, name="marks")
        self.renderers: list[GlyphRenderer] = []

    def draw(self, plot: figure, key: str | None = None) -> None:
        """Draw the lines of all runs in `plot`, or that of one run alone."""
        line = VSpan(x=self._x, line_color="colour", line_width=1.5, line_alpha=0.9)
        view = CDSView() if key is None else CDSView(filter=IndexFilter([self._keys.index(key)]))
        self.renderers.append(plot.add_glyph(self.source, line, view=view))

    def set_x(self, x: str) -> None:
        self._x = x
        for renderer in self.renderers:
            renderer.glyph.x = x

    def move(self, positions: Mapping[str, Mapping[str, float]]) -> None:
        """Move the lines to the positions of the runs, by column; a run without a position has no line."""
        for name in COLUMNS:
            column = [float(positions.get(key, {}).get(name, math.nan)) for key in self._keys]
            drawn = list(self.source.data[name])
            if any(a != b and not (math.isnan(a) and math.isnan(b)) for a, b in zip(column, drawn, strict=True)):
                self.source.data = {**self.source.data, name: column}


# -- the step to which a person drags it


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
