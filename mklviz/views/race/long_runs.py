"""Runs that go on beyond the horizontal axis: which ones, in a line of words with a button that shows all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from mklviz.record import FINAL
from mklviz.views.chart.axes import counted
from mklviz.views.chart.axis_end import axis_end
from mklviz.views.form import Button, Form, FormRow, Note
from mklviz.views.look.palette import RunStyle
from mklviz.views.race.figures import Charts
from mklviz.views.race.readings import Readings

__all__ = ["LongRuns"]


class LongRuns:
    """Ends the axis before a run that would squeeze the others into a sliver, and says so beside a button for all."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.whole = False  # whether the whole axis is shown
        self.note = Note(small=True, visible=False)
        self.button = Button(self._turn, variant="text", visible=False)
        self.form = Form(FormRow(self.note, self.button, wrap=True), sizing_mode=None)

    def begin(self) -> None:
        """Expect another race."""
        self.whole = False
        self._say("", "")

    def update(
        self, charts: Charts, readings: Readings, styles: Mapping[str, RunStyle], hidden: Collection[str]
    ) -> None:
        """Bring axis and words up to date; those that are `hidden` do not count.

        A logarithmic axis has room for all, and a failed run is no measure for the others.
        """
        x, states = charts.options.x, dict(zip(readings.feeds, readings.states, strict=False))
        seen = {key: readings.feeds[key] for key, state in states.items() if key not in hidden and state != "failed"}
        reached = {
            key: feed.position(feed.trace.last_step).get(x, 0.0) for key, feed in seen.items() if len(feed.trace)
        }
        ended = {key: states[key] in FINAL for key in reached}
        end = math.inf if charts.options.log_x else axis_end(reached, ended)
        beyond = [f"{styles[key].label} goes on to {counted(far, x)}" for key, far in reached.items() if far > end]
        words = f"Not shown: {', '.join(beyond)}." if beyond and not self.whole else ""
        self._say(words, "Show where the others end" if beyond and self.whole else "Show all" if beyond else "")
        charts.set_end(math.inf if self.whole else end)

    def _say(self, text: str, label: str) -> None:
        self.note.param.update(object=text, visible=bool(text))
        self.button.param.update(label=label, visible=bool(label))

    def _turn(self, *_: object) -> None:
        self.whole = not self.whole
        self._changed()
