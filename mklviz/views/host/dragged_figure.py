"""What is dragged on a figure of Bokeh while a picture follows; without Panel, as figures are.

The browser tells the newest state, and the next one when the picture of the last has been painted: so nothing queues,
however slow a picture is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bokeh.models import ColumnDataSource, CustomJS

from mklviz.views.host.beside import beside

__all__ = ["ONE_IN_FLIGHT", "DraggedFigure"]

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
