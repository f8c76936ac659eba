"""Traces in, small increments out: the data that one run adds to its ColumnDataSource at each tick. Knows no panel.

One source per run holds every column that any figure draws. New steps are streamed as short Python lists; when a line
would exceed `MOST_POINTS` the stride doubles and the whole line is sent once more, so neither the message nor the
painting grows with the length of a run. The last iterate of a run that does not move is always among the points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bokeh.models import ColumnDataSource

from mklviz.record import FINAL, Trace
from mklviz.record.motion import Motion, Odometer
from mklviz.record.reference import Reference
from mklviz.views.chart.columns import (
    ANCHORED,
    COLUMNS,
    MOST_POINTS,
    KernelSlots,
    Thinning,
    drawable,
    empty_source,
    line_columns,
    weight_columns,
)
from mklviz.views.host.workarounds import all_columns_are_held

__all__ = ["RunFeed"]

MARK_EVERY = 40  # points between two markers of a line
MARK_SIZE = 7.0
LOOK_SECONDS = 0.003  # spent on the motion of a run at each tick


class RunFeed:
    """Fills the source of one run from its trace.

    `slots`: shared by all runs of a race; `log_x`: thin for a logarithmic x axis; `offset`: shifts the markers, so that
    those of two runs do not coincide; `source`: to fill instead of a new one; it keeps what it has until the first
    `push`.
    """

    def __init__(
        self,
        key: str,
        trace: Trace,
        slots: KernelSlots,
        log_x: bool = False,
        offset: int = 0,
        source: ColumnDataSource | None = None,
    ) -> None:
        self.trace, self.slots = trace, slots
        self.source = source or empty_source(key)
        self.motion = Motion()
        self._odometer = Odometer()
        self.tolerances: tuple[float, float] | None = None  # smallest and largest SVM tolerance drawn
        self.reference = Reference()  # above which objectives are drawn, if they are
        self._shown_steps: list[int] = []
        self.largest = 0.0  # weight of any kernel at any step read so far
        self._offset = offset
        self._points = 0
        self._log = log_x
        self.filled: set[str] = set()  # columns that have something a logarithmic axis can show
        self.restart()

    @property
    def tolerance_varies(self) -> bool:
        return self.tolerances is not None and self.tolerances[1] > 1.001 * self.tolerances[0]

    def restart(self) -> None:
        """Forget what was sent; the next `push` sends all of the trace."""
        self._thinning = Thinning(self._log)
        self._read, self._shown, self._whole = 0, -1, True

    def refer(self, reference: Reference) -> None:
        """Draw objectives above another bound."""
        self.reference = reference
        drawn = [self.trace[t].objective for t in self._shown_steps]
        if drawn:
            self.source.patch({"above": [(slice(len(drawn)), drawable(map(reference.above, drawn)))]})

    def position(self, step: int) -> dict[str, float]:
        """Return the run's position on each horizontal axis at `step`, or at its end if it ended before."""
        at = self.trace.index_at(step)
        if at < 0:
            return {}
        position = {
            "iteration": float(self.trace.first_step + at),
            "svm_solves": float(self.trace[at].svm_solves),
            "seconds": self.trace.seconds_at(at),
        }
        return {name: x for name, x in position.items() if x > 0 or not self._log}

    def push(self, status: str) -> bool:
        """Send what is new; return whether there was any.

        `status` is the run's, read before this call: a final status means that the trace is complete.
        """
        length = len(self.trace)
        self.motion = self._odometer.read(self.trace, LOOK_SECONDS)
        if self._whole:
            return self._send_all(length)
        chosen = self._thinning.select(self._read, length, self._shown)
        self._read = length
        resting = status in FINAL or status == "paused"
        if resting and length and self._shown != length - 1 and (not chosen or chosen[-1] != length - 1):
            chosen.append(length - 1)
        if not chosen:
            return False
        if self._points + len(chosen) > MOST_POINTS or all_columns_are_held(self.source):
            return self._send_all(length)
        self.source.stream(self._rows(chosen, self._points))
        self._shown_steps += chosen
        self._points += len(chosen)
        self._shown = chosen[-1]
        return True

    def _send_all(self, length: int) -> bool:
        chosen = self._thinning.whole(length)
        self.source.data = self._rows(chosen, 0)
        self._shown_steps = chosen
        self._points, self._read, self._whole = len(chosen), length, False
        self._shown = chosen[-1] if chosen else -1
        return True

    def _rows(self, steps: Sequence[int], before: int) -> dict[str, list[float]]:
        """Return the columns at `steps`, of which `before` points are in the source already."""
        if not steps:
            return {column: [] for column in COLUMNS}
        columns = line_columns(self.trace, steps, self.reference)
        columns |= weight_columns(self.trace, steps, self.slots.slots)
        self._note(columns["tolerance"])
        self.largest = max(self.largest, *columns["top"])
        columns["top"] = [self.largest] * len(steps)  # including kernels and steps that are no longer drawn
        columns["mark"] = [self._mark(before + i) for i in range(len(steps))]
        if steps[-1] > 0:
            self.filled |= {name for name in ANCHORED if any(number > 0 for number in columns[name])}
        return columns

    def _mark(self, point: int) -> float:
        return MARK_SIZE if (point - self._offset) % MARK_EVERY == 0 else math.nan

    def _note(self, tolerances: Iterable[float]) -> None:
        known = [value for value in tolerances if math.isfinite(value)]
        if known:
            low, high = self.tolerances or (math.inf, -math.inf)
            self.tolerances = (min(low, *known), max(high, *known))
