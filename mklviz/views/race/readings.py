"""Reads the traces of runs into the sources that the figures draw, and chooses the kernels shown. Knows no panel.

One source per run holds every column that any figure draws. New steps are streamed as short Python lists; when a line
would exceed `MOST_POINTS` the stride doubles and the whole line is sent once more, so neither the message nor the
painting grows with the length of a run. The last iterate of a run that does not move is always among the points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bokeh.models import ColumnDataSource

from mklviz.contract import Solver
from mklviz.engine import Race
from mklviz.engine.kinds import ProblemFacts
from mklviz.record import FINAL, Trace
from mklviz.record.summary import Reference
from mklviz.record.weights import Motion, MotionTracker
from mklviz.views.chart.axes import squashed
from mklviz.views.chart.columns import (
    ANCHORED,
    COLUMNS,
    MOST_POINTS,
    KernelSlots,
    Thinning,
    drawable,
    empty_source,
    line_columns,
    race_slots,
    weight_columns,
)


@dataclass(frozen=True)
class DrawnRuns:
    """Runs on one problem, by their keys."""

    traces: Mapping[str, Trace]
    states: Callable[[], list[str]]  # returns the status of the runs; a final status makes a trace final
    facts: ProblemFacts
    solvers: Mapping[str, Solver]
    recording: Mapping[str, Trace] = field(default_factory=dict)  # all of the runs, where they are played

    @classmethod
    def of(cls, race: Race) -> DrawnRuns:
        """Return the drawn runs of a race."""
        runs = race.runs
        solvers = {key: run.solver for key, run in runs.items()}
        return cls(race.traces, lambda: [run.status for run in runs.values()], race.facts, solvers)


Extent = tuple[float, float]

MARK_EVERY = 40  # points between two markers of a line
MARK_SIZE = 7.0


class RunFeed:
    """Fills the source of one run from its trace.

    `slots`: shared by all runs of a race; `source`: it keeps what it has until the first `push`; `log_x`: thin for a
    logarithmic x axis; `offset`: shifts the markers, so that those of two runs do not coincide.
    """

    def __init__(self, trace: Trace, slots: KernelSlots, source: ColumnDataSource, log_x: bool, offset: int) -> None:
        self.trace, self.slots, self.source = trace, slots, source
        self.motion = Motion()
        self._tracker, self.look_seconds = MotionTracker(), 0.003  # spent on the motion at each push
        self.tolerances = (math.inf, -math.inf)  # smallest and largest SVM tolerance drawn
        self.reference = Reference()  # above which objectives are drawn, if they are
        self._shown_steps: list[int] = []
        self.largest = 0.0  # weight of any kernel at any step read so far
        self._offset, self._log = offset, log_x
        self._points = 0
        self.filled: set[str] = set()  # columns that have something a logarithmic axis can show
        self.restart()

    def restart(self) -> None:
        """Forget what was sent; the next `push` sends all of the trace."""
        self._thinning = Thinning(self._log)
        self._read, self._shown, self._whole = 0, -1, True

    def set_log(self, log: bool) -> None:
        """Thin for a logarithmic x axis, or for a linear one."""
        self._log = log
        self.restart()

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
        """Send what is new; return whether there was any. `status` was read before: a final one means a whole trace."""
        from mklviz.views.host.frames import all_columns_are_held  # which loads Panel; drawing alone does without

        length = len(self.trace)
        self.motion = self._tracker.read(self.trace, self.look_seconds)
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
        if known := [value for value in columns["tolerance"] if math.isfinite(value)]:
            low, high = self.tolerances
            self.tolerances = (min(low, *known), max(high, *known))
        self.largest = max(self.largest, *columns["top"])
        columns["top"] = [self.largest] * len(steps)  # including kernels and steps that are no longer drawn
        columns["mark"] = [
            MARK_SIZE if (before + i - self._offset) % MARK_EVERY == 0 else math.nan for i in range(len(steps))
        ]
        if steps[-1] > 0:
            self.filled |= {name for name in ANCHORED if any(number > 0 for number in columns[name])}
        return columns


KERNELS_EVERY = 1.0  # seconds between changes of the kernels drawn in grey


@dataclass(frozen=True)
class News:
    """What has changed since the traces were last read."""

    points: bool  # there is something new to draw
    states: bool  # a run has begun, paused or ended
    kernels: bool  # other kernels are drawn, or they have got their colours


class Readings:
    """One feed for each run, into existing `sources` where there are some, by the keys of the runs."""

    def __init__(
        self, drawn: DrawnRuns | None = None, log_x: bool = False, sources: Mapping[str, ColumnDataSource] | None = None
    ) -> None:
        self._traces: Mapping[str, Trace] = {} if drawn is None else drawn.traces
        self._chosen_at = 0.0
        self.states: list[str] = []  # status of the runs when they were last read
        self.reference = Reference()  # the bound that objectives were last drawn above
        known = {} if drawn is None else drawn.recording or drawn.traces
        self.slots = race_slots(known.values())
        self._drawn_slots = self._drawn()
        states = [] if drawn is None else drawn.states()  # before the lengths, see `DrawnRuns`
        self.feeds = {
            key: RunFeed(trace, self.slots, (sources or {}).get(key) or empty_source(key), log_x, offset=7 * i)
            for i, (key, trace) in enumerate(self._traces.items())
        }
        self._push(states)  # figures that come with their data need no second drawing

    @property
    def motions(self) -> dict[str, Motion]:
        return {key: feed.motion for key, feed in self.feeds.items()}

    @property
    def largest(self) -> dict[str, float]:
        """The largest weight of each run so far."""
        return {key: feed.largest for key, feed in self.feeds.items()}

    def refer(self) -> bool:
        """Draw objectives above the current best bound; return whether it changed."""
        reference = Reference.of(feed.trace for feed in self.feeds.values())
        another = bool(reference) and any(feed.reference != reference for feed in self.feeds.values())
        if another:
            self.reference = reference
            for feed in self.feeds.values():
                feed.refer(reference)
        return another

    def squashed(self, hidden: Collection[str]) -> bool:
        """Return whether the objectives of the visible runs lie too flat, where there is a bound."""
        shown = [feed.source.data["objective"] for key, feed in self.feeds.items() if key not in hidden]
        return bool(Reference.of(feed.trace for feed in self.feeds.values())) and squashed(shown)

    @property
    def tolerance_varies(self) -> bool:
        """Whether a solver changes the tolerance of its SVMs."""
        return any(high > 1.001 * low for low, high in (feed.tolerances for feed in self.feeds.values()))

    def extents(self, hidden: Collection[str]) -> dict[str, Extent]:
        """Return the range of each column over the visible runs, where it has values above zero."""
        shown = [feed.source.data for key, feed in self.feeds.items() if key not in hidden]
        drawn = {column: [value for data in shown for value in data[column] if value > 0] for column in COLUMNS}
        drawn["gap"] += drawn["own_gap"]  # in the same figure
        return {column: (min(values), max(values)) for column, values in drawn.items() if values}

    def read(self, states: Sequence[str], now: float) -> News:
        """Send new steps and return what was new; `states` are the runs' states, read before the traces."""
        kernels = self._choose_kernels(states, now)
        points, turned = self._push(states), list(states) != self.states
        self.states = list(states)
        return News(points, turned, kernels)

    def _push(self, states: Sequence[str]) -> bool:
        """Send what is new; return whether there was any."""
        fresh = [feed.push(state) for feed, state in zip(self.feeds.values(), states, strict=True)]
        return any(fresh)

    def set_log(self, log: bool) -> None:
        """Thin for a logarithmic x axis, or for a linear one."""
        for feed in self.feeds.values():
            feed.set_log(log)

    def restart(self) -> None:
        """Send everything again with the next `read`."""
        for feed in self.feeds.values():
            feed.restart()

    def _choose_kernels(self, states: Sequence[str], now: float) -> bool:
        """Choose the kernels drawn, now and then and when a run has ended; return whether they changed."""
        ended = any(state in FINAL and state != before for state, before in zip(states, self.states, strict=False))
        if now - self._chosen_at >= KERNELS_EVERY or ended:
            self._chosen_at = now
            self.slots.update(self._traces.values())
        changed = self._drawn() != self._drawn_slots
        if changed:
            self._drawn_slots = self._drawn()
            self.restart()
        return changed

    def _drawn(self) -> tuple[list[int], bool]:
        return self.slots.slots, self.slots.coloured

    def positions(self, step: int | None, hidden: Collection[str]) -> dict[str, dict[str, float]]:
        """Return the positions of the visible runs at a step; none where no step is chosen."""
        return {} if step is None else {k: feed.position(step) for k, feed in self.feeds.items() if k not in hidden}
