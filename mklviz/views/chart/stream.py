"""Traces in, small increments out: what one run adds to its ColumnDataSource at each tick. Knows no panel.

One source per run holds every column that any figure draws. New steps are streamed as short Python lists; when a line
would exceed `MOST_POINTS` the stride doubles and the whole line is sent once more, so neither the message nor the
painting grows with the length of a run. The last iterate of a run that does not move is always among the points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from bokeh.models import ColumnDataSource

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.record import FINAL, Trace
from mklviz.record.motion import Motion, Odometer
from mklviz.record.reference import Reference
from mklviz.views.host.document_models import all_columns_are_held

__all__ = [
    "ANCHORED",
    "COLUMNS",
    "KERNELS_SHOWN",
    "MOST_POINTS",
    "KernelSlots",
    "RunFeed",
    "Thinning",
    "distance",
    "drawable",
    "empty_source",
]

MOST_POINTS = 400
KERNELS_SHOWN = 6
LARGEST_DRAWN = 1e12  # canvas lines vanish when a range is wider
MARK_EVERY = 40  # points between two markers of a line
MARK_SIZE = 7.0
ANCHORED = (
    "objective",
    "gap",
    "step",
    "active",
    "tolerance",
    "top",
)  # columns whose figures need a value to start with
RECENT = 10  # steps whose mean weights choose the kernels shown while a run goes on
LOOK_SECONDS = 0.003  # spent on the motion of a run at each tick
WEIGHT_COLUMNS = tuple(f"w{slot}" for slot in range(KERNELS_SHOWN))
COLUMNS = (
    *("iteration", "svm_solves", "seconds", "objective", "above", "gap", "own_gap", "step", "active", "tolerance"),
    *("mark", "top", *WEIGHT_COLUMNS),
)


class Thinning:
    """Which steps of a growing trace are drawn: every stride-th, or log-spaced ones on a logarithmic x axis."""

    def __init__(self, log: bool = False) -> None:
        self.log = log
        self.stride = 1
        self.ratio = 0.01

    def select(self, begin: int, end: int, last: int) -> list[int]:
        """Return the steps to draw among ``begin <= i < end``, `last` being the last one drawn (-1: none)."""
        if not self.log:
            first = -(-begin // self.stride) * self.stride
            return list(range(first, end, self.stride))
        chosen = []
        index = max(begin, self._after(last))
        while index < end:
            chosen.append(index)
            index = self._after(index)
        return chosen

    def coarsen(self, length: int) -> None:
        """Double the spacing until `length` steps leave room for about as many points again."""
        while len(self.select(0, length, -1)) > 5 * MOST_POINTS // 8:
            self.stride *= 2
            self.ratio *= 2

    def _after(self, index: int) -> int:
        return max(index + 1, math.ceil(index * (1 + self.ratio)))


class KernelSlots:
    """The six largest kernels over all runs. A kernel keeps its slot, hence its colour, and gets it back if it can.

    Parameters
    ----------
    kernels : int
        How many there are.
    before : sequence of int or None
        Those that had the slots in an earlier race, None where there is no such kernel any more.
    """

    def __init__(self, kernels: int, before: Sequence[int | None] = ()) -> None:
        others = (k for k in range(kernels) if k not in before)
        kept = [*before, *[None] * KERNELS_SHOWN][: min(KERNELS_SHOWN, kernels)]
        self.slots = [next(others) if k is None else k for k in kept]
        self._former: dict[int, int] = {}
        self._untouched = all(k is None for k in kept)

    def update(self, weights: Sequence[Array], exact: bool = False) -> bool:
        """Choose by the runs' present weights; return whether a slot changed.

        Unless `exact`, a newcomer has to be a quarter larger than the kernel it ousts, or two kernels of like weight
        would change places at every look.
        """
        if not weights:
            return False
        score = np.max(np.stack(weights), axis=0)
        largest = _largest(score, len(self.slots))
        if self._untouched:
            self._untouched = False
            changed = largest != self.slots
            self.slots = largest
            return changed
        margin = 1.0 if exact else 1.25
        newcomers = [k for k in largest if k not in self.slots]
        leaving = sorted((k for k in self.slots if k not in largest), key=lambda k: score[k])
        changed = False
        for new in newcomers:
            beaten = [k for k in leaving if score[new] > margin * score[k]]
            if beaten:
                old = next((k for k in beaten if self.slots.index(k) == self._former.get(new)), beaten[0])
                slot = self._former[old] = self.slots.index(old)
                self.slots[slot] = new
                leaving.remove(old)
                changed = True
        return changed


def recent_weights(trace: Trace, length: int) -> Array:
    """Return the mean weights of the last steps; a single one of a solver that oscillates says little."""
    recent = trace[max(length - RECENT, 0) : length]
    return sum((it.weights for it in recent[1:]), start=recent[0].weights) / len(recent)


def _largest(score: Array, count: int) -> list[int]:
    """Return the `count` largest entries, largest first, ties by index."""
    order = -score
    among = np.arange(len(score))
    if count < len(score):  # sorting a million numbers would hold the page up
        among = np.flatnonzero(order <= np.partition(order, count)[count])
    return [int(k) for k in among[np.argsort(order[among], kind="stable")][:count]]


def empty_source(key: str) -> ColumnDataSource:
    """Return what the figures draw of the run `key`, without any points."""
    return ColumnDataSource({column: [] for column in COLUMNS}, name=f"run-{key}")


class RunFeed:
    """Fills the source of one run from its trace.

    Parameters
    ----------
    key : str
        Of the run.
    trace : Trace
    slots : KernelSlots
        Shared by all runs of a race.
    log_x : bool
        Thin for a logarithmic x axis.
    offset : int
        Shifts the markers, so that those of two runs do not coincide.
    source : ColumnDataSource, optional
        To fill instead of a new one; it keeps what it has until the first `push`.
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

    def place(self, step: int) -> dict[str, float]:
        """Return where on each horizontal axis the run stood at `step`, or at its end where it ended before."""
        at = self.trace.index_at(step)
        if at < 0:
            return {}
        place = {
            "iteration": float(self.trace.first_step + at),
            "svm_solves": float(self.trace[at].svm_solves),
            "seconds": self.trace.seconds_at(at),
        }
        return {name: x for name, x in place.items() if x > 0 or not self._log}

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
        if len(self._thinning.select(0, length, -1)) > MOST_POINTS:
            self._thinning.coarsen(length)
        chosen = self._thinning.select(0, length, -1)
        if length and (not chosen or chosen[-1] != length - 1):
            chosen.append(length - 1)
        self.source.data = self._rows(chosen, 0)
        self._shown_steps = chosen
        self._points, self._read, self._whole = len(chosen), length, False
        self._shown = chosen[-1] if chosen else -1
        return True

    def _rows(self, steps: Sequence[int], before: int) -> dict[str, list[float]]:
        """Return the columns at `steps`, of which `before` points are in the source already."""
        if not steps:
            return {column: [] for column in COLUMNS}
        iterates = [self.trace[t] for t in steps]
        kernels = self.slots.slots
        active, drawn = [], []
        for iterate in iterates:
            weights = iterate.weights  # once: of many kernels they may have to be brought
            active.append(float(np.count_nonzero(weights > ACTIVE_WEIGHT)))
            drawn.append(weights[kernels])
            self.largest = max(self.largest, float(weights.max()))
        tolerance = [it.facts.svm_tolerance for it in iterates]
        self._note(tolerance)
        columns: dict[str, list[float]] = {
            "iteration": [float(self.trace.first_step + t) for t in steps],
            "svm_solves": [float(it.svm_solves) for it in iterates],
            "seconds": [self.trace.seconds_at(t) for t in steps],
            "objective": drawable(it.objective for it in iterates),
            "above": drawable(self.reference.above(it.objective) for it in iterates),
            "gap": drawable(distance(self.trace, t) for t in steps),
            "own_gap": drawable(it.gap for it in iterates),
            "step": drawable(it.step for it in iterates),
            "active": active,
            "tolerance": tolerance,
            "mark": [self._mark(before + i) for i in range(len(steps))],
        }
        for slot, column in enumerate(WEIGHT_COLUMNS):
            columns[column] = [float(six[slot]) if slot < len(kernels) else math.nan for six in drawn]
        columns["top"] = [self.largest] * len(steps)  # also of kernels and steps that are not drawn any more
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


def distance(trace: Trace, step: int) -> float:
    """Return the run's gap, or the step's projected gradient relative to the objective where there is no gap."""
    gap, iterate = trace.gap_at(step), trace[step]
    if not math.isnan(gap) or not iterate.objective:
        return gap
    return iterate.facts.projected_gradient / abs(iterate.objective)


def drawable(values: Iterable[float]) -> list[float]:
    """Replace what no canvas can draw by nan, which leaves a hole in the line."""
    return [float(value) if abs(value) <= LARGEST_DRAWN else math.nan for value in values]
