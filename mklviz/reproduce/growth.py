"""How a cost grows with samples or kernels, as a quantity of a claim: the exponent b of cost ~ size^b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mklviz.reproduce.estimates import TIME, Estimate, OneMeasure, measure_label
from mklviz.sweeps.statistics import Outcomes, growths
from mklviz.sweeps.statistics.growth import Along

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GrowthExponent"]


@dataclass(frozen=True)
class GrowthExponent(OneMeasure):
    """The exponent with which a cost of one solver grows, over runs that converged.

    `measure`: a cost among `mklviz.sweeps.statistics.MEASURES`, or "time"; `along`: what grows, "samples" or "kernels".
    """

    solver: str
    along: Along

    @property
    def label(self) -> str:
        return f"exponent of the {measure_label(self.measure)} of {self.solver} in {self.along}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        own = frame[frame["solver"] == self.solver]
        return {str(data): estimate for data, part in own.groupby("data", sort=False) for estimate in self._found(part)}

    def _found(self, part: pd.DataFrame) -> list[Estimate]:
        grown = growths(Outcomes.of(part, None if self.measure == TIME else self.measure), self.along)
        return [Estimate(one.exponent, one.low, one.high, len(one.sizes)) for one in grown]

    def text(self, value: float) -> str:
        return f"{value:.2f}"
