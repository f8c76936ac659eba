"""Projected gradient descent, the method that SPG-GMKL sets out to beat, with two of its three parts to switch on.

    PGD       d+ = P(d - t grad W(d)),            t = 1, then shorter, afresh in every iteration
    spectral  d+ = d + t (P(d - lambda grad W(d)) - d),  t = 1, then shorter, lambda by Barzilai and Borwein

A trial is accepted when ``W(d+) <= C - 1e-4 t ||P(d - grad W) - d||^2`` (``C + 1e-4 t grad W'p`` with spectral steps);
C is W(d), or with the nonmonotone option Zhang and Hager's average of the values so far. SVMs are solved to one fixed,
small tolerance, as the line search needs exact values. The two options make four methods: PGD, PGD+N, PGD+S, PGD+N+S.
A third lets all of them minimise r with each step instead of following its slope, see `_spectral`, which also says what
unit the first step 1 has.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL: Generalized multiple kernel learning with a million kernels
(KDD 2012), section 3 and table 7; line search and bounds as in the released programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import param

from mklviz.contract import Array, End, Facts, Iterate
from mklviz.inner.averaging import Kink
from mklviz.inner.oracle import SvmOracle, refuse, tolerance_option
from mklviz.numbers import counted, number_text
from mklviz.problem import Problem
from mklviz.solvers._spectral import (
    RandomStart,
    ReferenceValue,
    Search,
    Units,
    Valued,
    interpolate,
    promises,
    search_along,
    search_segment,
    spectral_step,
    steep_near_zero,
)
from mklviz.solvers._words import CRAWLING, FROM_KINK, finer_svms, objective_change, start_sentence, trials_text

MEMORY = 0.85  # eta at the start of the nonmonotone rule
LONGEST = 1e10  # bound of the spectral step, in units of `Units.step`
LEAST = 1e-30  # a share of the first step that moves nothing

_DASHES = {"PGD": "solid", "PGD+N": "dashed", "PGD+S": "dotted", "PGD+N+S": "dotdash"}


@dataclass(frozen=True, kw_only=True)
class PgdFacts(Facts):
    """What is known of a step, beside the projected gradient."""

    line_search_trials: float = math.nan  # SVMs that the line search took
    # C that values are compared with, and eta
    reference_value: float = math.nan
    memory: float = math.nan
    direction: str = ""  # "averaged" where the step leads out of a kink
    trials: str = ""  # what the line search tried, as `mklviz.solvers._words` tells it; "" where no weight moved


class Pgd(RandomStart):
    """Projected gradient descent on W(d).

    The step of an iterate is how far along the negative gradient d went before projection: t, or lambda times t with
    spectral steps; out of a kink, the share of the way to where averaged solutions promise least.
    """

    name_ = "pgd"
    label = "PGD"
    colour = "#7A7A7A"
    colour_dark = "#A6A6A6"
    dash = "solid"
    marker = "square"
    paper = "Jain, Vishwanathan, Varma, SPG-GMKL: Generalized multiple kernel learning with a million kernels, KDD 2012"

    nonmonotone = param.Boolean(
        default=False,
        label="Nonmonotone (+N)",
        doc="Compare a new value with an average of the past ones, so that the objective may rise for a while.",
    )
    spectral = param.Boolean(
        default=False,
        label="Spectral steps (+S)",
        doc="Take the step length from the change of the gradient (Barzilai and Borwein) instead of starting at 1. On "
        "l_p penalties with p near 1 it needs the exact penalty: the paper's slopes stall at gaps about 0.01.",
    )
    exact = param.Boolean(
        default=False,
        label="Exact penalty",
        doc="Minimise the penalty with each step instead of following its slope, which crawls for p near 1 and for the "
        "entropy. Not in the paper.",
    )
    svm_tolerance = tolerance_option(", lowered only where nothing else helps any more; the paper needed 1e-6.", 1e-6)

    @property
    def setting(self) -> str:
        """PGD, PGD+N, PGD+S or PGD+N+S."""
        return "PGD" + "+N" * self.nonmonotone + "+S" * self.spectral

    @param.depends("nonmonotone", "spectral", watch=True, on_init=True)
    def _show_setting(self) -> None:
        """Carry the setting in the name and in the line's dash, so that four settings can race each other."""
        self.dash = _DASHES[self.setting]  # type: ignore[misc]
        self._rename()

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate per step."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, rounding=True)
        exact = self.exact and problem.regularizer.proximal

        def evaluate(weights: Array) -> Valued:
            return Valued(problem, oracle.solve(weights), exact)

        here = Valued(problem, oracle.begin(start, usual=self.first_weights(problem)), exact)
        units = Units.of(problem, here.point)
        reference = ReferenceValue(here.value, MEMORY if self.nonmonotone else 0.0)
        longest = LONGEST * units.step
        step = min(here.natural_step(units), longest)
        yield _iterate(oracle, here, units, 0.0, None, reference)
        while True:
            step = here.reachable(step if self.spectral else units.step, units)
            target = here.toward(step)
            if self.spectral:
                search = search_segment(evaluate, here, target, reference.value, interpolate)
            else:
                search = _search_arc(evaluate, here, step, reference.value)
            if self.nonmonotone and search.accepted is not None:
                reference.judge_model(here, target, step, search)
            direction = ""
            if search.accepted is None:
                step, direction, failed = 1.0, "averaged", search
                for search in promises(evaluate, here, failed, Kink(oracle.recent)):
                    if search.accepted is None:
                        yield _iterate(oracle, here, units, 0.0, search, reference, direction)
            if search.accepted is None:
                finer = oracle.tightened(here.point)
                if finer is None:
                    why = f"No step lowers the objective of SVMs solved to {oracle.tol:g}: rounding, or a kink where"
                    why += " the SVM has several solutions, stops the method here."
                    yield _iterate(oracle, here, units, 0.0, search, reference, end=End(why))
                    return
                here = Valued(problem, finer, exact)
                reference = ReferenceValue(here.value, reference.memory)
                step = min(here.natural_step(units), longest)
                yield _iterate(oracle, here, units, 0.0, search, reference)
                continue
            before, here = here, search.accepted
            reference.add(here.value)
            trials = trials_text(before.weights, here.weights, search.tried)
            yield _iterate(oracle, here, units, step * search.share, search, reference, direction, trials)
            spectral = spectral_step(before, here)
            step = longest if np.isnan(spectral) else min(spectral, longest)

    def advice(self, problem: Problem, last: Iterate) -> str:
        """Say where steps crawl as they follow the slope of the penalty."""
        if self.exact or not steep_near_zero(problem.regularizer, last.weights):
            return ""
        return f"{CRAWLING} the option “Exact penalty”, exact=True, minimises it with each step instead."

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell how many trials the step took, and whether the objective was let rise."""
        if before is None:
            return start_sentence(after)
        facts = PgdFacts.of(after)
        trials = counted(facts.line_search_trials, "SVM solve")
        text = f"The line search settled on the step {number_text(after.step, '.2g')} after {trials}."
        if facts.direction == "averaged":
            verb = "took" if after.step > 0.0 else "found nothing lower in"
            text = f"{FROM_KINK} and {verb} {trials}."
        elif after.step == 0.0:
            text = f"{trials} found no step that lowers the objective."
        text += finer_svms(before, after) + f" {objective_change(before, after)}"
        if after.objective > before.objective and self.nonmonotone:
            most = number_text(facts.reference_value)
            text += f" It may rise for a while, as long as it stays below the average of past values, {most}."
        return text


def _search_arc(evaluate: Callable[[Array], Valued], here: Valued, longest: float, reference: float) -> Search:
    """Try the points P(d - t grad W), t = `longest` and then shorter, until one is low enough."""
    move = here.toward(longest) - here.weights
    slope = -float(move @ move) / longest

    def place(share: float) -> Array:
        return here.toward(share * longest)

    return search_along(evaluate, here, place, slope, reference, interpolate, LEAST)


def _iterate(
    oracle: SvmOracle,
    here: Valued,
    units: Units,
    step: float,
    search: Search | None,
    reference: ReferenceValue,
    direction: str = "",
    trials: str = "",
    end: End | None = None,
) -> Iterate:
    facts = PgdFacts(
        line_search_trials=float(len(search.tried) if search is not None else 0),
        reference_value=reference.value,
        memory=reference.memory,
        projected_gradient=here.stationarity(units),
        direction=direction,
        trials=trials,
    )
    return oracle.iterate(here.point, step, facts, end)
