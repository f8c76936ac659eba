"""Parts of a race with a script of their own: the legend as a row of buttons, bars of time and of weights, the cursor.

Press a button to hide or show a solver's curves everywhere; after them, in grey, one per pinned race, to unpin it. A
bar is as long as its solver's time compared with the longest, or, as shares, as long as all others. The page holds the
bars; while solvers run, only their numbers travel.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from typing import Any, ClassVar

import numpy as np
import param
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from panel.custom import JSComponent

from mklviz.context import PARTS
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.host.beside import CONTROLS, beside
from mklviz.views.host.components import DraggedFigure, ScriptedComponent
from mklviz.views.look.cards import title
from mklviz.views.look.palette import TEXT_CSS, RunStyle, swatch

_SCRIPT, _SHEET = CONTROLS + beside(__file__, "components.js"), beside(__file__, "components.css")


class Chips(ScriptedComponent):
    """Toggle buttons with the line and marker of each run, and those of the races that are pinned."""

    items = param.List(default=[])
    hidden = param.List(default=[])
    pinned = param.List(default=[])
    on_take_off: Callable[[int], None] | None = None  # called with the key of a race in grey whose button is pressed

    _esm = f"{_SCRIPT}export const render = chips"

    _stylesheets: ClassVar[list[str]] = [_SHEET]

    def name_runs(self, styles: Mapping[str, RunStyle]) -> None:
        self.items = [{"key": key, "label": style.label, "swatch": swatch(style)} for key, style in styles.items()]

    def receive(self, message: Any) -> None:
        """Take off the race in grey whose button was pressed, if it is still there."""
        if self.on_take_off is not None and message.get("off") in [item["key"] for item in self.pinned]:
            self.on_take_off(message["off"])


# -- where the time goes: one bar per solver, its CPU seconds split into what they were spent on


LABELS = {part: {"svm": "SVM", "combine": "combine kernels"}.get(part, part) for part in PARTS}
WHY = (
    "CPU seconds inside each solver. The subproblem is its own linear program, projection or formula; other is mostly"
    " certificates."
)
_LEGEND = "".join(
    f'<span title="{escape(why.capitalize())}"><i class="part" style="background: var(--mk-{part})"></i>'
    f"{LABELS[part]}</span>"
    for part, why in PARTS.items()
)


class TimeBars(JSComponent):
    """The bars."""

    items = param.List(default=[], doc="Key, label and swatch (an SVG) of each run")
    spent = param.Dict(default={}, doc="CPU seconds by part, a list per key, empty where not measured")
    hidden = param.List(default=[], doc="Keys of the runs that are not drawn")
    shares = param.Boolean(default=False, doc="Whether all bars are equally long")
    heading = param.String(title("Where the time goes", beside=f'<span class="legend">{_LEGEND}</span>'), constant=True)
    why = param.String(default=WHY, constant=True)
    parts = param.List(default=list(LABELS.items()), constant=True)

    def follow(self, traces: Mapping[str, Trace], styles: Mapping[str, RunStyle], hidden: Collection[str]) -> None:
        """Update the bars to the runs' current times; nothing is sent where nothing changed."""
        items = [{"key": key, "label": style.label, "swatch": swatch(style)} for key, style in styles.items()]
        self.param.update(items=items, spent=spent_by(traces), hidden=sorted(hidden))

    _esm = f"{_SCRIPT}export const render = timeBars"

    _stylesheets: ClassVar[list[str]] = [TEXT_CSS, _SHEET]


def spent_by(traces: Mapping[str, Trace]) -> dict[str, list[float]]:
    """Return the CPU seconds by part of every run, rounded to visible digits; none where they were not measured."""
    spent = {}
    for key, trace in traces.items():
        split = trace.split_at(len(trace) - 1) if len(trace) else dict.fromkeys(PARTS, 0.0)
        spent[key] = [round(seconds, 5) for seconds in split.values()]
    return spent


# -- kernel weights as bars that are dragged


class WeightBars(ScriptedComponent):
    """The bars; `on_change` is called with the weights of all of them, each from 0 to `most`."""

    names = param.List(default=[], doc="The kernels")
    weights = param.List(default=[], doc="Their weights")
    most = param.Number(default=1.0, doc="The weight of a bar that is full")
    shared = param.Boolean(default=True, doc="Whether the weights sum to one")
    drawn = param.Integer(default=0, doc="How many of the mixes told are drawn, or never will be")
    on_change: Callable[[Sequence[float]], None] | None = None

    _esm = f"{_SCRIPT}export const render = weightBars"
    _stylesheets: ClassVar[list[str]] = [_SHEET]

    def receive(self, message: Any) -> None:
        """Hand on weights, if that is what they are."""
        weights = message.get("weights") if isinstance(message, dict) else None
        if self.on_change is None or not isinstance(weights, list) or len(weights) != len(self.names):
            return
        if all(isinstance(one, (int, float)) and 0.0 <= one <= self.most for one in weights):  # false for nan
            self.on_change([float(one) for one in weights])


# -- the step to which a person drags the cursor in the figures of a race


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
        told = [*columns.get("x", ()), *columns.get("line", ())]
        known = len(told) == 2 and all(isinstance(one, (int, float)) and abs(one) < np.inf for one in told)
        if self.on_place is not None and known:
            self.on_place(float(told[0]), int(told[1]))
        self.dragged.answer()


def step_near(traces: Sequence[Trace], column: str, place: float) -> int | None:
    """Return the step whose value in a column is nearest to a place; None where there is none."""
    nearest: list[tuple[float, int]] = []
    for trace in filter(len, traces):
        away = np.abs(_COLUMNS[column](trace) - place)
        nearest.append((float(away.min()), trace.first_step + int(away.argmin())))
    return min(nearest)[1] if nearest else None
