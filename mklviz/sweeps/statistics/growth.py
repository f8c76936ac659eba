"""How a cost grows with samples or kernels: cost ~ size^b, b the slope of log cost against log size.

Where data sets have several sizes each, the slope is that within data sets, each with an intercept of its own,

    b = sum_g sum_i (x_gi - x_g)(y_gi - y_g) / sum_g sum_i (x_gi - x_g)^2,   x = log size, y = log cost

for other data are not merely larger. Where each has one size, all have one intercept, and the data sets themselves are
what is drawn for the band.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mklviz.sweeps.statistics.bootstrap import LEVEL, REPLICATES, Resampling
from mklviz.sweeps.statistics.outcomes import Outcomes
from mklviz.typing import Array, Indices

__all__ = ["Along", "Growth", "growths"]

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


def growths(
    outcomes: Outcomes, along: Along = "samples", level: float = LEVEL, seed: int = 0, replicates: int = REPLICATES
) -> list[Growth]:
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
        drawn = Resampling.of(*((unit, data) if within else (data, 0 * data)), seed, replicates)
        fit = _Fit(np.log(size[solved]), np.log(outcomes.values[solved, column]), group)
        lines = fit.lines(np.vstack([np.ones(len(unit)), drawn.counts])[:, solved])
        slope, at = lines[:, 0], lines[:, 1:]
        (low, *band_low), (high, *band_high) = (ends.tolist() for ends in drawn.interval(lines[1:], level))
        curves.append(
            Growth(
                solver,
                float(slope[0]),
                low,
                high,
                size[solved],
                outcomes.values[solved, column],
                np.exp(fit.at),
                np.exp(at[0]),
                np.exp(band_low),
                np.exp(band_high),
                within,
                int((known & ~solved).sum()),
            )
        )
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
