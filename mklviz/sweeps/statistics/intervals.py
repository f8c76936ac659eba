"""Intervals over splits: bootstrap, spreads of solvers, and differences between pairs of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr, stdtrit

from mklviz.sweeps.statistics.outcomes import Outcomes
from mklviz.typing import Array, Indices

REPLICATES = 2000
LEVEL = 0.95
LEAST_FREEDOM = 4  # five splits of one data set: of fewer, too few tables can be drawn


@dataclass(frozen=True)
class Resampling:
    """How often each case stands in each drawn table, (replicates, cases); `freedom`: units less groups."""

    counts: Array
    freedom: int
    units: int

    @classmethod
    def of(cls, unit: Indices, group: Indices, seed: int = 0, replicates: int = REPLICATES) -> Resampling:
        """Draw the units of the cases within their groups, or all together where a group has a single one."""
        units, first, inverse = np.unique(unit, return_index=True, return_inverse=True)
        sizes = np.unique(group[first], return_counts=True)[1]
        own = group[first] if (sizes > 1).all() else np.zeros(len(units), dtype=np.intp)
        rng = np.random.default_rng(seed)
        drawn = np.empty((replicates, len(units)))
        for name in np.unique(own):
            members = own == name
            size = int(members.sum())
            drawn[:, members] = rng.multinomial(size, np.full(size, 1.0 / size), replicates)
        freedom = len(units) - len(np.unique(own))
        return cls(drawn[:, inverse], freedom, len(units))

    def interval(self, drawn: Array) -> tuple[Array, Array]:
        """Return the ends of the interval of what each table says, (replicates, ...) with nan for those that say
        nothing; nan where there are too few units to draw."""
        if self.freedom < LEAST_FREEDOM or not len(drawn):
            nothing = np.full(drawn.shape[1:], np.nan)
            return nothing, nothing
        quantile = stdtrit(self.freedom, (1.0 - LEVEL) / 2.0)
        tail = float(ndtr(math.sqrt(self.units / self.freedom) * quantile))
        low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
        return low, high


# Solvers two by two over the cases that both have solved: how many times one costs what the other does.
#
# With c_s the cost of solver s, the geometric mean over cases of c_first / c_second; of what is no cost the mean of
# first - second. Settings of one split are averaged before splits are drawn, see `bootstrap`.


@dataclass(frozen=True)
class Difference:
    """How the first of two solvers differs from the second.

    `value`: the geometric mean of cost ratios, or the mean difference, nan without a case that both solved; `low`,
    `high`: the ends of its interval, nan where there are too few cases to draw from; `pairs`: cases that both solved;
    `less`: those of them in which the first has less; `first_only`, `second_only`, `neither`: the other cases of both,
    by who solved them.
    """

    first: str
    second: str
    value: float
    low: float
    high: float
    pairs: int
    less: int
    first_only: int
    second_only: int
    neither: int


def paired_differences(outcomes: Outcomes, against: str = "", replicates: int = REPLICATES) -> list[Difference]:
    """Return the difference of every other solver from the one that is named, or of every two."""
    pairs: Sequence[tuple[str, str]] = list(combinations(outcomes.solvers, 2))
    if against:
        outcomes.among([against])
        pairs = [(solver, against) for solver in outcomes.solvers if solver != against]
    return [_difference(outcomes, first, second, replicates) for first, second in pairs]


def _difference(outcomes: Outcomes, first: str, second: str, replicates: int) -> Difference:
    one, other = (outcomes.solvers.index(name) for name in (first, second))
    known = outcomes.known[:, one] & outcomes.known[:, other]
    solved = outcomes.solved[:, [one, other]] & known[:, None]
    both = solved.all(axis=1)
    values = outcomes.values[both]
    values = np.log(values) if outcomes.measure.cost else values
    change = values[:, one] - values[:, other]
    unit, group = outcomes.splits
    ends = _interval(change, unit[both], group[both], replicates)
    value, low, high = (math.exp(end) if outcomes.measure.cost else end for end in ends)
    only, other_only, neither = (
        int((wanted & known).sum()) for wanted in (solved[:, 0] & ~both, solved[:, 1] & ~both, ~solved.any(axis=1))
    )
    less = int((change < 0.0).sum())
    return Difference(first, second, value, low, high, int(both.sum()), less, only, other_only, neither)


def _interval(change: Array, unit: Indices, group: Indices, replicates: int) -> tuple[float, float, float]:
    """Return the mean over units of what changes, and the ends of its interval."""
    if not len(change):
        return math.nan, math.nan, math.nan
    units, place = np.unique(unit, return_inverse=True)
    averaged = np.bincount(place, change) / np.bincount(place)
    owner = np.zeros(len(units), dtype=np.intp)
    owner[place] = group
    drawn = Resampling.of(np.arange(len(units)), owner, replicates=replicates)
    low, high = drawn.interval(drawn.counts @ averaged / len(units))
    return float(averaged.mean()), float(low), float(high)


# Means and spreads over splits, for each data set, setting and solver.
#
# Runs that did not converge are counted and never averaged: their costs are only bounds.


@dataclass(frozen=True)
class Spread:
    """The runs of one solver on the splits of one data set with one setting, both of which `title` says.

    `values`: those of the runs that converged; `unsolved`: what the other runs had reached, as far as that is known;
    `missed`: how many did not converge; `at`, `unsolved_at`: the places of the cases of `values` and `unsolved`.
    """

    title: str
    solver: str
    values: Array
    unsolved: Array
    missed: int
    at: Indices
    unsolved_at: Indices

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.values) + self.missed

    @property
    def mean(self) -> float:
        """Of the runs that converged, nan where none did."""
        return float(self.values.mean()) if len(self.values) else float("nan")

    @property
    def deviation(self) -> float:
        """The standard deviation, with n - 1 in the denominator; nan of fewer than two values."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else float("nan")

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """A quarter, half and three quarters of the values lie below these; nan where there are none."""
        if not len(self.values):
            return (float("nan"),) * 3
        low, middle, high = np.quantile(self.values, [0.25, 0.5, 0.75]).tolist()
        return low, middle, high


def spreads(outcomes: Outcomes) -> list[Spread]:
    """Return the spread of each solver for each data set and setting, in the order of the table."""
    titles = np.array([case.title for case in outcomes.cases])
    drawn = []
    for title in dict.fromkeys(titles.tolist()):
        rows = np.flatnonzero(titles == title)
        for column, solver in enumerate(outcomes.solvers):
            known, solved = outcomes.known[rows, column], outcomes.solved[rows, column]
            if known.any():
                values, missed = outcomes.values[rows, column], known & ~solved
                ended, reached = known & solved, missed & np.isfinite(values)
                numbers = values[ended], values[reached], int(missed.sum())
                drawn.append(Spread(title, solver, *numbers, rows[ended], rows[reached]))
    return drawn
