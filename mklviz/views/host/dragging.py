"""Components that are dragged in the browser while a picture follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import param

from mklviz.views.host.beside import beside
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.host.dragged_figure import ONE_IN_FLIGHT
from mklviz.views.host.solved_paths import SOLVED_PATHS

__all__ = ["DragHandle", "DraggedComponent"]

FAR = 1e100  # beyond any figure


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
    handed = False  # whether the browser solves the paths by itself

    # these are no work that a page would have to be busy for
    _busy__ignore: ClassVar[list[str]] = [*DraggedComponent._busy__ignore, "place", "position", "share"]
    _esm = ONE_IN_FLIGHT + SOLVED_PATHS + beside(__file__, "drag_handle.js")
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "drag_handle.css")]

    def lie(self, figure: str) -> None:
        """Lie on the figure of that id, or on another map in it."""
        if self.handed:
            self.hand(None)
        self.figure = figure

    def hand(self, paths: Mapping[str, Any] | None) -> None:
        """Let the browser solve the paths by itself, see `solved_paths`, or no more: it then tells every place."""
        self.handed = paths is not None
        self.send(paths or {})
        self.answer()

    def receive(self, message: Any) -> None:
        """Hand on a place, if it is one."""
        at = message.get("at") if isinstance(message, dict) else None
        if self.on_move is None or not isinstance(at, list) or len(at) != 2:
            return
        if all(isinstance(one, (int, float)) and abs(one) < FAR for one in at):  # false for nan
            self.on_move(float(at[0]), float(at[1]), message.get("ended") is True)
