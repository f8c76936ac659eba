"""What is dragged on a figure while the picture follows: the browser tells the newest state, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bokeh.models import ColumnDataSource, CustomJS

from mklviz.views.host.beside import beside

__all__ = ["DraggedFigure"]

_IN_FLIGHT = beside(__file__, "figure_in_flight.js")


class DraggedFigure:
    """Hears of what is dragged; `on_state` is called with columns, as the browser says them.

    The next state comes when the last one has been answered: so nothing queues, however slow a picture is.
    """

    def __init__(self, name: str, on_state: Callable[[Mapping[str, Any]], None]) -> None:
        self.asked = ColumnDataSource({}, name=f"{name}-asked")
        self.answered = ColumnDataSource({"count": [0]}, name=f"{name}-answered")
        self.asked.on_change("data", lambda _attr, _old, new: on_state(new))

    def script(self, code: str, **models: Any) -> CustomJS:
        """Return what a figure calls with an event: it says by `say(columns)` what it is about."""
        return CustomJS(args={"asked": self.asked, "answered": self.answered, **models}, code=_IN_FLIGHT + code)

    def answer(self) -> None:
        """Say that the picture shows the state told last, and that another one may be told."""
        self.answered.data = {"count": [self.answered.data["count"][0] + 1]}
