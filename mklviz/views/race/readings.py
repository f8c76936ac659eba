"""Reads the traces of runs into the sources that the figures draw, and chooses the kernels shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource

from mklviz.record import FINAL, Trace
from mklviz.record.motion import Motion
from mklviz.record.reference import Reference
from mklviz.views.chart.axes import squashed
from mklviz.views.chart.columns import COLUMNS, KernelColours, recent_weights
from mklviz.views.race.drawn_runs import DrawnRuns
from mklviz.views.race.feed import RunFeed
from mklviz.views.race.figures import Extent

__all__ = ["News", "Readings"]

KERNELS_EVERY = 1.0  # seconds between changes of the six kernels shown


@dataclass(frozen=True)
class News:
    """What has changed since the traces were last read."""

    points: bool  # there is something new to draw
    states: bool  # a run has begun, paused or ended
    kernels: bool  # other kernels are shown


class Readings:
    """One feed for each run, into existing `sources` where there are some, by the keys of the runs."""

    def __init__(
        self,
        drawn: DrawnRuns | None = None,
        log_x: bool = False,
        sources: Mapping[str, ColumnDataSource] | None = None,
        colours: KernelColours | None = None,
    ) -> None:
        self._traces: Mapping[str, Trace] = {} if drawn is None else drawn.traces
        self._names: Sequence[str] = () if drawn is None else drawn.names
        self._chosen_at = 0.0
        self.states: list[str] = []  # status of the runs when they were last read
        self.reference = Reference()  # the bound that objectives were last drawn above
        self.slots = (colours or KernelColours()).of(self._traces, self._names)
        self._shown_slots = list(self.slots.slots)
        states = [] if drawn is None else drawn.states()  # before the lengths, see `DrawnRuns`
        self.feeds = {
            key: RunFeed(key, trace, self.slots, log_x, offset=7 * i, source=(sources or {}).get(key))
            for i, (key, trace) in enumerate(self._traces.items())
        }
        self._push(states)  # figures that come with their data need no second drawing

    @property
    def sources(self) -> dict[str, ColumnDataSource]:
        """The sources of all runs."""
        return {key: feed.source for key, feed in self.feeds.items()}

    @property
    def motions(self) -> dict[str, Motion]:
        """The motion of each run's weights."""
        return {key: feed.motion for key, feed in self.feeds.items()}

    @property
    def largest(self) -> dict[str, float]:
        """The largest weight of each run so far."""
        return {key: feed.largest for key, feed in self.feeds.items()}

    @property
    def kernels(self) -> list[str]:
        """The names of the kernels shown."""
        return [self._names[k] for k in self.slots.slots]

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
        return any(feed.tolerance_varies for feed in self.feeds.values())

    def extents(self, hidden: Collection[str]) -> dict[str, Extent]:
        """Return the range of each column over the visible runs, where it has values above zero."""
        shown = [feed.source.data for key, feed in self.feeds.items() if key not in hidden]
        drawn = {column: [value for data in shown for value in data[column] if value > 0] for column in COLUMNS}
        drawn["gap"] += drawn["own_gap"]  # in the same figure
        return {column: (min(values), max(values)) for column, values in drawn.items() if values}

    def read(self, states: Sequence[str], hidden: Collection[str], now: float, chooses: bool) -> News:
        """Send new steps and return what was new; `states` are the runs' states, read before the traces.

        A view that is hidden does not choose (`chooses`) the kernels: it follows the one that does.
        """
        kernels = self._choose_kernels(states, hidden, now, chooses)
        points, turned = self._push(states), list(states) != self.states
        self.states = list(states)
        return News(points, turned, kernels)

    def _push(self, states: Sequence[str]) -> bool:
        """Send what is new; return whether there was any."""
        fresh = [feed.push(state) for feed, state in zip(self.feeds.values(), states, strict=True)]
        return any(fresh)

    def restart(self) -> None:
        """Send everything again with the next `read`."""
        for feed in self.feeds.values():
            feed.restart()

    def _choose_kernels(self, states: Sequence[str], hidden: Collection[str], now: float, chooses: bool) -> bool:
        """Choose the kernels shown now and then, by the visible runs; return whether they changed."""
        exact = all(state in FINAL for state in states)
        ended = exact and any(state not in FINAL for state in self.states)
        if self._traces and chooses and (now - self._chosen_at >= KERNELS_EVERY or ended):
            self._chosen_at = now
            shown = [trace for key, trace in self._traces.items() if key not in hidden and len(trace)]
            self.slots.update([t.best.weights if exact else recent_weights(t, len(t)) for t in shown], exact)
        changed = self.slots.slots != self._shown_slots
        if changed:
            self._shown_slots = list(self.slots.slots)
            self.restart()
        return changed

    def positions(self, step: int | None, hidden: Collection[str]) -> dict[str, dict[str, float]]:
        """Return the positions of the visible runs at a step; none where no step is chosen."""
        return {} if step is None else {k: feed.position(step) for k, feed in self.feeds.items() if k not in hidden}
