"""Performance profiles: in which share of the cases a solver costs at most tau times the least cost.

    r_ps = c_ps / min_s' c_ps',  infinite where the run did not converge        rho_s(tau) = |{p: r_ps <= tau}| / |P|

rho_s(1) is the share of cases in which solver s is best, rho_s at the right end that of the cases it solved. The order
of solvers may change with the set that is compared, as the least cost does; the profile of two does not. For a solver s
and one r that it is compared with,

    F_s(tau) = |{p: c_ps <= tau c_pr}| / |P|,   tau from below 1 to above

is both profiles of the pair {s, r} in one line: rho_s(tau) = F_s(tau) for tau >= 1, and rho_r(tau) = 1 - F_s(1/tau -)
where r solved all.

Reference: Dolan, Moré, Benchmarking optimization software with performance profiles, Mathematical Programming 91, 2002;
Gould, Scott, A note on performance profiles for benchmarking software, ACM Transactions on Mathematical Software 43,
2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklviz.errors import ProblemError
from mklviz.sweeps.statistics.outcomes import Outcomes
from mklviz.typing import Array

__all__ = ["PerformanceProfile", "pair_profile", "performance_profile"]


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
    """Return the profile of all solvers, over the cases of which each has a run; those never solved count, too.

    Raises `ProblemError` if what is measured is no cost, or no case has a run of every solver.
    """
    _check(outcomes)
    compared = outcomes.compared
    if not compared.any():
        raise ProblemError("No case has a run of every solver yet: a profile compares the solvers on the same cases.")
    costs = outcomes.costs[compared]
    least = costs.min(axis=1, keepdims=True)
    ratios = np.divide(costs, least, out=np.full(costs.shape, np.inf), where=np.isfinite(costs))
    return PerformanceProfile(outcomes.solvers, ratios, "", int((~compared).sum()), outcomes.words)


def pair_profile(outcomes: Outcomes, against: str) -> PerformanceProfile:
    """Return each solver's costs relative to one solver's, which no third solver changes.

    A case that only the first of the two solved has the ratio 0, one that the first did not solve infinity. Raises
    `ProblemError` if what is measured is no cost, or there is no other solver, and `UnknownName` for one without runs.
    """
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
