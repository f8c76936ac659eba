"""Quantities over other runs than a pair on one problem: on different problems, along paths of C, over sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mklviz.reproduce.estimates import TIME, Estimate, Mean, OneMeasure, Quantity, Ratio, called, measure_label
from mklviz.sweeps.intervals import Along, growths, mean_interval
from mklviz.sweeps.outcomes import AND, MEASURES, NOT_SETTINGS, Outcomes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RatioAcross(OneMeasure):
    """How many times a number of one run is that of another on the same split: a geometric mean over the splits.

    `measure`: one of `outcomes.MEASURES`; `first`, `second`: the solver and the regularizer of each, as
    the table of the sweep has them, which varies the regularizer. Runs that ended at a limit count with what they had.
    """

    even = 1.0

    first: tuple[str, str]
    second: tuple[str, str]

    @property
    def label(self) -> str:
        pair = (f"{called(solver)} with {regularizer}" for solver, regularizer in (self.first, self.second))
        return f"{MEASURES[self.measure].label}: {' as a multiple of '.join(pair)}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        return {str(data): self._ratio(part) for data, part in frame.groupby("data", sort=False)}

    def _ratio(self, part: pd.DataFrame) -> Estimate:
        first, second = (self._of(part, *which) for which in (self.first, self.second))
        splits = first.index.intersection(second.index)
        if not len(splits):
            return Estimate()
        logs = np.log(first[splits].to_numpy(float) / second[splits].to_numpy(float))
        low, high = mean_interval(logs)
        return Estimate(math.exp(logs.mean()), math.exp(low), math.exp(high), len(logs))

    def _of(self, part: pd.DataFrame, solver: str, regularizer: str) -> pd.Series[float]:
        """Return the measure by the split, of runs that have a positive one."""
        own = part[(part["solver"] == solver) & (part["regularizer"] == regularizer) & (part["status"] != "failed")]
        values = own.set_index("split")[self.measure]
        return values[values > 0.0]


# How a cost grows with samples or kernels, as a quantity of a claim: the exponent b of cost ~ size^b.


@dataclass(frozen=True)
class _Exponent(OneMeasure):
    solver: str

    def text(self, value: float) -> str:
        return f"{value:.2f}"


@dataclass(frozen=True)
class GrowthExponent(_Exponent):
    """The exponent with which a cost of one solver grows, over runs that converged.

    `measure`: a cost among `outcomes.MEASURES`, or "time"; `along`: what grows, "samples" or "kernels".
    """

    along: Along

    @property
    def label(self) -> str:
        return f"exponent of the {measure_label(self.measure)} of {called(self.solver)} in {self.along}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        own = frame[frame["solver"] == self.solver]
        return {str(data): estimate for data, part in own.groupby("data", sort=False) for estimate in self._found(part)}

    def _found(self, part: pd.DataFrame) -> list[Estimate]:
        grown = growths(Outcomes.of(part, None if self.measure == TIME else self.measure), self.along)
        return [Estimate(one.exponent, one.low, one.high, len(one.sizes)) for one in grown]


class PrecisionExponent(_Exponent):
    """The exponent b of cost ~ gap^-b, over the runs of one solver to the several gaps that a sweep lists."""

    @property
    def label(self) -> str:
        return f"exponent of the {measure_label(self.measure)} of {called(self.solver)} in 1/gap"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        along = frame.assign(samples=1.0 / frame["gap (set)"])
        return GrowthExponent(self.measure, self.solver, "samples").estimates(along)


@dataclass(frozen=True)
class DigitsPerStep(OneMeasure):
    """How many times the digits that a step wins late are those that it wins early: a geometric mean over splits.

    The sweep lists three gaps. Above 1 the method converges faster than linearly. `measure`: "steps".
    """

    even = 1.0

    solver: str

    @property
    def label(self) -> str:
        return f"digits of the gap that a step of {called(self.solver)} wins: late as a multiple of early"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        own = frame[frame["solver"] == self.solver].sort_values("gap (set)", ascending=False)
        won = own.assign(gap=-np.log10(own["gap"])).groupby(["data", "split"], sort=False)[["gap", self.measure]].diff()
        _, early, late = (f"{gap:g}" for gap in own["gap (set)"].unique())
        named = own.assign(solver=[f"{gap:g}" for gap in own["gap (set)"]]).drop(columns="gap (set)")
        return Ratio(self.measure, late, early).estimates(
            named.assign(**{self.measure: won["gap"] / won[self.measure]})
        )


@dataclass(frozen=True)
class Quotient(OneMeasure):
    """The mean over splits of one measure of a solver divided by another of the same run."""

    by: str
    solver: str

    @property
    def label(self) -> str:
        return f"{measure_label(self.measure)} of {called(self.solver)} for each of its {measure_label(self.by)}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        divided = {self.measure: frame[self.measure] / frame[self.by]}
        return Mean(self.measure, self.solver).estimates(frame.assign(**divided))


# Paths of C as quantities of claims: what their runs took together, and how their cost depends on C.

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
        return Ratio(self.measure, f"{called(self.solver)} at the first C", "the mean at all others").label

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        import pandas as pd

        first, rest = _apart(frame, self.solver)
        if first.empty:
            return {}
        parts = {"first": _together(first, "mean"), "rest": _together(rest, "mean")}
        both = pd.concat([part.assign(solver=name) for name, part in parts.items()], ignore_index=True)
        return Ratio(self.measure, *parts).estimates(both)


class PathExponent(_Exponent):
    """The exponent b of cost ~ C^b along a path, over the runs of one solver that ended by their own stop rule.

    The first run, which begins without a solution, does not count. `measure`: as of a `GrowthExponent`; `solver`: with
    its options as the words of a recipe have them.
    """

    @property
    def label(self) -> str:
        return f"exponent of the {measure_label(self.measure)} of {called(self.solver)} in C, without the first C"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        _, rest = _apart(frame, self.solver)
        ended = rest.replace({"status": {"rule": "converged"}})
        return GrowthExponent(self.measure, self.solver, "samples").estimates(ended.assign(samples=ended["C"]))


def _apart(frame: pd.DataFrame, solver: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a solver's runs at the first value of C, and all others."""
    own = frame[frame["solver"] == solver]
    at_first = own["C"] == frame["C"].iloc[0]  # tables are in the order of the sweep
    return own[at_first], own[~at_first]


def _together(frame: pd.DataFrame, costs: str) -> pd.DataFrame:
    """Return one row for each path that is complete: `costs` says whether they are summed or their mean is taken.

    What is not known of one of its runs is not known of the path.
    """
    settings = [name for name in frame.columns if name not in (*NOT_SETTINGS, "C")]
    made: dict[str, Any] = {**dict.fromkeys(_COSTS, _whole(costs)), **dict.fromkeys(_LEVELS, _whole("mean"))}
    made |= {"gap": "max", "status": _worst, "C": "nunique", "machine": _machines, "samples": "first", "m": "first"}
    paths: pd.DataFrame = frame.groupby(["data", "split", "solver", *settings], sort=False, as_index=False).agg(made)
    return paths[paths["C"] == frame["C"].nunique()].drop(columns="C")


def _whole(how: str) -> Callable[[pd.Series[float]], float]:
    return lambda values: float(values.agg(how, skipna=False))


def _machines(names: pd.Series[str]) -> str:
    return AND.join(sorted({*names}))


def _worst(statuses: pd.Series[str]) -> str:
    """Return how a path ended: as the worst of its runs did."""
    return next((status for status in ("failed", "limit") if status in set(statuses)), "converged")
