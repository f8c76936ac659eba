"""What is dragged in the browser while a picture follows.

The browser tells the newest state, and the next one when the picture of the last has been painted: so nothing queues,
however slow a picture is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import param
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure

from mklviz.views.host.beside import beside
from mklviz.views.host.components import ScriptedComponent

__all__ = ["ONE_IN_FLIGHT", "DragHandle", "DraggedComponent", "DraggedFigure", "ignore_long_press"]

ONE_IN_FLIGHT = beside(__file__, "one_in_flight.js")
FAR = 1e100  # beyond any figure
_OF_FIGURE = """if (!asked.dragged) {
  asked.dragged = oneInFlight((columns) => { asked.data = columns })
  answered.change.connect(asked.dragged.painted)
}
const { say } = asked.dragged
"""
# BokehJS takes a mouse that rests for 0.3 s after it is pressed for a long press, and drops the drag
_NO_LONG_PRESS = """const gestures = Bokeh.index.find_one(cb_obj.origin)?.canvas_view?.ui_event_bus?.ui_gestures
if (gestures?._start_timeout) gestures._start_timeout = () => {}"""


class DraggedComponent(ScriptedComponent):
    """What is dragged in the browser while a picture follows; its script begins with `ONE_IN_FLIGHT`."""

    drawn = param.Integer(default=0, doc="How many of the states told are drawn, or never will be")

    _busy__ignore: ClassVar[list[str]] = ["drawn"]  # no work that a page would have to be busy for

    def answer(self) -> None:
        """Say that the picture shows the state told last, and that another one may be told."""
        self.drawn += 1


class DragHandle(DraggedComponent):
    """The handle; `on_move` is called with a place in the figure's units, and whether it was let go there."""

    figure = param.String(default="", doc="Id of the figure that it lies on")
    place = param.List(default=[], doc="Where it lies when nobody drags it, x and y; empty where it is not shown")
    label = param.String(default="", doc="What it is, for who cannot see it")
    position = param.String(default="", doc="Where it is, for who cannot see it")
    share = param.Integer(default=0, bounds=(0, 100), doc="Where it is, as a percentage, which sliders must have")
    hint = param.String(default="", doc="What stands beside it until it has been dragged")
    on_move: Callable[[float, float, bool], None] | None = None

    # these are no work that a page would have to be busy for
    _busy__ignore: ClassVar[list[str]] = [*DraggedComponent._busy__ignore, "place", "position", "share"]
    _esm = ONE_IN_FLIGHT + beside(__file__, "drag_handle.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "drag_handle.css")]

    def receive(self, message: Any) -> None:
        """Hand on a place, if it is one."""
        at = message.get("at") if isinstance(message, dict) else None
        if self.on_move is None or not isinstance(at, list) or len(at) != 2:
            return
        if all(isinstance(one, (int, float)) and abs(one) < FAR for one in at):  # false for nan
            self.on_move(float(at[0]), float(at[1]), message.get("ended") is True)


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


def ignore_long_press(plot: figure) -> None:
    """Let a pressed mouse rest on `plot` before it drags."""
    plot.js_on_event("mouseenter", CustomJS(code=_NO_LONG_PRESS))
