"""Pairwise and away-step Frank-Wolfe: weight goes to the kernel of steepest slope, from the one that earns it least.

    s_k = a'K_k a from the SVM at d,      best = argmax s,      worst = argmin of s among the kernels with weight
    pairwise   d+ = d + t (e_best - e_worst),    0 <= t <= d_worst
    away       d+ = d + t (e_best - d),  or  d + t (d - e_worst) where that promises more,  t up to where a weight is 0

Plain Frank-Wolfe, ``d + t (e_best - d)``, scales all weights down alike, so that a kernel once taken in never leaves;
both steps here can drop one, and then converge linearly (where J is smooth). The certificate costs nothing: the largest
promise ``1/2 (max s - d's)`` is the duality gap, as far as the SVM is exact.

The first step goes all the way to the best corner, unless the option says otherwise: a pairwise step empties one kernel
at most, so from equal weights it takes as many steps as there are kernels to be dropped.

A search along the step begins where the curvature seen in the step before puts the minimum of a parabola. At a kink,
where the SVM has several solutions, it follows what the last ones together promise.

Reference: Lacoste-Julien, Jaggi, On the global linear convergence of Frank-Wolfe optimization variants, NIPS 2015,
algorithms 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import param

from mklviz.context import spending
from mklviz.contract import Array, End, Facts, Iterate, Solver
from mklviz.inner.averaging import Kink
from mklviz.inner.oracle import SvmOracle, needs_known_loss, refuse, tolerance_option
from mklviz.numbers import counted, share_text
from mklviz.problem import Problem
from mklviz.solvers._spectral import Valued, interpolate, promises, search_segment
from mklviz.solvers._words import FROM_KINK, finer_svms, needs_simplex, objective_change, start_sentence, trials_text

_LABELS = {"pairwise": "Pairwise FW", "away": "Away-step FW"}
_DASHES = {"pairwise": "dashdot", "away": "dotted"}
EMPTY = 1e-14  # share of the largest weight below which rounding has left a weight instead of zero
WHY = "No step lowers the objective of SVMs solved to {:g}: rounding, or a kink where the SVM has several solutions,"


@dataclass(frozen=True, kw_only=True)
class PairwiseFacts(Facts):
    """What is known of a step."""

    # ``1/2 (max s - d's)`` where the step ended, relative to the objective: the duality gap of an exact SVM
    frank_wolfe_gap: float = math.nan
    line_search_trials: float = math.nan  # SVMs that the line search took
    moved: float = math.nan  # share of the weight that changed kernels
    direction: str = ""  # "corner", "pairwise", "towards", "away", or "averaged" out of a kink
    # the kernels that gained and gave weight; "" where all others did
    gainer: str = ""
    giver: str = ""
    dropped: float = math.nan  # kernels that lost all their weight
    trials: str = ""  # what the line search tried, as `mklviz.solvers._words` tells it; "" where no weight moved


class _Exchange(NamedTuple):
    """Where a step leads: `along` (m,), whose entries sum to zero, at most `longest` times."""

    kind: str
    along: Array
    longest: float
    gainer: int | None = None
    giver: int | None = None


class PairwiseFrankWolfe(Solver):
    """Frank-Wolfe steps that can drop a kernel.

    The step of an iterate is t above; out of a kink, the share of the way to where averaged solutions promise least.
    """

    name_ = "pairwise"
    label = "Pairwise FW"
    dash = "dashdot"
    paper = "Lacoste-Julien, Jaggi, On the global linear convergence of Frank-Wolfe optimization variants, NIPS 2015"

    variant = param.Selector(
        default="pairwise",
        objects=["pairwise", "away"],
        label="Step",
        doc="pairwise: from the worst kernel in use to the best of all. away: towards the best or away from the worst.",
    )
    first = param.Selector(
        default="corner",
        objects=["corner", "equal"],
        label="First step",
        doc="corner: all weight goes to the best kernel first. equal: go on from equal weights, one kernel a step.",
    )
    svm_tolerance = tolerance_option("; lowered only where nothing else helps any more.", 1e-6)

    @param.depends("variant", "first", watch=True, on_init=True)
    def _show_step(self) -> None:
        """Carry the kinds of step in the name and in the line's dash, so that all can race each other."""
        self.dash = "dashed" if self.first == "equal" else _DASHES[self.variant]  # type: ignore[misc]
        self._call(_LABELS[self.variant] + (", equal start" if self.first == "equal" else ""))

    def supports(self, problem: Problem) -> str:
        """Return "" for kernel weights on the simplex, whatever the loss."""
        return needs_simplex(problem, self.label) or needs_known_loss(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate per step."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, rounding=True)
        here = Valued(problem, oracle.begin(start))
        yield _iterate(oracle, here, 0.0)
        if start is None and self.first == "corner" and problem.m > 1:
            move = _to_corner(here)
            before, here = here, Valued(problem, oracle.solve(here.weights + move.along))
            yield _iterate(oracle, here, 1.0, before, move, 1)
        yield from self._descend(problem, oracle, here)

    def _descend(self, problem: Problem, oracle: SvmOracle, here: Valued) -> Iterator[Iterate]:
        """Yield one iterate per step from `here`, until nothing is lower."""
        curvature = 0.0

        def evaluate(weights: Array) -> Valued:
            return Valued(problem, oracle.solve(_cleaned(weights)))

        while True:
            move = _pairwise(here) if self.variant == "pairwise" else _away(here)
            length = _length(here, move, curvature)
            target = _cleaned(here.weights + length * move.along)
            search = search_segment(evaluate, here, target, here.value, interpolate)
            if search.accepted is None:
                move, length = move._replace(kind="averaged", gainer=None, giver=None), 1.0
                *_, search = search, *promises(evaluate, here, search, Kink(oracle.recent))
            if search.accepted is None:
                finer = oracle.tightened(here.point)
                if finer is None:
                    end = End(f"{WHY.format(oracle.tol)} stops the method here.")
                    yield _iterate(oracle, here, 0.0, here, move, len(search.tried), end=end)
                    return
                before, here = here, Valued(problem, finer)
                yield _iterate(oracle, here, 0.0, before, move, len(search.tried))
                continue
            before, here = here, search.accepted
            curvature = _curvature(before, here, curvature)
            trials = trials_text(before.weights, here.weights, search.tried)
            yield _iterate(oracle, here, search.share * length, before, move, len(search.tried), trials)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell whose weight went where, who was dropped, and what is left to gain."""
        if before is None:
            return start_sentence(after)
        facts = PairwiseFacts.of(after)
        if after.step == 0.0:
            trials = counted(facts.line_search_trials, "SVM solve")
            return f"{trials} found nothing lower.{finer_svms(before, after)} {objective_change(before, after)}"
        text = _moved(facts)
        if facts.direction in ("pairwise", "away") and facts.dropped == 1.0:
            left = counted(float(after.active), "kernel")
            text += f", which it drops; a step drops one at most, and {left} have weight"
        return f"{text}. {objective_change(before, after)}"


def _moved(facts: PairwiseFacts) -> str:
    """Say what moved, without a full stop."""
    weight = f"{share_text(facts.moved)} of the weight"
    match facts.direction:
        case "corner":
            return f"Gave all weight to {facts.gainer}, the kernel of steepest slope"
        case "towards":
            return f"Moved {weight} to {facts.gainer}, from all others in proportion"
        case "away":
            return f"Moved {weight} to all others in proportion, away from {facts.giver}"
        case "pairwise":
            return f"Moved {weight} to {facts.gainer}, from {facts.giver}"
    return f"{FROM_KINK} and moved {weight}"


@spending("subproblem")
def _to_corner(here: Valued) -> _Exchange:
    best = int(here.point.s.argmax())
    return _Exchange("corner", np.eye(1, len(here.weights), best)[0] - here.weights, 1.0, best)


@spending("subproblem")
def _pairwise(here: Valued) -> _Exchange:
    best, worst = _best_and_worst(here)
    along = np.zeros_like(here.weights)
    along[best] += 1.0
    along[worst] -= 1.0
    return _Exchange("pairwise", along, float(here.weights[worst]), best, worst)


@spending("subproblem")
def _away(here: Valued) -> _Exchange:
    """Return the step towards the best corner or the one away from the worst, whichever slope is steeper."""
    d, s = here.weights, here.point.s
    best, worst = _best_and_worst(here)
    mean = float(s @ d)
    if s[best] - mean >= mean - s[worst] or d[worst] == 1.0:
        return _Exchange("towards", np.eye(1, len(d), best)[0] - d, 1.0, gainer=best)
    along = d - np.eye(1, len(d), worst)[0]
    return _Exchange("away", along, float(d[worst] / (1.0 - d[worst])), giver=worst)


def _best_and_worst(here: Valued) -> tuple[int, int]:
    s = here.point.s
    return int(s.argmax()), int(np.where(here.weights > 0.0, s, np.inf).argmin())


def _length(here: Valued, move: _Exchange, curvature: float) -> float:
    """Return how far to go first: to the minimum of a parabola of this curvature, or as far as there is weight."""
    slope, square = float(here.gradient @ move.along), float(move.along @ move.along)
    if curvature <= 0.0 or square == 0.0:
        return move.longest
    return min(max(-slope, 0.0) / (curvature * square), move.longest)


def _curvature(before: Valued, after: Valued, known: float) -> float:
    """Return the second derivative of J along the step, per squared length; what was known where none was seen."""
    moved = after.weights - before.weights
    bend, square = float(moved @ (after.gradient - before.gradient)), float(moved @ moved)
    return bend / square if bend > 0.0 and square > 0.0 else 0.5 * known


def _cleaned(weights: Array) -> Array:
    """Return the weights without what rounding has left, with sum one."""
    kept = np.where(weights < EMPTY * weights.max(), 0.0, weights)
    return np.asarray(kept / math.fsum(kept))


def _iterate(
    oracle: SvmOracle,
    here: Valued,
    step: float,
    before: Valued | None = None,
    move: _Exchange | None = None,
    solved: int = 0,
    trials: str = "",
    end: End | None = None,
) -> Iterate:
    """Return the certified iterate at `here`, with what is known of the step from `before`."""
    names, d, s = oracle.problem.bank.names, here.weights, here.point.s
    left = d if before is None else before.weights
    gainer, giver = (None, None) if move is None else (move.gainer, move.giver)
    facts = PairwiseFacts(
        frank_wolfe_gap=0.5 * float(s.max() - d @ s) / max(abs(here.point.primal), 1e-300),
        line_search_trials=float(solved),
        moved=0.5 * float(np.abs(d - left).sum()),
        direction="" if move is None else move.kind,
        gainer="" if gainer is None else names[gainer],
        giver="" if giver is None else names[giver],
        dropped=float(((left > 0.0) & (d == 0.0)).sum()),
        trials=trials,
    )
    return oracle.iterate(here.point, step, facts, end)
