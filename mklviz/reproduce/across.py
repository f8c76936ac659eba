"""Ratios between runs on different problems: of methods made for different regularizers, or of one with two prices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mklviz.reproduce.estimates import Estimate, OneMeasure
from mklviz.sweeps.statistics import MEASURES
from mklviz.sweeps.statistics.bootstrap import Resampling

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RatioAcross"]


@dataclass(frozen=True)
class RatioAcross(OneMeasure):
    """How many times a number of one run is that of another on the same split: a geometric mean over the splits.

    `measure`: one of `mklviz.sweeps.statistics.MEASURES`; `first`, `second`: the solver and the regularizer of each, as
    the table of the sweep has them, which varies the regularizer. Runs that ended at a limit count with what they had.
    """

    even = 1.0

    first: tuple[str, str]
    second: tuple[str, str]

    @property
    def label(self) -> str:
        pair = " over ".join(f"{solver} with {regularizer}" for solver, regularizer in (self.first, self.second))
        return f"{MEASURES[self.measure].label}, {pair}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        return {str(data): self._ratio(part) for data, part in frame.groupby("data", sort=False)}

    def _ratio(self, part: pd.DataFrame) -> Estimate:
        first, second = (self._of(part, *which) for which in (self.first, self.second))
        splits = first.index.intersection(second.index)
        if not len(splits):
            return Estimate()
        logs = np.log(first[splits].to_numpy(float) / second[splits].to_numpy(float))
        drawn = Resampling.of(np.arange(len(logs)), np.zeros(len(logs), dtype=np.intp))
        low, high = drawn.interval(drawn.counts @ logs / len(logs))
        return Estimate(math.exp(logs.mean()), math.exp(low), math.exp(high), len(logs))

    def _of(self, part: pd.DataFrame, solver: str, regularizer: str) -> pd.Series[float]:
        """Return the measure by the split, of runs that have a positive one."""
        own = part[(part["solver"] == solver) & (part["regularizer"] == regularizer) & (part["status"] != "failed")]
        values = own.set_index("split")[self.measure]
        return values[values > 0.0]
