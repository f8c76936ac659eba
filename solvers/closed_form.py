"""Analytic updates: solve at d, then give every kernel the weight that suits the norm of its share of the function.

    x_k = ||f_k|| = d_k sqrt(s_k(a)),      a from the SVM at d
    d+  = argmin over d of  1/2 sum_k x_k^2 / d_k + r(d)
        = x_k^{2/(p+1)} / (sum x^{2p/(p+1)})^{1/p}   in the lp ball,      x_k / sum x   on the simplex

The objective as a function of (f, d) is convex; the SVM minimises over f, the formula over d, so the value falls at
every step, as far as the SVM is exact, and no step size is needed. A weight of zero makes f_k zero, whose formula is
zero again: zero is absorbing, and a kernel that the optimum leaves out only fades. On the simplex it fades by the
factor sqrt(s_k / max s) a step in the end, so one that is hardly worse than the best takes very long. It grows as
slowly, so a warm start, which knows the kernels of another optimum, could need more steps than equal weights: a kernel
that asks for more weight than it was left with is given some once (`_Revival`).

The formula asks for too little: where s stood still, log d would come nearer to its end by the factor 2/(p+1) only. So
the norms z that the formula is given run ahead of those found (`_Relaxation`):

    z+ = z (x / z)^w,   w = 2 / (2 - e),   e = elasticity of the formula, 2/(p+1) in the lp ball,

there d+ is proportional to (d_k s_k)^{1/p}, and the factor is 1/p. It is right for every loss and regularizer: a fixed
point stays one, and as the plain step minimises in turn, its derivative there has eigenvalues from 0 to e, so that one
of 1 - w (1 - that) lies between -1 and 1 for every w < 2. Elasticities are read off the last step, so that price and
loss need no formula of their own. Against the plain step to a gap of 1e-4 that takes 1.4 to 1.9 times fewer SVMs with
p below 1.5 and on the simplex or with linear prices, 1.3 times at p = 2, as many from p = 4 on; with hinge, logistic,
squared, epsilon-insensitive and multiclass losses alike. Far from the end it may go too far, so a step after which the
gap grew is followed by plain ones, by more of them the oftener that happens: plain steps converge.

References: Kloft, Brefeld, Sonnenburg, Zien, lp-norm multiple kernel learning, JMLR 12 (2011), equation 23 and
algorithm 1; Xu, Jin, Yang, King, Lyu, Simple and efficient multiple kernel learning by group lasso, ICML 2010,
for the simplex. The papers stop when the objective changes little; the certified gap says more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklviz.context import spending
from mklviz.contract import Array, End, Facts, Iterate, Solver
from mklviz.inner.averaging import SvmPoint
from mklviz.inner.oracle import SvmOracle, needs_known_loss, refuse, tolerance_option
from mklviz.numbers import counted
from mklviz.problem import Problem, Regularizer
from mklviz.solvers._words import next_tolerance, objective_change, start_sentence

REPEATED = 1e-15  # a move this small, relative to the weights, is rounding
FARTHEST = 1.9  # power that a step is raised to at most; 2 would not converge on the simplex
SHRUNK = 0.999  # a gap above this share of the last one has grown
PATIENCE = 8  # retreats after which one more plain step is due
MOTIONLESS = 1e-10  # a change of logarithms that rounding may be
FADED = 1e-3  # of the weight that s asks for, below which a kernel counts as without
VISIBLE = 1e-2  # of the gap, by which a step may raise the objective before rounding is seen to do it
HOPELESS = 10.0  # times the objective of the zero function
LOST = End("The formula raised the objective, which only rounding can do: norms of kernels' functions cancel in s_k.")
REVIVED = 3.0  # times the mean weight: less grows too slowly, more has to fade again (ionosphere, liver)


@dataclass(frozen=True, kw_only=True)
class ClosedFormFacts(Facts):
    """What is known of a step."""

    # kernels whose weight rose and fell
    gained: float = math.nan
    lost: float = math.nan
    most: str = ""  # the kernel whose weight rose most
    fastest_fade: float = math.nan  # the smallest factor by which a weight was multiplied
    power: float = math.nan  # w, 1 for a plain step
    retreats: float = math.nan  # how often a step had gone too far


class ClosedForm(Solver):
    """Alternate between the SVM and the formula for its weights.

    The step of an iterate is ``||d_{t+1} - d_t||_1``.
    """

    name_ = "closed-form"
    label = "Closed form"
    colour = "#8C510A"
    colour_dark = "#C9996B"
    dash = "dashdot"
    marker = "square_pin"
    paper = "Kloft, Brefeld, Sonnenburg, Zien, lp-norm multiple kernel learning, JMLR 2011"

    svm_tolerance = tolerance_option(" at first; tightened when it limits the gap.")

    def supports(self, problem: Problem) -> str:
        """Return "" for every regularizer with the formula, with any loss that has an inner solver."""
        formula = getattr(type(problem.regularizer), "weights_from_norms", None)
        if formula in (None, Regularizer.weights_from_norms):
            return f"{self.label} needs a formula for the weights, which the {problem.regularizer.label} lacks."
        return needs_known_loss(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate per update of the weights."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, rounding=True)
        point = oracle.begin(start)
        revival, relaxation = _Revival(problem, start is not None), _Relaxation(problem.regularizer)
        yield oracle.iterate(point, 0.0)
        least = point.primal
        while True:
            tolerance = next_tolerance(point, point.primal - point.lower_bound)
            held = revival.weights(point)
            with spending("subproblem"):
                weights = relaxation.weights(point, held)
            change = weights - point.weights
            step = float(np.abs(change).sum())
            if step <= REPEATED * float(weights.sum()) and tolerance == point.tol:
                end = End("The formula returns the weights it was given: they are a fixed point, to rounding.")
                yield oracle.iterate(point, 0.0, end=end)
                return
            facts = _facts(problem, point.weights, change, relaxation)
            plain = relaxation.power == 1.0 and np.array_equal(held, point.weights)
            point = oracle.solve(weights, tolerance)
            least = min(least, point.primal) if plain else point.primal
            if _raised(problem, point, least):
                yield oracle.iterate(point, step, facts, LOST)
                return
            yield oracle.iterate(point, step, facts)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell who gained and lost, and what the objective did."""
        if before is None:
            return start_sentence(after)
        facts, known = ClosedFormFacts.of(after), ClosedFormFacts.of(before)
        if math.isnan(facts.gained):
            return f"The formula left the weights where they were. {objective_change(before, after)}"
        most = f", {facts.most} most" if facts.gained else ""
        how = (
            f" It goes further than the formula, whose changes it takes to the power {facts.power:.3g}."
            if facts.power > 1.0
            else ""
        )
        if facts.retreats > (0.0 if math.isnan(known.retreats) else known.retreats):
            how = " The step before went too far (the gap grew), so this one takes the formula as it is."
        return (
            f"The step raised the weight of {counted(facts.gained, 'kernel')}{most}, and lowered that of"
            f" {facts.lost:,.0f}.{how} {objective_change(before, after)}"
        )


class _Relaxation:
    """The norms that the formula is given: those found, or further on the way from the last ones to them.

    `power`: w of the last step; `retreats`: how often a step had gone too far.
    """

    def __init__(self, regularizer: Regularizer) -> None:
        self._regularizer = regularizer
        self._given: Array | None = None  # z
        self._gap = np.inf
        self._plain_left = 0
        self.power, self.retreats = 1.0, 0

    def weights(self, point: SvmPoint, held: Array) -> Array:
        """Return the next weights, from the solved `point` and its weights, of which some may have been raised."""
        norms = held * np.sqrt(np.maximum(point.s, 0.0))
        weights = self._regularizer.weights_from_norms(norms)
        if self.power > 1.0 and not point.gap <= SHRUNK * self._gap:
            self.retreats += 1
            self._plain_left = 1 + self.retreats // PATIENCE
        self._gap, self.power = point.gap, 1.0
        if self._plain_left:
            self._plain_left -= 1
        elif self._given is not None:
            kept = (norms > 0.0) & (self._given > 0.0) & (weights > 0.0) & (point.weights > 0.0)
            norms = self._ahead(norms, kept & (held == point.weights), point.weights, weights)
            weights = self._regularizer.weights_from_norms(norms) if self.power > 1.0 else weights
        self._given = norms
        return weights

    def _ahead(self, norms: Array, kept: NDArray[np.bool_], before: Array, weights: Array) -> Array:
        """Return z (x / z)^w with the sum of x, where the step from weights `before` would be to `weights`.

        A common factor is left out: prices answer to it in another way than to the shares, and constraints not at all.
        """
        assert self._given is not None
        if not kept.any():
            return norms
        moved = np.log(norms[kept] / self._given[kept])
        answer = np.log(weights[kept] / before[kept])
        spread = moved - moved.mean()
        if np.abs(spread).max() <= MOTIONLESS:
            return norms
        elasticity = float(spread @ (answer - answer.mean())) / float(spread @ spread)
        self.power = min(2.0 / (2.0 - min(max(elasticity, 0.0), 1.0)), FARTHEST)
        ahead = norms.copy()
        ahead[kept] = self._given[kept] * np.exp(self.power * moved)
        return np.asarray(ahead * (norms.sum() / ahead.sum()))


class _Revival:
    """Weights given back to kernels without, each kernel once: oftener, they would come and go for ever.

    A kernel asks for more where s_k is above the weighted mean of s, which all kernels of an optimum share on the
    simplex and with a linear penalty; elsewhere where s asks for far more than the kernel has.
    """

    def __init__(self, problem: Problem, warm: bool) -> None:
        self._regularizer = problem.regularizer
        self._left = np.full(problem.m, warm)

    def weights(self, point: SvmPoint) -> Array:
        """Return the weights of `point`, those of kernels raised that ask for more."""
        if not self._left.any():
            return point.weights
        held, raised = point.weights, np.full_like(point.weights, REVIVED * point.weights.mean())
        if self._regularizer.determined:
            raised = np.minimum(raised, self._regularizer.weights_from(point.s))
            wanting = self._left & (held < FADED * raised)
        else:
            wanting = self._left & (held < raised) & (point.s * held.sum() > held @ point.s)
        self._left &= ~wanting
        return np.where(wanting, raised, held)


def _raised(problem: Problem, point: SvmPoint, least: float) -> bool:
    """Return whether plain steps have raised the objective from its `least`, however exact the SVM: rounding has.

    Norms that are rounding alone make weights grow by the same factor at every step, until their price alone is more;
    or more than ten times what the zero function costs, to which no step leads, however far it goes ahead.
    """
    never_negative = problem.regularizer.weighted and not problem.loss.one_class
    price = problem.regularizer.value(point.weights) if never_negative else -math.inf
    lowest = max(point.primal - point.error, price)
    return lowest > least + VISIBLE * (least - point.lower_bound) or price > HOPELESS * problem.zero_objective


def _facts(problem: Problem, weights: Array, change: Array, relaxation: _Relaxation) -> ClosedFormFacts:
    held = weights > 0.0
    factors = 1.0 + change[held] / weights[held]
    return ClosedFormFacts(
        gained=float((change > 0.0).sum()),
        lost=float((change < 0.0).sum()),
        most=problem.bank.names[int(change.argmax())],
        fastest_fade=float(min(factors.min(), 1.0)) if len(factors) else 1.0,
        power=relaxation.power,
        retreats=float(relaxation.retreats),
    )
