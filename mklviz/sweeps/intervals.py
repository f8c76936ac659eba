"""Intervals over splits: bootstrap, spreads of solvers, and differences between pairs of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import ndtr, stdtrit

from mklviz.errors import ProblemError
from mklviz.sweeps.outcomes import Outcomes
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


def mean_interval(values: Array, group: Indices | None = None, replicates: int = REPLICATES) -> tuple[float, float]:
    """Return the ends of the interval of the mean of values, one for each split, drawn within groups."""
    units = np.arange(len(values))
    drawn = Resampling.of(units, 0 * units if group is None else group, replicates=replicates)
    low, high = drawn.interval(drawn.counts @ values / max(len(values), 1))
    return float(low), float(high)


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
    return float(averaged.mean()), *mean_interval(averaged, owner, replicates)


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


# Curves over problems: performance profiles, and how costs grow with sizes.


@dataclass(frozen=True)
class PerformanceProfile:
    """The ratios of costs, and the curves that count them.

    `ratios`: by cases and solvers, infinite where a run did not converge, nan where it is not compared; `against`: the
    solver whose cost is 1, "" where that is the least of all; `left_out`: cases without a run of every solver that is
    compared; `words`: what was measured.
    """

    solvers: tuple[str, ...]
    ratios: Array
    against: str
    left_out: int
    words: str

    def cases(self, solver: str) -> int:
        """Return how many cases are compared."""
        return int((~np.isnan(self._of(solver))).sum())

    def missed(self, solver: str) -> int:
        """Return in how many cases the solver did not converge."""
        return int(np.isinf(self._of(solver)).sum())

    def share(self, solver: str, tau: float) -> float:
        """Return the share of cases with a ratio of at most tau."""
        ratios = self._of(solver)
        return float((ratios <= tau).sum() / max((~np.isnan(ratios)).sum(), 1))

    def steps(self, solver: str) -> tuple[Array, Array]:
        """Return where the curve rises, and the share from there on."""
        ratios = self._of(solver)
        ratios = ratios[~np.isnan(ratios)]
        tau, counts = np.unique(ratios[np.isfinite(ratios)], return_counts=True)
        return tau, np.cumsum(counts) / max(len(ratios), 1)

    def _of(self, solver: str) -> Array:
        column: Array = self.ratios[:, self.solvers.index(solver)]
        return column


def performance_profile(outcomes: Outcomes) -> PerformanceProfile:
    """Return the profile of all solvers, over the cases of which each has a run; those never solved count, too."""
    _check(outcomes)
    compared = outcomes.compared
    if not compared.any():
        raise ProblemError("No case has a run of every solver yet: a profile compares the solvers on the same cases.")
    costs = outcomes.costs[compared]
    least = costs.min(axis=1, keepdims=True)
    ratios = np.divide(costs, least, out=np.full(costs.shape, np.inf), where=np.isfinite(costs))
    return PerformanceProfile(outcomes.solvers, ratios, "", int((~compared).sum()), outcomes.words)


def pair_profile(outcomes: Outcomes, against: str) -> PerformanceProfile:
    """Return each solver's costs over one's; a case that only the one of them solved has the ratio 0 or infinity."""
    _check(outcomes)
    base = outcomes.among([against]).costs
    others = [solver for solver in outcomes.solvers if solver != against]
    if not others:
        raise ProblemError(f"{against} is the only solver whose runs can be compared: a pair needs another one.")
    costs = outcomes.among(others).costs
    both = ~np.isnan(costs) & ~np.isnan(base)
    ratios = np.divide(costs, base, out=np.full(costs.shape, np.inf), where=both & np.isfinite(costs))
    ratios[~both] = np.nan
    return PerformanceProfile(tuple(others), ratios, against, int((~both.all(axis=1)).sum()), outcomes.words)


def _check(outcomes: Outcomes) -> None:
    if not outcomes.measure.cost:
        raise ProblemError(
            f"A profile compares costs, and {outcomes.measure.label} is none: ask for svm_solves, fits, seconds or"
            " steps."
        )


# How a cost grows with samples or kernels: cost ~ size^b, b the slope of log cost against log size.
#
# Where data sets have several sizes each, the slope is that within data sets, each with an intercept of its own,
#
#     b = sum_g sum_i (x_gi - x_g)(y_gi - y_g) / sum_g sum_i (x_gi - x_g)^2,   x = log size, y = log cost
#
# for other data are not merely larger. Where each has one size, all have one intercept, and the data sets are what is
# drawn for the band.

Along = Literal["samples", "kernels"]
_COLUMNS: dict[Along, int] = {"samples": 0, "kernels": 1}
POINTS = 21  # of a line
LEAST_DATA = 3  # sets of different sizes that show growth, as two may differ in all else


@dataclass(frozen=True)
class Growth:
    """The growth of one solver's cost: the slope, with the ends of its interval, and the runs that converged.

    `x`, `line`, `band_low`, `band_high`: the fitted line, for data of the mean intercept, and its band; `within`:
    whether the slope is that within data sets; `missed`: runs left out, as they did not converge.
    """

    solver: str
    exponent: float
    low: float
    high: float
    sizes: Array
    costs: Array
    x: Array
    line: Array
    band_low: Array
    band_high: Array
    within: bool
    missed: int


def growths(outcomes: Outcomes, along: Along = "samples", replicates: int = REPLICATES) -> list[Growth]:
    """Return how the cost of each solver grows; none where too few sizes were solved."""
    size = outcomes.sizes[:, _COLUMNS[along]]
    unit, data = outcomes.splits
    within = any(len(np.unique(size[data == name])) > 1 for name in np.unique(data))
    curves = []
    for column, solver in enumerate(outcomes.solvers):
        known, solved = outcomes.known[:, column], outcomes.solved[:, column] & outcomes.known[:, column]
        if len(np.unique(size[solved])) < (2 if within else LEAST_DATA):
            continue
        group = data[solved] if within else np.zeros(int(solved.sum()), dtype=np.intp)
        drawn = Resampling.of(*((unit, data) if within else (data, 0 * data)), replicates=replicates)
        x, y = np.log(size[solved]), np.log(outcomes.values[solved, column])
        at = np.linspace(x.min(), x.max(), POINTS)
        lines = _fitted_lines(x, y, group, np.vstack([np.ones(len(unit)), drawn.counts])[:, solved], at)
        (low, *band_low), (high, *band_high) = (ends.tolist() for ends in drawn.interval(lines[1:]))
        points = size[solved], outcomes.values[solved, column]
        curve = np.exp(at), np.exp(lines[0, 1:]), np.exp(band_low), np.exp(band_high)
        missed = int((known & ~solved).sum())
        curves.append(Growth(solver, float(lines[0, 0]), low, high, *points, *curve, within, missed))
    return curves


def _fitted_lines(x: Array, y: Array, group: Indices, weights: Array, at: Array) -> Array:
    """Return lines through points with an intercept for each group: for each row of weights the slope and the values.

    They are nan where the points have one size.
    """
    groups = (group[:, None] == np.unique(group)).astype(np.float64)
    total = weights @ groups
    with np.errstate(invalid="ignore", divide="ignore"):  # of a group that was not drawn
        mean_x, mean_y = ((weights * values) @ groups / total for values in (x, y))
        xx = (weights * x**2) @ groups - total * mean_x**2
        xy = (weights * x * y) @ groups - total * mean_x * mean_y
        spread = np.nansum(xx, axis=1)
        slope = np.where(spread > 1e-9, np.nansum(xy, axis=1) / spread, np.nan)
    share = total / total.sum(axis=1, keepdims=True)
    centre_x, centre_y = (np.nansum(share * values, axis=1) for values in (mean_x, mean_y))
    line = centre_y[:, None] + slope[:, None] * (at - centre_x[:, None])
    return np.column_stack([slope, line])
