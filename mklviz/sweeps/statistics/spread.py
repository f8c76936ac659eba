"""Means and spreads over splits, for each data set, setting and solver.

Runs that did not converge are counted and never averaged: their costs are only bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklviz.sweeps.statistics.outcomes import Outcomes
from mklviz.typing import Array, Indices

__all__ = ["Spread", "spreads"]


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
