"""Curves over problems: performance profiles, and how costs grow with sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mklviz.errors import ProblemError
from mklviz.sweeps.statistics.intervals import REPLICATES, Resampling
from mklviz.sweeps.statistics.outcomes import Outcomes
from mklviz.typing import Array, Indices


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
        fit = _Fit(np.log(size[solved]), np.log(outcomes.values[solved, column]), group)
        lines = fit.lines(np.vstack([np.ones(len(unit)), drawn.counts])[:, solved])
        slope, at = lines[:, 0], lines[:, 1:]
        (low, *band_low), (high, *band_high) = (ends.tolist() for ends in drawn.interval(lines[1:]))
        points = size[solved], outcomes.values[solved, column]
        curve = np.exp(fit.at), np.exp(at[0]), np.exp(band_low), np.exp(band_high)
        missed = int((known & ~solved).sum())
        curves.append(Growth(solver, float(slope[0]), low, high, *points, *curve, within, missed))
    return curves


class _Fit:
    """A line through points with an intercept for each group, for many weightings of the points at once."""

    def __init__(self, x: Array, y: Array, group: Indices) -> None:
        _, place = np.unique(group, return_inverse=True)
        self.x, self.y = x, y
        self.groups = (place[:, None] == np.arange(place.max() + 1)).astype(np.float64)
        self.at = np.linspace(x.min(), x.max(), POINTS)

    def lines(self, weights: Array) -> Array:
        """Return for each row of weights the slope and the line's values, nan where its points have one size."""
        total = weights @ self.groups
        with np.errstate(invalid="ignore", divide="ignore"):  # of a group that was not drawn
            x, y = ((weights * values) @ self.groups / total for values in (self.x, self.y))
            xx = (weights * self.x**2) @ self.groups - total * x**2
            xy = (weights * self.x * self.y) @ self.groups - total * x * y
            spread = np.nansum(xx, axis=1)
            slope = np.where(spread > 1e-9, np.nansum(xy, axis=1) / spread, np.nan)
        share = total / total.sum(axis=1, keepdims=True)
        centre_x, centre_y = (np.nansum(share * values, axis=1) for values in (x, y))
        line = centre_y[:, None] + slope[:, None] * (self.at - centre_x[:, None])
        return np.column_stack([slope, line])
