"""The columns that figures draw of runs: which there are, at which steps they are read, and of which kernels. Knows no
panel."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting.contour import contour_data

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.record import Trace
from mklviz.record.summary import Reference
from mklviz.views.chart.description import ContourMark, Table
from mklviz.views.look.palette import mixed

__all__ = [
    "ANCHORED",
    "COLUMNS",
    "KERNELS_SHOWN",
    "LARGEST_DRAWN",
    "MOST_POINTS",
    "WEIGHT_COLUMNS",
    "KernelColours",
    "KernelSlots",
    "Thinning",
    "contour_bands",
    "contour_levels",
    "distance",
    "drawable",
    "empty_source",
    "line_columns",
    "recent_weights",
    "weight_columns",
]

MOST_POINTS = 400
KERNELS_SHOWN = 6
LARGEST_DRAWN = 1e12  # canvas lines vanish when a range is wider
ANCHORED = (
    "objective",
    "gap",
    "step",
    "active",
    "tolerance",
    "top",
)  # columns whose figures need a value to start with
RECENT = 10  # steps whose mean weights choose the kernels shown while a run goes on
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

    def whole(self, length: int) -> list[int]:
        """Return the steps to draw of a trace of that length: as many as fit, with the last one."""
        if len(self.select(0, length, -1)) > MOST_POINTS:
            self.coarsen(length)
        chosen = self.select(0, length, -1)
        return chosen if not length or chosen[-1] == length - 1 else [*chosen, length - 1]

    def _after(self, index: int) -> int:
        return max(index + 1, math.ceil(index * (1 + self.ratio)))


class KernelSlots:
    """The six largest kernels over all runs. A kernel keeps its slot, hence its colour, and gets it back if it can.

    `kernels`: how many there are; `before`: those that had the slots in an earlier race, None where there is no such
    kernel any more.
    """

    def __init__(self, kernels: int, before: Sequence[int | None] = ()) -> None:
        others = (k for k in range(kernels) if k not in before)
        slots = [*before, *[None] * KERNELS_SHOWN][: min(KERNELS_SHOWN, kernels)]
        self.slots = [next(others) if k is None else k for k in slots]
        self._former: dict[int, int] = {}
        self._untouched = all(k is None for k in slots)

    def update(self, weights: Sequence[Array], exact: bool = False) -> bool:
        """Choose by the runs' present weights; return whether a slot changed.

        Unless `exact`, a newcomer has to be a quarter larger than the kernel it ousts, or two kernels of like weight
        would change places at every update.
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


def best_slots(traces: Sequence[Trace], slots: KernelSlots | None = None, exact: bool = True) -> KernelSlots:
    """Return the slots of the kernels that are largest where these runs came closest, as far as they have come."""
    best = [trace.best.weights for trace in traces if len(trace)]
    slots = slots or KernelSlots(max(map(len, best), default=0))
    slots.update(best, exact)
    return slots


def shown_names(traces: Iterable[Trace], slots: KernelSlots) -> list[str]:
    """Return the names of the kernels shown of runs on one bank."""
    names = next(iter(traces)).kernel_names
    return [names[k] if k < len(names) else f"kernel {k + 1}" for k in slots.slots]


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


def line_columns(trace: Trace, steps: Sequence[int], reference: Reference) -> dict[str, list[float]]:
    """Return what is drawn of a run at `steps`, but for weights; objectives once more, above a bound."""
    iterates = [trace[t] for t in steps]
    return {
        "iteration": [float(trace.first_step + t) for t in steps],
        "svm_solves": [float(iterate.svm_solves) for iterate in iterates],
        "seconds": [trace.seconds_at(t) for t in steps],
        "objective": drawable(iterate.objective for iterate in iterates),
        "above": drawable(reference.above(iterate.objective) for iterate in iterates),
        "gap": drawable(distance(trace, t) for t in steps),
        "own_gap": drawable(iterate.gap for iterate in iterates),
        "step": drawable(iterate.step for iterate in iterates),
        "tolerance": [iterate.facts.svm_tolerance for iterate in iterates],
    }


def weight_columns(trace: Trace, steps: Sequence[int], kernels: Sequence[int]) -> dict[str, list[float]]:
    """Return the weights of some `kernels` at `steps`, how many of all are in use, and the largest of all."""
    active, largest, drawn = [], [], []
    for t in steps:
        weights = trace[t].weights  # once: of many kernels they may have to be brought
        active.append(float(np.count_nonzero(weights > ACTIVE_WEIGHT)))
        largest.append(float(weights.max()))
        drawn.append(weights[list(kernels)])
    columns = {"active": active, "top": largest}
    for slot, column in enumerate(WEIGHT_COLUMNS):
        columns[column] = [float(row[slot]) if slot < len(kernels) else math.nan for row in drawn]
    return columns


def empty_source(key: str) -> ColumnDataSource:
    """Return what the figures draw of the run `key`, without any points."""
    return ColumnDataSource({column: [] for column in COLUMNS}, name=f"run-{key}")


def distance(trace: Trace, step: int) -> float:
    """Return the run's gap, or the step's projected gradient relative to the objective where there is no gap."""
    gap, iterate = trace.gap_at(step), trace[step]
    if not math.isnan(gap) or not iterate.objective:
        return gap
    return iterate.facts.projected_gradient / abs(iterate.objective)


def drawable(values: Iterable[float]) -> list[float]:
    """Replace what no canvas can draw by nan, which leaves a hole in the line."""
    return [float(value) if abs(value) <= LARGEST_DRAWN else math.nan for value in values]


# -- which kernels have a colour: the same in every tab of a page, and in its next race as far as they are there again


class KernelColours:
    """The slots of the kernels of the race that is drawn.

    `slots`: the place of a kernel in it is that of its colour in `Theme.kernels`.
    """

    def __init__(self) -> None:
        self.slots = KernelSlots(0)
        self._names: Sequence[str] = ()
        self._first: Any = lambda: None  # returns the first run, by which a race is known, if it is still there

    def of(self, traces: Mapping[str, Trace], names: Sequence[str]) -> KernelSlots:
        """Return the slots of the kernels of some runs: those they have, else new ones, much as in the race before."""
        first = next(iter(traces.values()), None)
        if first is None:
            return KernelSlots(0)
        if self._first() is not first:
            same = [k < len(names) and names[k] == self._names[k] for k in self.slots.slots]
            before = [k if unchanged else None for k, unchanged in zip(self.slots.slots, same, strict=True)]
            self.slots, self._names, self._first = KernelSlots(len(names), before), names, weakref.ref(first)
        return self.slots


# -- levels of a contour mark: they lie closer together near the lowest height, as squares do


def contour_levels(heights: Array, count: int) -> Array:
    """Return the ends of so many bands, (count + 1,), from the lowest height to the highest."""
    low, high = float(heights.min()), float(heights.max())
    room = max(high - low, 1e-9 * max(abs(high), 1.0))
    return low + room * np.linspace(0.0, 1.0, count + 1) ** 2


def contour_bands(mark: ContourMark, table: Table) -> dict[str, list[Any]]:
    """Return the polygons between the levels of a mesh, and their shades; none where there is no mesh."""
    x, y, z = (np.asarray(table[column]) for column in (mark.x, mark.y, mark.z))
    if not z.size:
        return {"xs": [], "ys": [], "fill": []}
    levels = contour_levels(z, mark.levels)
    rounding = 1e-6 * (levels[-1] - levels[0])
    levels[0], levels[-1] = levels[0] - rounding, levels[-1] + rounding
    bands = contour_data(x, y, z, levels, want_line=False).fill_data
    shares = np.linspace(0.0, 1.0, len(bands.xs)).tolist()
    return {"xs": bands.xs, "ys": bands.ys, "fill": [mixed(mark.low, mark.high, share) for share in shares]}
