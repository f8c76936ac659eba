"""How far the horizontal axes of a race reach, and the controls above them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mklviz.record import FINAL
from mklviz.views.chart.axes import axis_end, counted
from mklviz.views.form import Button, Checkbox, Form, FormRow, Note, Segments, follow
from mklviz.views.race.race_figures import RaceFigures


class LongRuns:
    """Ends the axis before a run that would squeeze the others into a sliver, and says so beside a button for all."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.whole = False  # whether the whole axis is shown
        self.note = Note(small=True, visible=False)
        self.button = Button(self._turn, variant="text", visible=False)
        self.form = Form(FormRow(self.note, self.button, wrap=True), sizing_mode=None)

    def begin(self) -> None:
        self.whole = False
        self._say("", "")

    def update(self, figures: RaceFigures) -> None:
        """Bring axis and words up to date; hidden and failed runs do not count, and a log axis has room for all."""
        charts, feeds, hidden, styles = figures.charts, figures.readings.feeds, figures.hidden, figures.styles
        if charts is None:
            return
        x, states = charts.options.x, dict(zip(feeds, figures.readings.states, strict=False))
        seen = {key: feeds[key] for key, state in states.items() if key not in hidden and state != "failed"}
        reached = {
            key: feed.position(feed.trace.last_step).get(x, 0.0) for key, feed in seen.items() if len(feed.trace)
        }
        ended = {key: states[key] in FINAL for key in reached}
        end = math.inf if charts.options.log_x else axis_end(reached, ended)
        beyond = [f"{styles[key].label} goes on to {counted(far, x)}" for key, far in reached.items() if far > end]
        words = f"Not shown: {', '.join(beyond)}." if beyond and not self.whole else ""
        self._say(words, "Show where the others end" if beyond and self.whole else "Show all" if beyond else "")
        figures.change(lambda charts: charts.set_end(math.inf if self.whole else end))

    def _say(self, text: str, label: str) -> None:
        self.note.param.update(object=text, visible=bool(text))
        self.button.param.update(label=label, visible=bool(label))

    def _turn(self, *_: object) -> None:
        self.whole = not self.whole
        self._changed()


_ABOVE = (
    "Draws the objective less the best lower bound of all solvers. It is done by itself where the plain curves lie too"
    " flat to be told apart."
)

_CORNER = {"position": "absolute", "top": "6px", "right": "12px"}  # takes no room from the figure


def race_controls(view: Any, reset_zoom: Callable[..., None]) -> list[Any]:
    """Return the controls of a view with the parameters `large`, `x_axis`, `log_x` and `log_y`."""
    large, axis = (Segments(label=each.label, options=each.names) for each in (view.param.large, view.param.x_axis))
    follow(large, view, "large")
    follow(axis, view, "x_axis")
    boxes = [Checkbox(label=view.param[name].label) for name in ("log_x", "log_y")]
    for box, name in zip(boxes, ("log_x", "log_y"), strict=True):
        follow(box, view, name)
    reset = Button(lambda *_: reset_zoom(), label="Reset zoom", variant="text")
    return [Form(FormRow(large, axis, *boxes, reset, wrap=True), sizing_mode=None)]


def above_box(view: Any) -> Form:
    """Return the box beside the heading of the objective, for a view with the parameter `above`."""
    box = Checkbox(label=view.param.above.label, description=_ABOVE)
    follow(box, view, "above")
    return Form(FormRow(box), sizing_mode=None, styles=_CORNER, css_classes=["aside"])
