"""Solvers two by two over the cases that both have solved: how many times one costs what the other does.

With c_s the cost of solver s, the geometric mean over cases of c_first / c_second; of what is no cost the mean of
first - second. Settings of one split are averaged before splits are drawn, see `bootstrap`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mklviz.sweeps.statistics.bootstrap import LEVEL, REPLICATES, Resampling
from mklviz.sweeps.statistics.outcomes import Outcomes
from mklviz.typing import Array, Indices

__all__ = ["Difference", "paired_differences"]


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


def paired_differences(
    outcomes: Outcomes, against: str = "", level: float = LEVEL, seed: int = 0, replicates: int = REPLICATES
) -> list[Difference]:
    """Return the difference of every other solver from the one that is named, or of every two."""
    pairs: Sequence[tuple[str, str]] = list(combinations(outcomes.solvers, 2))
    if against:
        outcomes.among([against])
        pairs = [(solver, against) for solver in outcomes.solvers if solver != against]
    return [_difference(outcomes, first, second, level, seed, replicates) for first, second in pairs]


def _difference(outcomes: Outcomes, first: str, second: str, level: float, seed: int, replicates: int) -> Difference:
    one, other = (outcomes.solvers.index(name) for name in (first, second))
    known = outcomes.known[:, one] & outcomes.known[:, other]
    solved = outcomes.solved[:, [one, other]] & known[:, None]
    both = solved.all(axis=1)
    values = outcomes.values[both]
    values = np.log(values) if outcomes.measure.cost else values
    change = values[:, one] - values[:, other]
    unit, group = outcomes.splits
    ends = _interval(change, unit[both], group[both], level, seed, replicates)
    value, low, high = (math.exp(end) if outcomes.measure.cost else end for end in ends)
    only, other_only, neither = (
        int((wanted & known).sum()) for wanted in (solved[:, 0] & ~both, solved[:, 1] & ~both, ~solved.any(axis=1))
    )
    less = int((change < 0.0).sum())
    return Difference(first, second, value, low, high, int(both.sum()), less, only, other_only, neither)


def _interval(
    change: Array, unit: Indices, group: Indices, level: float, seed: int, replicates: int
) -> tuple[float, float, float]:
    """Return the mean over units of what changes, and the ends of its interval."""
    if not len(change):
        return math.nan, math.nan, math.nan
    units, place = np.unique(unit, return_inverse=True)
    averaged = np.bincount(place, change) / np.bincount(place)
    owner = np.zeros(len(units), dtype=np.intp)
    owner[place] = group
    drawn = Resampling.of(np.arange(len(units)), owner, seed, replicates)
    low, high = drawn.interval(drawn.counts @ averaged / len(units), level)
    return float(averaged.mean()), float(low), float(high)
