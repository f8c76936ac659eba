"""What is read from the traces of runs into the sources that its figures draw, and which kernels are shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bokeh.models import ColumnDataSource

from mklviz.record import FINAL, Trace
from mklviz.record.motion import Motion
from mklviz.record.reference import Reference
from mklviz.views.chart.columns import COLUMNS, recent_weights
from mklviz.views.chart.kernel_colours import KernelColours
from mklviz.views.chart.squashed import squashed
from mklviz.views.race.drawn_runs import DrawnRuns
from mklviz.views.race.feed import RunFeed
from mklviz.views.race.figures import Extent

__all__ = ["Readings"]

KERNELS_EVERY = 1.0  # seconds between changes of the six kernels shown


class Readings:
    """One feed for each run, into the sources that stand where there are some.

    Parameters
    ----------
    drawn : Drawn or None
    log_x : bool
        Thin for a logarithmic x axis.
    sources : mapping of str to ColumnDataSource
        Those that stand, by the keys of the runs.
    colours : KernelColours
        Those of the kernels, which others may share.

    Attributes
    ----------
    feeds : dict of str to RunFeed
    slots : KernelSlots
    states : list of str
        How the runs stood when they were last read.
    reference : Reference
        What objectives were last drawn above.
    """

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
        self.states: list[str] = []
        self.reference = Reference()
        self.slots = (colours or KernelColours()).of(self._traces, self._names)
        self._drawn = list(self.slots.slots)
        states = [] if drawn is None else drawn.states()  # before the lengths, see `Drawn`
        self.feeds = {
            key: RunFeed(key, trace, self.slots, log_x, offset=7 * i, source=(sources or {}).get(key))
            for i, (key, trace) in enumerate(self._traces.items())
        }
        self.push(states)  # figures that come with their data need no second drawing

    @property
    def sources(self) -> dict[str, ColumnDataSource]:
        """The sources of all runs."""
        return {key: feed.source for key, feed in self.feeds.items()}

    @property
    def motions(self) -> dict[str, Motion]:
        """How the weights of each run have moved."""
        return {key: feed.motion for key, feed in self.feeds.items()}

    @property
    def kernels(self) -> list[str]:
        """The names of the kernels shown."""
        return [self._names[k] for k in self.slots.slots]

    def refer(self) -> bool:
        """Draw objectives above the best bound there is by now; return whether it is another one."""
        reference = Reference.of(feed.trace for feed in self.feeds.values())
        news = bool(reference) and any(feed.reference != reference for feed in self.feeds.values())
        if news:
            self.reference = reference
            for feed in self.feeds.values():
                feed.refer(reference)
        return news

    def squashed(self, hidden: Collection[str]) -> bool:
        """Return whether the objectives of the runs that are not hidden lie too flat, where there is a bound."""
        shown = [feed.source.data["objective"] for key, feed in self.feeds.items() if key not in hidden]
        return bool(Reference.of(feed.trace for feed in self.feeds.values())) and squashed(shown)

    @property
    def tolerance_varies(self) -> bool:
        """Whether a solver changes the tolerance of its SVMs."""
        return any(feed.tolerance_varies for feed in self.feeds.values())

    def extents(self, hidden: Collection[str]) -> dict[str, Extent]:
        """Return between which values each column lies of the runs that are not hidden, where it has any above zero."""
        shown = [feed.source.data for key, feed in self.feeds.items() if key not in hidden]
        drawn = {column: [value for data in shown for value in data[column] if value > 0] for column in COLUMNS}
        drawn["gap"] += drawn["own_gap"]  # in the same figure
        return {column: (min(values), max(values)) for column, values in drawn.items() if values}

    def push(self, states: Sequence[str]) -> bool:
        """Send what is new, the runs standing as `states` say; return whether there was any."""
        fresh = [feed.push(state) for feed, state in zip(self.feeds.values(), states, strict=True)]
        return any(fresh)

    def restart(self) -> None:
        """Send all once more with the next `push`."""
        for feed in self.feeds.values():
            feed.restart()

    def choose_kernels(self, states: Sequence[str], hidden: Collection[str], now: float, chooses: bool = True) -> bool:
        """Choose now and then which kernels are shown, by the runs that are not hidden; return whether others are.

        Where it is not this view that `chooses`, as nobody sees it, it follows the one that does.
        """
        exact = all(state in FINAL for state in states)
        news = exact and any(state not in FINAL for state in self.states)
        if self._traces and chooses and (now - self._chosen_at >= KERNELS_EVERY or news):
            self._chosen_at = now
            shown = [trace for key, trace in self._traces.items() if key not in hidden and len(trace)]
            self.slots.update([t.best.weights if exact else recent_weights(t, len(t)) for t in shown], exact)
        changed = self.slots.slots != self._drawn
        if changed:
            self._drawn = list(self.slots.slots)
            self.restart()
        return changed

    def places(self, step: int | None, hidden: Collection[str]) -> dict[str, dict[str, float]]:
        """Return where the runs stood at a step that are not hidden; none where no step is chosen."""
        return {} if step is None else {k: feed.place(step) for k, feed in self.feeds.items() if k not in hidden}
