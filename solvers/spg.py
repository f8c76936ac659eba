"""SPG-GMKL: a projected gradient method with spectral steps, patience, and SVMs only as exact as needed.

    p = P(d - lambda grad W(d)) - d,        d+ = d + t p,      t in {1, 1/2, 1/4, ...}
    W(d + t p) <= C + 1e-4 t grad W(d)'p,   lambda by Barzilai and Borwein, C by Zhang and Hager

where W = J + r and P projects on r's domain; or J alone is followed by its gradient and r exactly, see `_spectral`.
SVMs are solved to 0.1 at first, to 0.01 once the relative certified gap is below 1 and to 0.001 below 0.1; a line
search that fails divides the tolerance by ten. After each change of tolerance W and its gradient are computed again
at the same d and the average C starts anew, because values of different precision must not be compared; the spectral
step is always formed from two gradients of one precision.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL: Generalized multiple kernel learning with a million kernels
(KDD 2012), algorithm 1 and equations 6 to 13.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import param

from mklviz.contract import Array, End, Facts, Iterate
from mklviz.inner.averaging import Kink, SvmPoint
from mklviz.inner.oracle import SvmOracle, refuse
from mklviz.numbers import counted, number_text, share_text
from mklviz.problem import Problem
from mklviz.solvers._spectral import (
    TYPICAL,
    RandomStart,
    ReferenceValue,
    Search,
    Units,
    Valued,
    promises,
    search_segment,
    spectral_step,
    steep_near_zero,
)
from mklviz.solvers._words import CRAWLING, FROM_KINK, finer_svms, objective_change, start_sentence, trials_text

COARSEST = 0.1  # SVM tolerance at the start
MOST_EXCESS = 0.5  # share of the gap that SVMs may cause: where C is large, 0.01 is too rough for any gap
LEAST_FORETOLD = 1e-5  # of what is left above the best bound; a move that foretells less is not tried at first
LEAST_SHARE = 1e-8  # of a move; below it the line search has failed, and the SVMs must be more exact


@dataclass(frozen=True)
class Constants:
    """Numbers in which the paper and the released program differ, or on which the paper is silent."""

    # `shortest`, `longest`: bounds of the spectral step, in units of `Units.step`
    shortest: float
    longest: float
    # `first`, `no_curvature`: step at the start, and where the last move saw no curvature: "longest", "gradient" for 1
    # / max |grad W| (1 being the sum of the weights at the start), or "weights" for max d / max |grad W|, which moves
    # no weight by more than the largest one
    first: str
    no_curvature: str
    memory: float  # eta at the start
    finest: float  # SVM tolerance that is never gone below
    # whether the tolerance keeps falling with the gap below 0.1, a hundredth of its power of ten, and falls where most
    # of the gap is the SVM's own
    follows_gap: bool
    least_share: float  # share of a move where the line search gives up as long as the tolerance can still be lowered
    exact: bool  # whether r is followed exactly, where its `prox` is known, and not by its slope


PRESETS = {
    # eta = 0.85 is Zhang and Hager's own value; the paper names neither it nor the first step
    "default": Constants(1e-30, 1e10, "weights", "weights", 0.85, 1e-10, True, 1e-3, True),
    "paper": Constants(1e-30, 10.0, "weights", "longest", 0.85, 1e-5, False, LEAST_SHARE, False),
    "code": Constants(0.01, 10.0, "gradient", "gradient", 1.0, 1e-5, False, LEAST_SHARE, False),
}


@dataclass(frozen=True, kw_only=True)
class SpgFacts(Facts):
    """What is known of a step, beside the projected gradient."""

    bb_step: float = math.nan  # lambda
    share: float = math.nan  # share of the move taken, 0 where none was low enough
    line_search_trials: float = math.nan  # SVMs that the line search took
    # C that values are compared with, and eta
    reference_value: float = math.nan
    memory: float = math.nan
    direction: str = ""  # "averaged" where the step leads out of a kink
    trials: str = ""  # what the line search tried, as `mklviz.solvers._words` tells it; "" where no weight moved


class Spg(RandomStart):
    """Spectral projected gradient, nonmonotone, with tuned SVM precision.

    The step of an iterate is lambda times the share of the move taken: how far along the negative gradient d went
    before projection.
    """

    name_ = "spg"
    label = "SPG"
    colour = "#009E73"
    colour_dark = "#2CC59A"
    dash = "dashdot"
    marker = "diamond"
    paper = "Jain, Vishwanathan, Varma, SPG-GMKL: Generalized multiple kernel learning with a million kernels, KDD 2012"

    preset = param.Selector(
        default="default",
        objects=list(PRESETS),
        label="Constants",
        doc=(
            "default: a step on the scale of the weights where there is no curvature, penalties "
            "minimised with each step instead of followed by their slope, and an SVM tolerance that follows the gap. "
            "paper: lambda in [1e-30, 10], 10 where there is no curvature, SVM "
            "tolerance at least 1e-5. code: as released, lambda in [0.01, 10], averaging all values at first. "
            "Both follow a penalty's slope, which is so steep near zero that l_p norms with p near 1 crawl, and leave "
            "SVMs at 0.001 until a line search fails, so that gaps below that come late. Bounds of lambda are for "
            "weights that sum to 1 and objectives about 50; other problems are scaled to that."
        ),
    )

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate per spectral step or change of tolerance."""
        refuse(self.refusal(problem))
        constants = PRESETS[self.preset]
        oracle = SvmOracle(problem, _first_tolerance(start, constants), rounding=True)
        descent = _SpectralDescent(problem, oracle, constants, oracle.begin(start, usual=self.first_weights(problem)))
        yield descent.iterate(None)
        while True:
            search, direction = descent.step(), ""
            while search.accepted is None and (descent.exhausted or descent.crawls):
                further = descent.leave_kink(search)
                if further is None and descent.crawls:
                    search, direction = descent.step(crawling=True), ""
                    continue
                if further is None:
                    why = f"No step lowers the objective even of SVMs solved to {descent.tolerance:.0e}: rounding, or a"
                    why += " kink where the SVM has several solutions, stops the method here."
                    yield descent.iterate(search, end=End(why))
                    return
                search, direction = further, "averaged"
                if search.accepted is None:
                    yield descent.iterate(search, direction)
            descent.tune_precision(search)
            yield descent.iterate(search, direction)

    def advice(self, problem: Problem, last: Iterate) -> str:
        """Say where the paper's constants keep steps short or SVMs rough."""
        constants = PRESETS[self.preset]
        if not constants.exact and steep_near_zero(problem.regularizer, last.weights):
            return f'{CRAWLING} the constants “default”, preset="default", minimise it with each step instead.'
        if not constants.follows_gap and last.facts.svm_tolerance > constants.finest:
            return (
                f"With these constants SVMs are still solved to {last.facts.svm_tolerance:g} only: “default”,"
                ' preset="default", makes them as exact as the gap asks.'
            )
        return ""

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell the spectral step, how the line search went, and the SVM tolerance."""
        if before is None:
            return start_sentence(after)
        facts = SpgFacts.of(after)
        share, trials, length = facts.share, facts.line_search_trials, number_text(facts.bb_step, ".2g")
        if facts.direction == "averaged":
            verb = "took" if share > 0.0 else "found nothing lower in"
            taken = f"{FROM_KINK} and {verb} {counted(trials, 'SVM solve')}."
        elif share == 0.0:
            taken = f"{counted(trials, 'trial')} of the spectral step {length} found nothing low enough."
        elif share == 1.0:
            taken = f"The spectral step {length} was taken in full, at the first trial."
        else:
            taken = f"The spectral step {length} was shortened to {share_text(share)} in"
            taken += f" {counted(trials, 'trial')}."
        return f"{taken} {objective_change(before, after)}{finer_svms(before, after)}"


def _first_tolerance(start: Iterate | None, constants: Constants) -> float:
    """Return the SVM tolerance to begin with: that of a warm start, whose dual variables a coarser one would spoil."""
    known = math.nan if start is None else start.facts.svm_tolerance
    return COARSEST if math.isnan(known) else min(max(known, constants.finest), COARSEST)


class _SpectralDescent:
    """State between two steps: the point, the spectral step, the reference value and the SVM tolerance."""

    def __init__(self, problem: Problem, oracle: SvmOracle, constants: Constants, first: SvmPoint) -> None:
        self.problem, self.oracle, self.constants = problem, oracle, constants
        self.tolerance = first.tol
        self.units = Units.of(problem, first)
        self.kink = Kink(oracle.recent)
        self.here = self._valued(first)
        self.left = first.weights  # by the last step
        self.used_step = self.next_step = self._scale(constants.first)
        self.crawls = False  # whether the last step was not taken, as it foretold next to nothing
        self.reference = ReferenceValue(self.here.value, constants.memory)

    def solve(self, weights: Array) -> Valued:
        return self._valued(self.oracle.solve(weights, self.tolerance))

    def _valued(self, point: SvmPoint) -> Valued:
        return Valued(self.problem, point, self.constants.exact and self.problem.regularizer.proximal)

    @property
    def exhausted(self) -> bool:
        """Whether neither more exact SVMs nor a more careful step are left to try."""
        return self.tolerance <= self.constants.finest and self.used_step <= self._scale("weights")

    def _scale(self, kind: str) -> float:
        """Return a step that needs no curvature, see `Constants`."""
        if kind == "longest":
            return self._bounded(np.inf)
        natural = self.here.natural_step(self.units)
        return self._bounded(natural if kind == "weights" else self.units.size / self.here.steepest)

    def _bounded(self, step: float) -> float:
        unit = self.units.step
        return min(max(step, self.constants.shortest * unit), self.constants.longest * unit)

    def step(self, crawling: bool = False) -> Search:
        """Move along the spectral projected gradient as far as the line search lets.

        Across a kink the gradient changes so fast that spectral steps shrink to nothing, and none ever fails. So a move
        that foretells next to nothing of what is left is not tried, unless `crawling` is all that helps.
        """
        here = self.here
        self.left = here.weights
        self.used_step = here.reachable(self.next_step, self.units)
        target = here.toward(self.used_step)
        unproved = here.value - self.oracle.best_bound
        self.crawls = not crawling and unproved < np.inf and -here.slope(target) < LEAST_FORETOLD * unproved
        if self.crawls:
            return Search(None, 0.0, here)
        least = self.constants.least_share if self.tolerance > self.constants.finest else LEAST_SHARE
        search = search_segment(self.solve, here, target, self.reference.value, least=least)
        self.reference.judge_model(here, target, self.used_step, search)
        if search.accepted is None:
            self.next_step = min(self.used_step, self._scale("weights"))
        else:
            self.here = search.accepted
            if not crawling:
                self.kink.left()
            self.reference.add(self.here.value)
            spectral = spectral_step(here, self.here)
            flat = np.isnan(spectral)
            self.next_step = self._scale(self.constants.no_curvature) if flat else self._bounded(spectral)
        return search

    def leave_kink(self, failed: Search) -> Search | None:
        """Move where the last solutions together promise least; None where they promise nothing."""
        search = next(promises(self.solve, self.here, failed, self.kink), None)
        if search is not None and search.accepted is not None:
            self.here, self.used_step = search.accepted, 1.0
            self.reference = ReferenceValue(self.here.value, self.reference.memory)
            self.kink.left()
        return search

    def tune_precision(self, search: Search) -> None:
        """Lower the tolerance as the schedule asks and, if it changed, look at the same d again."""
        wanted = min(self.tolerance, self._scheduled())
        if search.accepted is None:
            wanted = min(wanted, self.tolerance / 10.0)
        wanted = max(wanted, self.constants.finest)
        if wanted < self.tolerance:
            self.tolerance = wanted
            self.here = self.solve(self.here.weights)
            self.reference = ReferenceValue(self.here.value, self.reference.memory)

    def _scheduled(self) -> float:
        """Tolerance by equation 13, with the relative certified gap, or the projected gradient where there is none.

        The paper's bounds for the projected gradient, 5 and 1, are for objectives about 50.
        """
        gap, unproved = self.here.point.gap, self.here.point.primal - self.here.point.lower_bound
        if np.isnan(gap):
            unproved = self.here.stationarity(self.units)
            gap = unproved / max(abs(self.here.value), 1e-300)
            if not self.constants.follows_gap:
                return 0.1 if gap >= 5.0 / TYPICAL else 0.01 if gap >= 1.0 / TYPICAL else 0.001
        rungs = 0.1 if gap >= 1.0 else 0.01 if gap >= 0.1 else 0.001
        if not self.constants.follows_gap:
            return rungs
        if self.here.excess > MOST_EXCESS * unproved:
            return min(rungs, 0.1 * self.tolerance)
        return min(rungs, 10.0 ** (np.ceil(np.log10(gap)) - 2.0)) if 0.0 < gap < 0.1 else rungs

    def iterate(self, search: Search | None, direction: str = "", end: End | None = None) -> Iterate:
        """Return the certified iterate at the present point."""
        taken = search.share if search is not None and search.accepted is not None else 0.0
        facts = SpgFacts(
            bb_step=self.used_step,
            share=taken,
            line_search_trials=float(len(search.tried) if search is not None else 0),
            reference_value=self.reference.value,
            memory=self.reference.memory,
            projected_gradient=self.here.stationarity(self.units),
            direction=direction,
            trials=trials_text(self.left, self.here.weights, search.tried) if search is not None else "",
        )
        return self.oracle.iterate(self.here.point, self.used_step * taken, facts, end)
