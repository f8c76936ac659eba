"""What is dragged on a figure while the picture follows: the browser tells the newest state, one at a time.

If the mouse rests for 0.3 s after it is pressed, perhaps because the page is busy, BokehJS counts a long press, which
does nothing here, and drops the drag. Without long presses it goes on waiting for the first move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure

from mklviz.views.host.beside import beside

__all__ = ["DraggedFigure", "ignore_long_press"]

_IN_FLIGHT, _IGNORE = beside(__file__, "figure_in_flight.js"), beside(__file__, "long_press.js")


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


def ignore_long_press(plot: figure) -> None:
    """Let a pressed mouse rest on `plot` before it drags."""
    plot.js_on_event("mouseenter", CustomJS(code=_IGNORE))
