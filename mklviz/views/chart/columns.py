"""The columns that figures draw of runs: which there are, at which steps they are read, and of which kernels. Knows no
panel."""

from __future__ import annotations

import math
import weakref
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting.contour import contour_data

from mklviz.contract import ACTIVE_WEIGHT, Array
from mklviz.record import FINAL, SOLVED, Trace
from mklviz.record.summary import Reference
from mklviz.views.chart.description import ContourMark, Table
from mklviz.views.look.palette import mixed

MOST_POINTS = 400
KERNELS_SHOWN = 6
LARGEST_DRAWN = 1e12  # canvas lines vanish when a range is wider
# columns whose figures need a value to start with
ANCHORED = ("objective", "gap", "step", "active", "tolerance", "top")
RECENT = 10  # steps whose mean weights choose the kernels drawn while a race goes on
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
    """The six kernels whose weights are drawn, each in the place of its colour in `Theme.kernels`.

    They are chosen once: as the largest at the end of the run that converges first, or of all runs where none does.
    Until then those are drawn that are largest at present, and `coloured` is False.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.slots = list(range(min(KERNELS_SHOWN, len(names))))
        self.coloured = len(names) <= KERNELS_SHOWN

    @property
    def shown(self) -> list[str]:
        return [self.names[k] for k in self.slots]

    def suits(self, names: Sequence[str]) -> bool:
        """Return whether these kernels may be those of a bank of such `names`."""
        return len(names) == len(self.names) and [names[k] for k in self.slots] == self.shown

    def choose(self, weights: Sequence[Array]) -> None:
        """Give the kernels that are largest in any of these weights their colours, for good."""
        if not self.coloured and weights:
            self.slots = placed(_largest(np.max(np.stack(weights), axis=0), len(self.slots)), self.names)
            self.coloured = True

    def update(self, traces: Iterable[Trace]) -> None:
        """Choose by runs that have ended, or draw the kernels that are largest at present."""
        runs = list(traces)  # a kernel has to be a quarter larger than one drawn, or two alike would change places
        if not self.coloured and any(map(len, runs)):
            self.choose(_final_weights(runs))
        if not self.coloured and any(map(len, runs)):
            score = np.max(np.stack([recent_weights(trace, len(trace)) for trace in runs if len(trace)]), axis=0)
            score[self.slots] *= 1.25
            largest = _largest(score, len(self.slots))
            newcomers = (k for k in largest if k not in self.slots)
            self.slots = [k if k in largest else next(newcomers) for k in self.slots]


def _final_weights(runs: Sequence[Trace]) -> list[Array]:
    """Return the weights by which the kernels with colours are chosen; none as long as they are not known."""
    ended = [trace for trace in runs if trace.status in FINAL]
    proved = [run for run in ended if run.status in SOLVED and len(run) and math.isfinite(run.gap_at(len(run) - 1))]
    if proved:
        return [min(proved, key=lambda run: run.seconds_at(len(run) - 1)).best.weights]
    return [run.best.weights for run in ended if len(run)] if len(ended) == len(runs) else []


_SLOTS = weakref.WeakKeyDictionary[Trace, KernelSlots]()  # of each race, by its first run
_PLACES: dict[tuple[int, int, str], int] = {}  # of a kernel by the size of its bank, its index and its name
MOST_PLACES = 10_000  # that are remembered


def race_slots(traces: Iterable[Trace], before: KernelSlots | None = None) -> KernelSlots:
    """Return the kernels drawn of a race, the same wherever it is shown; `before`: those of a recording of it."""
    runs = list(traces)
    if not runs:
        return KernelSlots(())
    if runs[0] not in _SLOTS:
        names = _names(runs)
        _SLOTS[runs[0]] = before if before is not None and before.suits(names) else KernelSlots(names)
    _SLOTS[runs[0]].update(runs)
    return _SLOTS[runs[0]]


def _names(runs: Sequence[Trace]) -> Sequence[str]:
    kernels = max((len(run.best.weights) for run in runs if len(run)), default=0)
    names = runs[0].kernel_names
    return names if len(names) >= kernels else [*names, *(f"kernel {k + 1}" for k in range(len(names), kernels))]


def placed(kernels: Collection[int], names: Sequence[str]) -> list[int]:
    """Return up to six kernels in the places of their colours: each where it was in other races, else by its index."""
    known = {k: (len(names), k, names[k]) for k in kernels}
    free, places = list(range(len(kernels))), dict[int, int]()
    for k in sorted(kernels, key=lambda k: (known[k] not in _PLACES, k)):
        wanted = _PLACES.get(known[k], k % len(kernels))
        place = wanted if wanted in free else free[0]
        free.remove(place)
        places[place], _PLACES[known[k]] = k, place
    while len(_PLACES) > MOST_PLACES:
        del _PLACES[next(iter(_PLACES))]
    return [places[place] for place in range(len(kernels))]


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
