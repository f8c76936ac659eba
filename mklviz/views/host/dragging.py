"""What is dragged on a figure of Bokeh: a point or a line while a picture follows, and a handle that is let go.

The browser tells the newest state, and the next one when the picture of the last has been painted: so nothing queues,
however slow a picture is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import param
from bokeh.models import ColumnDataSource, CustomJS

from mklviz.views.host.beside import beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.host.solved_paths import SOLVED_PATHS

ONE_IN_FLIGHT = beside(__file__, "one_in_flight.js")
_OF_FIGURE = """if (!asked.dragged) {
  asked.dragged = oneInFlight((columns) => { asked.data = columns })
  answered.change.connect(asked.dragged.painted)
}
const { say } = asked.dragged
"""


class DraggedFigure:
    """Hears of what is dragged on a figure; `on_state` is called with columns, as the browser says them."""

    def __init__(self, name: str, on_state: Callable[[Mapping[str, Any]], None]) -> None:
        self.asked = ColumnDataSource({}, name=f"{name}-asked")
        self.answered = ColumnDataSource({"count": [0]}, name=f"{name}-answered")
        self.asked.on_change("data", lambda _attr, _old, new: on_state(new))

    def script(self, code: str, **models: Any) -> CustomJS:
        """Return what a figure calls with an event: it says by `say(columns)` what it is about."""
        args = {"asked": self.asked, "answered": self.answered, **models}
        return CustomJS(args=args, code=ONE_IN_FLIGHT + _OF_FIGURE + code)

    def answer(self) -> None:
        """Say that the picture shows the state told last, and that another one may be told."""
        self.answered.data = {"count": [self.answered.data["count"][0] + 1]}


FAR = 1e100  # beyond any figure


class DragHandle(ScriptedComponent):
    """The handle; `on_move` is called with a place in the figure's units, and whether it was let go there."""

    figure = param.String(default="", doc="Id of the figure that it lies on")
    place = param.List(default=[], doc="Where it lies when nobody drags it, x and y; empty where it is not shown")
    label = param.String(default="", doc="What it is, for who cannot see it")
    position = param.String(default="", doc="Where it is, for who cannot see it")
    share = param.Integer(default=0, bounds=(0, 100), doc="Where it is, as a percentage, which sliders must have")
    hint = param.String(default="", doc="What stands beside it until it has been dragged")
    on_move: Callable[[float, float, bool], None] | None = None
    handed = False  # whether the browser solves the paths by itself

    _esm = SOLVED_PATHS + beside(__file__, "drag_handle.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "drag_handle.css")]

    def lie(self, figure: str) -> None:
        """Lie on the figure of that id, or on another map in it."""
        if self.handed:
            self.hand(None)
        self.figure = figure

    def hand(self, paths: Mapping[str, Any] | None) -> None:
        """Let the browser solve the paths by itself, see `solved_paths`, or no more."""
        self.handed = paths is not None
        self.send(paths or {})

    def receive(self, message: Any) -> None:
        """Hand on a place, if it is one."""
        at = message.get("at") if isinstance(message, dict) else None
        if self.on_move is None or not isinstance(at, list) or len(at) != 2:
            return
        if all(isinstance(one, (int, float)) and abs(one) < FAR for one in at):  # false for nan
            self.on_move(float(at[0]), float(at[1]), message.get("ended") is True)
