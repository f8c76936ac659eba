"""Intervals by resampling: B tables drawn from one, with replacement, and the spread of what they say.

Drawn are splits, within their data, as a sweep's splits are drawn anew by other seeds while its data sets are given;
where there is one split of each, data sets are drawn instead. Cases of one split, which differ in settings, stay
together. The interval is the expanded percentile interval: with U units in G groups, from the quantile

    q = Phi(-sqrt(U / (U - G)) t_{(1 - level)/2, U - G})

to 1 - q, which for a mean of normal numbers is Student's interval, while plain percentiles are too short for few units.

Reference: Efron, Tibshirani, An Introduction to the Bootstrap, 1993; Hesterberg, What teachers should know about the
bootstrap, The American Statistician 69, 2015, section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from mklviz.typing import Array, Indices

__all__ = ["LEVEL", "REPLICATES", "Resampling"]

REPLICATES = 2000
LEVEL = 0.95
LEAST_FREEDOM = 4  # five splits of one data set: of fewer, too few tables can be drawn


@dataclass(frozen=True)
class Resampling:
    """How often each case stands in each of the tables that were drawn: `counts`, (replicates, cases).

    `freedom`: units less groups.
    """

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

    def interval(self, drawn: Array, level: float = LEVEL) -> tuple[Array, Array]:
        """Return the ends of the interval of what each table says, (replicates, ...) with nan for those that say
        nothing; nan where there are too few units to draw."""
        if self.freedom < LEAST_FREEDOM or not len(drawn):
            nothing = np.full(drawn.shape[1:], np.nan)
            return nothing, nothing
        quantile = stdtrit(self.freedom, (1.0 - level) / 2.0)
        tail = float(ndtr(math.sqrt(self.units / self.freedom) * quantile))
        low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
        return low, high
