"""SMKL by alternating best response: solve the SVM at the weights, then take the weights that answer it best.

    a = SVM at d,     d+ = argmin over the simplex of  lam ||d - w||^2,   w_k = s_k(a) / (4 lam)
    with a limit:     the same over the k0 kernels of largest w, all others without weight

Both players answer the other's last move, and no past move is remembered: where the price lam is small beside s, the
answer is a corner of the simplex, which makes another corner the best answer, and so on without end. SILP's cuts end
such a cycle; here nothing does. Answers to the average of all past weights, fictitious play, settle slowly:
``d+ = d + (answer - d) / (t + 1)``.

Without a limit the problem is convex and certified as usual. With one it is not; the lower bound is that of the problem
without, and so holds for the problem with it as well. The SVM's start is the last solution, as in the paper.

References: Bertsimas, Iglesias, Johnson, Sparse multiple kernel learning: alternating best response and semidefinite
relaxations, TMLR 2025, algorithm 1; Brown, Iterative solution of games by fictitious play, 1951.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import param

from mklviz.context import spending
from mklviz.contract import ACTIVE_WEIGHT, Array, End, Facts, Iterate, Solver
from mklviz.inner.averaging import SvmPoint
from mklviz.inner.oracle import SvmOracle, needs_known_loss, refuse, tolerance_option
from mklviz.numbers import counted, share_text
from mklviz.problem import Problem, SimplexRidge
from mklviz.solvers._words import finer_svms, objective_change, start_sentence

SMALL = 1e-2  # share of the weight: where less moves, the SVM's error may matter
STILL = 1e-14  # the same: rounding
SAME = 1e-3  # the same: weights this near count as those of a step before
REMEMBERED = 12  # steps that a cycle may have
_LABELS = {"last": "SMKL", "average": "SMKL, averaged"}
_DASHES = {"last": "dashed", "average": "solid"}


@dataclass(frozen=True, kw_only=True)
class SmklFacts(Facts):
    """What is known of a step."""

    moved: float = math.nan  # share of the weight that changed kernels
    response_active: float = math.nan  # kernels that the best response gives weight to
    # steps since the weights were last the same, where they had changed since; nan where they never were
    period: float = math.nan


class Smkl(Solver):
    """Best responses of weights and dual variables to each other.

    The step of an iterate is the share of the way to the best response: 1, or 1 / (t + 1) against averages.
    """

    name_ = "smkl"
    label = "SMKL"
    dash = "dashed"
    paper = (
        "Bertsimas, Iglesias, Johnson, Sparse multiple kernel learning: alternating best response and semidefinite"
        " relaxations, TMLR 2025"
    )
    converges = False

    k0 = param.Integer(
        default=0,
        bounds=(0, None),
        label="Most kernels (k₀)",
        doc="Largest number of kernels with weight; 0: as many as there are. The lower bound knows no such limit.",
    )
    against = param.Selector(
        default="last",
        objects=["last", "average"],
        label="Answers",
        doc="last: to the last weights, as in the paper. average: to the average of all answers so far, which settles.",
    )
    svm_tolerance = tolerance_option("; lowered as the weights come to rest.", 1e-6)

    @param.depends("against", watch=True, on_init=True)
    def _show_play(self) -> None:
        """Carry the kind of play in the name and in the line's dash, so that both can race each other."""
        self.dash = _DASHES[self.against]  # type: ignore[misc]
        self._call(_LABELS[self.against])

    def supports(self, problem: Problem) -> str:
        """Return "" for the simplex with ridge, whatever the loss."""
        if not isinstance(problem.regularizer, SimplexRidge):
            return f"SMKL solves problems with the {SimplexRidge.label}, not with the {problem.regularizer.label}."
        if self.k0 and self.against == "average":
            return "SMKL averages its answers or limits their kernels, not both: averages of few kernels have many."
        return needs_known_loss(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one best response per step."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, rounding=True)
        point = oracle.begin(start)
        if self.k0 and int((point.weights > 0.0).sum()) > self.k0:  # the start as well has k0 kernels at most
            point = oracle.solve(best_response(problem, point, self.k0))
        past: deque[Array] = deque([point.weights], REMEMBERED)
        yield oracle.iterate(point, 0.0, SmklFacts())
        taken = 0
        while True:
            answer = best_response(problem, point, self.k0)
            step = 1.0 if self.against == "last" else 1.0 / (taken + 2.0)
            weights = answer if step == 1.0 else point.weights + step * (answer - point.weights)
            moved = 0.5 * float(np.abs(weights - point.weights).sum())
            facts = SmklFacts(
                moved=moved, response_active=float((answer > ACTIVE_WEIGHT).sum()), period=_period(past, weights)
            )
            if moved <= SMALL * step:
                finer = oracle.tightened(point)
                if finer is not None:
                    point = finer
                    yield oracle.iterate(point, 0.0, SmklFacts(moved=0.0))
                    continue
            if moved <= STILL:
                why = "The best answer to these weights has these weights as its best answer: neither side would move."
                yield oracle.iterate(point, 0.0, facts, End(why))
                return
            point = oracle.solve(weights)
            past.append(weights)
            taken += 1
            yield oracle.iterate(point, step, facts)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell how far the answer lay, and whether these weights were there before."""
        if before is None:
            return start_sentence(after)
        facts = SmklFacts.of(after)
        if after.step == 0.0:
            return f"The weights stay.{finer_svms(before, after)} {objective_change(before, after)}"
        to = f"the best answer to the SVM, which has {counted(facts.response_active, 'kernel')}"
        way = "" if after.step == 1.0 else f", {share_text(after.step)} of the way"
        text = f"Moved {share_text(facts.moved)} of the weight{way} to {to}."
        if facts.period > 1.0:
            back = f"The weights are those of {facts.period:.0f} steps ago: without a memory nothing ends this cycle."
            return f"{text} {back}"
        return f"{text} {objective_change(before, after)}"

    def advice(self, problem: Problem, last: Iterate) -> str:
        """Say what settles where answers to the last move do not."""
        if self.against == "average" or self.k0 or not SmklFacts.of(last).moved > SMALL:
            return ""
        return "Its answers jump to and fro at this price: against=average, or a higher price lam, makes them settle."


@spending("subproblem")
def best_response(problem: Problem, point: SvmPoint, k0: int = 0) -> Array:
    """Return the weights (m,) that answer the SVM's solution best, on `k0` kernels at most where that is not 0."""
    s, regularizer = point.s, problem.regularizer
    if not 0 < k0 < problem.m:
        return regularizer.weights_from(s)
    kept = np.argsort(-s, kind="stable")[:k0]
    weights = np.zeros_like(s)
    weights[kept] = regularizer.weights_from(s[kept])
    return weights


def _period(past: deque[Array], weights: Array) -> float:
    """Return how many steps ago the weights were these, once they had changed since; nan where they never were."""
    left = False
    for ago, before in enumerate(reversed(past), 1):
        distance = 0.5 * float(np.abs(weights - before).sum())
        left = left or distance > SMALL
        if left and distance <= SAME:
            return float(ago)
    return math.nan
