"""Paths of C as quantities of claims: what their runs took together, and how the first compares with the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mklviz.reproduce.estimates import Estimate, OneMeasure, Quantity, Ratio, ratio_text
from mklviz.sweeps.statistics import MEASURES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FirstOverRest", "WholePath"]

_COSTS = [name for name, measure in MEASURES.items() if measure.cost]
_LEVELS = [name for name, measure in MEASURES.items() if not measure.cost]


@dataclass(frozen=True)
class WholePath:
    """What another quantity says of whole paths: of their runs costs are summed, and of all else the mean is taken.

    `of`: the other quantity, such as a `Ratio`. A path that has not come to its last value does not count.
    """

    of: Quantity

    @property
    def label(self) -> str:
        return f"{self.of.label}, over the whole path"

    @property
    def even(self) -> float:
        return self.of.even

    @property
    def percent(self) -> bool:
        return self.of.percent

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        return self.of.estimates(_together(frame, "sum"))

    def text(self, value: float) -> str:
        return self.of.text(value)


@dataclass(frozen=True)
class FirstOverRest(OneMeasure):
    """How many times what a later run of a path costs its first one does: a geometric mean over the splits.

    `measure`: as of a `Ratio`; `solver`: with its options as the words of a recipe have them.
    """

    even = 1.0

    solver: str

    @property
    def label(self) -> str:
        return Ratio(self.measure, f"{self.solver} at the first C", "the mean at all others").label

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        import pandas as pd

        own = frame[frame["solver"] == self.solver]
        if own.empty:
            return {}
        at_first = own["C"] == own["C"].iloc[0]  # tables are in the order of the sweep
        parts = {"first": _together(own[at_first], "mean"), "rest": _together(own[~at_first], "mean")}
        both = pd.concat([part.assign(solver=name) for name, part in parts.items()], ignore_index=True)
        return Ratio(self.measure, *parts).estimates(both)

    def text(self, value: float) -> str:
        return ratio_text(value)


def _together(frame: pd.DataFrame, costs: str) -> pd.DataFrame:
    """Return one row for each path that is complete: `costs` says whether they are summed or their mean is taken."""
    made: dict[str, Any] = {**dict.fromkeys(_COSTS, costs), **dict.fromkeys(_LEVELS, "mean")}
    made |= {"gap": "max", "status": _worst, "C": "nunique"}
    same = [name for name in frame.columns if name not in (*made, "run", "reason")]
    paths: pd.DataFrame = frame.groupby(same, sort=False, as_index=False).agg(made)
    return paths[paths["C"] == frame["C"].nunique()].drop(columns="C")


def _worst(statuses: pd.Series[str]) -> str:
    """Return how a path ended: as the worst of its runs did."""
    return next((status for status in ("failed", "limit") if status in set(statuses)), "converged")
