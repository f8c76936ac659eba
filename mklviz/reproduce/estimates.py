"""Numbers with an interval over splits, and how they are taken from the table of a sweep.

An estimate is made for each data set (and setting, where a sweep varies more), from the runs of the splits. What a run
that ended at a limit took is less than it would have taken: an estimate made of it is a bound, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from mklviz.engine import solver_classes
from mklviz.errors import MklvizError
from mklviz.sweeps.intervals import mean_interval, paired_differences
from mklviz.sweeps.outcomes import MEASURES, NOT_SETTINGS, Outcomes

if TYPE_CHECKING:
    import pandas as pd

ALL_DATA = "all of these"  # what the estimate over several data sets is called
TIME = "time"  # CPU seconds, or the same in fits of a mean kernel where runs are of several machines


@dataclass(frozen=True)
class Estimate:
    """A value, the ends of its interval, nan where there are too few splits, and of how many cases it was made.

    `bound`: "≥" or "≤" where it is one, as some runs ended at a limit.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    cases: int = 0
    bound: str = ""

    @property
    def least(self) -> float:
        """The lower end of the interval, or the value where there is none."""
        return self.value if math.isnan(self.low) else self.low

    @property
    def most(self) -> float:
        """The upper end of the interval, or the value where there is none."""
        return self.value if math.isnan(self.high) else self.high


class Quantity(Protocol):
    """What a claim is about, and how it is measured."""

    @property
    def label(self) -> str:
        """What is measured, in words."""

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        """Return an estimate for each title, see `titled`, from the frame of a `SweepTable`, with scores in per cent.

        With several data sets `ALL_DATA` may be among the titles.
        """

    def text(self, value: float) -> str:
        """Return a value as people read it."""

    @property
    def even(self) -> float:
        """The value at which what is compared is alike: 1 of a ratio, 0 of a difference, nan of what is neither."""


@dataclass(frozen=True)
class OneMeasure:
    """What is made of one measure: a column of the table of a sweep, or "time"."""

    even: ClassVar[float] = math.nan

    measure: str

    def text(self, value: float) -> str:
        """Return a ratio, a difference or the measure itself as people read it."""
        if self.even == 1.0:
            return f"{value:.3g}×"
        sign = "+" if self.even == 0.0 else ""
        if self.measure == "score":
            return f"{value:+.2f}" if sign else f"{value:.1f}"
        return f"{value:{sign}.3g}"


@dataclass(frozen=True)
class _Paired(OneMeasure):
    between: ClassVar[str]  # the two, in the label

    first: str
    second: str

    @property
    def label(self) -> str:
        return f"{measure_label(self.measure)}: {called(self.first)} {self.between} {called(self.second)}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        return _paired(frame, self.measure, self.first, self.second)


class Ratio(_Paired):
    """How many times the cost of one solver is that of another, on the same data and splits: a geometric mean.

    `measure`: a cost among `outcomes.MEASURES`, or "time"; `first`, `second`: solvers, with their
    options as the words of a recipe have them.
    """

    even, between = 1.0, "as a multiple of"


class MeanDifference(_Paired):
    """By how much a measure of one solver exceeds that of another, on the same data and splits: a mean.

    `measure`: none of the costs: "score", "kernels" or "objective".
    """

    even, between = 0.0, "minus"


@dataclass(frozen=True)
class BetweenSettings(OneMeasure):
    """By how much a measure of one solver exceeds, at one value of a setting, that at another, on the same splits.

    `setting`: a key of a recipe's words that the sweep lists, such as "C"; `measure`: as in `MeanDifference`.
    """

    even = 0.0

    solver: str
    setting: str
    first: float
    second: float

    @property
    def label(self) -> str:
        ends = f"{self.setting} = {self.first:g} minus {self.setting} = {self.second:g}"
        return f"{measure_label(self.measure)} of {called(self.solver)}: {ends}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        own = frame[frame["solver"] == self.solver]
        values = [f"{value:g}" for value in own[self.setting]]
        paired = own.assign(solver=values).drop(columns=[self.setting])
        return _paired(paired, self.measure, f"{self.first:g}", f"{self.second:g}")


@dataclass(frozen=True)
class Mean(OneMeasure):
    """The mean over splits of a column of the table, of one solver."""

    solver: str

    @property
    def label(self) -> str:
        return f"{measure_label(self.measure)} of {called(self.solver)}"

    def estimates(self, frame: pd.DataFrame) -> dict[str, Estimate]:
        own = frame[(frame["solver"] == self.solver) & (frame["status"] != "failed")]
        return {title: self._mean(part) for title, part in titled(own)}

    def _mean(self, part: pd.DataFrame) -> Estimate:
        values = part[self.measure].to_numpy(dtype=np.float64)
        low, high = mean_interval(values)
        bound = "≥" if self.measure in _GROWING and (part["status"] == "limit").any() else ""
        return Estimate(float(values.mean()), low, high, len(values), bound)


_GROWING = ("svm_solves", "seconds", "fits", "steps", "moved")


def titled(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the parts of a frame on one data set with one setting, with its title: "heart", or "heart, C = 10"."""
    settings = [name for name in frame.columns if name not in NOT_SETTINGS]
    for values, part in frame.groupby(["data", *settings], sort=False):
        titles = [
            f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in zip(settings, values[1:], strict=True)
        ]
        yield ", ".join([str(values[0]), *titles]), part


def called(solver: str) -> str:
    """Return what a solver is called, given as the words of a recipe have it: "SimpleMKL (variant=armijo)"."""
    name, _, options = solver.partition(":")
    known = solver_classes().get(name)
    return f"{known.label}{f' ({options})' if options else ''}" if known else solver


def measure_label(measure: str) -> str:
    """Return what a measure is called, in words."""
    return {TIME: "CPU time", "score": "test score in per cent", "gap": "relative gap at the end"}.get(
        measure
    ) or MEASURES[measure].label


def _paired(frame: pd.DataFrame, measure: str, first: str, second: str) -> dict[str, Estimate]:
    """Return how the first solver differs from the second, for each title and for all of several."""
    both = frame[frame["solver"].isin([first, second])]
    differences = {title: _difference(part, measure, first, second) for title, part in titled(both)}
    return differences if len(differences) < 2 else {**differences, ALL_DATA: _difference(both, measure, first, second)}


def _difference(part: pd.DataFrame, measure: str, first: str, second: str) -> Estimate:
    ended = part[part["status"] != "failed"]
    limited = set(ended["solver"][ended["status"] == "limit"])
    try:
        outcomes = Outcomes.of(ended.assign(status="converged"), None if measure == TIME else measure)
        (difference,) = paired_differences(outcomes.among([first, second]), against=second)
    except MklvizError:  # one of them has no run yet, or no such number
        return Estimate()
    bound = {(True, False): "≥", (False, True): "≤"}.get((first in limited, second in limited), "")
    costs = outcomes.measure.cost
    return Estimate(difference.value, difference.low, difference.high, difference.pairs, bound if costs else "")
