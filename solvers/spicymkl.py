"""SpicyMKL: the functions stay near those of the last step, less and less so, and each step is smooth in the dual.

    beta_t = argmin  L*(-beta) + sum_k E_gamma(||beta + alpha_k / gamma||_{K_k})      such that 1'beta = 0
    alpha_k <- (1 - lam / x_k)_+ (alpha_k + gamma beta_t),      x_k = ||beta_t + alpha_k / gamma||_{K_k}
    gamma  <- growth gamma

written for the block 1-norm lam sum ||f_k||, f_k = K_k alpha_k; other norms have other thresholds
(`mklviz.solvers._spicy_norms`). The inner problems are solved by a semismooth Newton method whose cost follows the
kernels that are active; no SVM is solved. Losses whose dual has a box keep it in the limit only
(`mklviz.inner.conjugates`). Norms with a smooth conjugate can do without the proximal terms ("one step").

Where C is large and kernels are of low rank, beta is large and K_k beta is not: beta'K_k beta is a sum of terms that
cancel, and gamma times its rounding is in the new norms. The weights bear that, as J is flat at its minimum, but not
P(d, beta), which multiplies all that is wrong with a score by C. Then, and only then, an SVM at the weights found tells
what they are worth, and the next steps start from its beta with a smaller gamma.

An iterate shows the weights of the norms ||f_k||, and beta_t moved into its box: the certificate is the problem's own,
over all kernels.

Reference: Suzuki, Tomioka, SpicyMKL: a fast algorithm for multiple kernel learning with thousands of kernels, Machine
Learning 85 (2011), table 1 and section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import param

from mklviz.contract import Array, End, Facts, Iterate, Solver
from mklviz.errors import UnsupportedProblem
from mklviz.inner.conjugates import Conjugate, conjugate_of, conjugated_losses, into_box
from mklviz.inner.oracle import FINEST, SVM_TOLERANCE, SvmOracle, needs_known_loss, needs_matrix, refuse
from mklviz.inner.warm import start_weights
from mklviz.lazy import cached_property
from mklviz.numbers import counted, number_text
from mklviz.problem import Problem
from mklviz.problem.rounding import rounding_bound
from mklviz.solvers._spicy_newton import InnerProblem
from mklviz.solvers._spicy_norms import envelope_of, natural_reach, spread, start_signed, usual_start
from mklviz.solvers._words import objective_change, start_sentence

_MOST_NEWTON = 100  # Newton steps in one outer step
_MOST_GROWTH = 1e7  # of gamma in all; more than that, and rounding takes over
_RETREAT = 0.1  # factor of gamma where rounding has undone a step
_MOST_RETREATS = 6
_SHARE_OF_GAP = 0.1  # that the residual of an inner problem may be worth
_NEAR = 0.5  # of the objective is what dual variables must be worth for an SVM to start from them, not from zero
_BOX_REACH = 10.0  # the paper's first proximity for the box, relative to the size of y
_CAUTION = 0.1  # 0.01 to 1 need about as many Newton steps, none at all half as many again
_ROUNDING = 1e-13
_AGREED = End("The upper and the lower bound agree up to rounding: there is nothing left to gain.")
_STILL = End("The Newton method stands still: rounding does not let it come any closer.")


@dataclass(frozen=True, kw_only=True)
class SpicyMklFacts(Facts):
    """What is known of an outer step."""

    newton_steps: float = math.nan  # Newton steps that it took
    active_kernels: float = math.nan  # kernels in the last of them
    residual: float = math.nan  # what was left of the inner problem's gradient
    violation: float = math.nan  # how far beta was outside its box, as a share of the box
    gamma: float = math.nan  # the proximity parameter that the step began with


class SpicyMkl(Solver):
    """Proximal method in the functions, Newton's method in the dual.

    The step of an iterate is gamma, the proximity parameter of the outer step that led to it, nan in one-step
    mode, which has none. ``svm_solves`` counts Newton steps, each of which solves one linear system of n equations,
    and the SVMs that are solved where rounding has undone a step.
    """

    name_ = "spicymkl"
    label = "SpicyMKL"
    colour = "#CC79A7"
    colour_dark = "#D98FB8"
    dash = "dotdash"
    marker = "hex"
    paper = "Suzuki, Tomioka, SpicyMKL: a fast algorithm for multiple kernel learning, Machine Learning 85, 2011"

    gamma = param.Number(
        default=1.0,
        bounds=(1e-6, 1e6),
        label="γ at the start",
        doc="How far the first outer step may move the functions, relative to the scale of the problem.",
    )
    growth = param.Number(
        default=10.0,
        bounds=(1.0, 1e3),
        label="growth of γ",
        doc="Factor by which each outer step may move the functions farther than the one before.",
    )
    one_step = param.Boolean(
        default=True,
        label="one step where possible",
        doc="Drop the proximal terms of norms with a smooth conjugate: an option for the elastic net, a must for lp.",
    )
    box = param.Selector(
        default="multipliers",
        objects=["multipliers", "decisions"],
        label="box of the hinge loss",
        doc=(
            "How 0 <= a <= C is kept: by the paper's augmented Lagrangian (multipliers), or by proximity to the "
            "decision values of the last step (decisions), as for the epsilon-insensitive loss."
        ),
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for the losses and the block norms whose duals are known."""
        losses = conjugated_losses()
        if not isinstance(problem.loss, losses):
            known = ", ".join(loss.label for loss in losses)
            return f"{self.label} knows the losses {known}, not the {problem.loss.label} loss."
        try:
            envelope_of(problem.regularizer)
        except UnsupportedProblem as unknown:
            return str(unknown)
        if problem.sample_weight is not None and not problem.sample_weight.all():
            return f"{self.label} divides by the weights of samples: leave out those of weight zero."
        return needs_matrix(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield equal weights, then one iterate per outer step, or per Newton step where no outer step is needed.

        Where rounding has undone one, the next may be an SVM at the weights found.
        """
        refuse(self.refusal(problem))
        path = _SpicyRun(problem, self, start)
        yield path.first()
        while True:
            iterate = path.step()
            yield iterate
            if iterate.end is not None:
                return

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell gamma, the Newton steps and the active kernels, and what came of it."""
        if before is None:
            return start_sentence(after)
        facts = SpicyMklFacts.of(after)
        if not np.isnan(facts.svm_tolerance):
            of = counted(facts.active_kernels, "kernel")
            sentence = f"Newton's method came no closer, so an SVM was solved at the weights of {of}."
            return f"{sentence} {objective_change(before, after)}"
        took = counted(facts.newton_steps, "Newton step")
        active = counted(facts.active_kernels, "kernel")
        near = f", with the functions kept near the last ones (γ = {number_text(after.step, '.2g')}),"
        near = "" if np.isnan(after.step) else near
        return f"{took} on the dual variables{near} left {active} with weight. {objective_change(before, after)}"


class _OuterState(NamedTuple):
    """All that an outer step changes, as `_SpicyRun` describes it."""

    signed: Array
    weights: Array
    feasible: Array
    dual: Array
    violation: float
    objective: float
    bound: float
    conjugate: Conjugate
    inner: InnerProblem

    @property
    def gap(self) -> float:
        return self.objective - self.bound


class _SpicyRun:
    """The state of one run.

    `weights` (m,): d; `signed` (n,): beta of the last inner problem, which may lie a little outside its box; `feasible`
    (n,): beta moved into its box; `settled`: whether gamma grows no more; `exact`: whether beta solves the SVM at the
    weights; `doubted`: the state at whose weights the next step is to solve it; `solvable`: whether there is a method
    for it, and the last was solved well enough to prove anything; `box`: what beta can be as large as: the largest C,
    or that times a residual where nothing bounds it.
    """

    def __init__(self, problem: Problem, solver: SpicyMkl, start: Iterate | None) -> None:
        loss = problem.loss
        self.problem, self.growth = problem, solver.growth
        self.signed = usual_start(problem)
        self.box = loss.top if loss.bounded else loss.top * spread(problem)
        usual = 2.0 * float(np.abs(self.signed).max())  # much less than C where C is large
        proximity = _BOX_REACH * solver.gamma * spread(problem) / usual
        self.conjugate = conjugate_of(loss, problem.y, proximity, bounds=solver.box == "multipliers")
        envelope = envelope_of(problem.regularizer)
        one_step = envelope.one_step and (solver.one_step or envelope.needs_one_step)
        self.one_newton_step = one_step and self.conjugate.exact
        self.reach = np.inf if one_step else solver.gamma * natural_reach(problem, self.signed)
        self.inner = InnerProblem(
            problem.bank,
            self.conjugate,
            envelope,
            nearness=1.0 / self.reach,
            balanced=loss.bias,
            caution=0.0 if self.conjugate.exact else _CAUTION,
            sizes=(usual, max(usual, self.box)),
        )
        self.newton_steps, self.svm_solves, self.retreats = 0, 0, 0
        self.exact = False
        self.doubted: _OuterState | None = None
        self.solvable = not needs_known_loss(problem, solver.label)
        self.grown, self.settled = 1.0, self.one_newton_step
        self.weights = start_weights(problem, start)
        if start is not None:
            self._begin(start_signed(problem, start, self.signed, self.conjugate))
        self._certify()

    def _begin(self, signed: Array) -> None:
        """Take the functions that the weights and these dual variables make for those of the last outer step."""
        self.signed = signed
        scores = self.problem.bank.apply(self.weights, signed)
        self.conjugate.begin(scores + self.problem.loss.primal(scores, self.problem.y)[1])
        if np.isfinite(self.reach):
            self.inner.begin(self.weights, signed)

    def first(self) -> Iterate:
        """Return the iterate at equal weights, or at a warm start."""
        facts = SpicyMklFacts(active_kernels=float(self.problem.m), violation=self.violation)
        return replace(self._iterate(facts), end=None)

    def step(self) -> Iterate:
        """Take one outer step, or find out what the weights are worth."""
        if self.doubted is not None:
            return self._solve_svm(self.doubted)
        inner, kept = self.inner, self._state()
        point = inner.first_point(self.signed)
        result = inner.solve(point, *self._effort(inner.residual(point.gradient)))
        self.newton_steps += result.newton_steps
        self.signed = result.point.signed
        inner.accept(result.point)
        regularizer, point = self.problem.regularizer, result.point
        if np.isinf(self.reach):
            self.weights = regularizer.weights_from(point.quad)
        else:
            self.weights = regularizer.weights_from_norms(inner.norms)
        self._certify()
        facts = SpicyMklFacts(
            newton_steps=float(result.newton_steps),
            active_kernels=float(len(result.point.active)),
            residual=result.residual,
            violation=self.violation,
            gamma=self._gamma,
        )
        made, state = self._iterate(facts), self._state()
        exhausted = result.newton_steps == _MOST_NEWTON and self.solvable
        lost = result.stuck or result.newton_steps == 0 or (exhausted and not (self.exact and state.bound > kept.bound))
        undone = lost and state.gap >= kept.gap
        self.exact = self.exact and undone
        if undone:
            self._go_back(kept)
            state = state if state.bound > kept.bound and not exhausted else kept
        elif not self.one_newton_step:
            self._weaken()
        known = self.exact and state is kept
        if (undone or exhausted) and self.solvable and state.weights.any() and not known:
            self.doubted = state
        elif undone and self._stands_still():
            return replace(made, end=_STILL)
        return made

    def _solve_svm(self, doubted: _OuterState) -> Iterate:
        """Solve the SVM at the weights of a state that rounding has spoilt, and go on from there if it is better.

        Solved to a tenth of the gap, or as far as rounding allows.
        """
        kept, self.doubted = self._state(), None
        near = doubted.bound > _NEAR * self.objective
        enough = _SHARE_OF_GAP * kept.gap / (self.problem.n * self.box)
        self.oracle.tol = min(self.oracle.tol, max(enough, FINEST))
        point = self.oracle.solve(doubted.weights, start=doubted.feasible if near else None)
        self.solvable = point.error < kept.gap
        while self.solvable and (finer := self.oracle.tightened(point)) is not None:
            before, point = point.error, finer
            if point.error > 0.5 * before:  # rounding decides, or the way is too long
                break
        self.weights, self.signed, self.svm_solves = doubted.weights, point.signed, self.oracle.solves
        self._certify()
        active = float(np.count_nonzero(self.weights))
        made = self._iterate(SpicyMklFacts(active_kernels=active, svm_tolerance=point.tol))
        better = self.objective - self.bound < kept.gap
        self.exact = self.exact or better or doubted.weights is kept.weights
        if better:
            self._begin(self.signed)
        else:
            self._restore(kept)
        return replace(made, step=math.nan)

    def _state(self) -> _OuterState:
        """Return all that an outer step changes."""
        certified = self.feasible, self.dual, self.violation, self.objective, self.bound
        return _OuterState(self.signed, self.weights, *certified, copy(self.conjugate), copy(self.inner))

    def _restore(self, state: _OuterState) -> None:
        self.signed, self.weights, self.feasible, self.dual = state.signed, state.weights, state.feasible, state.dual
        self.violation, self.objective, self.bound = state.violation, state.objective, state.bound
        self.conjugate, self.inner = state.conjugate, state.inner
        self.inner.conjugate = self.conjugate

    def _go_back(self, state: _OuterState) -> None:
        """Take back a step that rounding has undone; the next ones go less far."""
        self._restore(state)
        self.settled, self.retreats = True, self.retreats + 1
        self.conjugate.shrink(_RETREAT)
        self._reach_to(_RETREAT * self.reach)

    def _reach_to(self, reach: float) -> None:
        self.reach = reach
        self.inner.nearness = 1.0 / reach

    def _effort(self, residual: float) -> tuple[float, int]:
        """Return the residual to solve the inner problem to, in proportion to the gap, and the most Newton steps."""
        problem = self.problem
        least = _ROUNDING * np.sqrt(problem.n) * spread(problem)
        if self.one_newton_step:
            return least, 1
        share = _SHARE_OF_GAP * (self.objective - self.bound) / (np.sqrt(problem.n) * self.box)
        return max(min(share, 0.1 * residual), least), _MOST_NEWTON

    def _certify(self) -> None:
        problem, loss = self.problem, self.problem.loss
        self.feasible = into_box(self.signed, problem.y, loss)
        self.violation = float(np.abs(self.feasible - self.signed).max()) / self.box
        self.dual = loss.dual_from_signed(self.feasible, problem.y)
        quad = problem.bank.quad(self.feasible)
        scores = problem.bank.apply(self.weights, self.feasible)
        self.objective = problem.primal(self.weights, scores, float(self.feasible @ scores), quad)
        self.bound = problem.lower_bound(self.dual, quad)

    @cached_property
    def oracle(self) -> SvmOracle:
        """What solves the SVM, where rounding asks for it."""
        return SvmOracle(self.problem, SVM_TOLERANCE)

    def _stands_still(self) -> bool:
        """Whether no step back is left to take, or rounding is all there is between the bounds."""
        if self.one_newton_step or self.retreats > _MOST_RETREATS:
            return True
        apart = self.objective - self.bound
        return self.exact and apart <= rounding_bound(self.problem, self.weights, self.dual)

    def _weaken(self) -> None:
        """Move the multipliers to where the last step ended, and let the next one go farther, if rounding allows."""
        self.settled = self.settled or self.grown >= _MOST_GROWTH
        growth = 1.0 if self.settled else self.growth
        self.grown *= growth
        self.conjugate.update(self.signed, growth)
        self._reach_to(growth * self.reach)

    @property
    def _gamma(self) -> float:
        """The proximity parameter, nan where there is none."""
        return float(self.reach) if np.isfinite(self.reach) else math.nan

    def _iterate(self, facts: SpicyMklFacts) -> Iterate:
        return Iterate(
            weights=self.weights.copy(),
            dual=self.dual.copy(),
            objective=self.objective,
            lower_bound=self.bound,
            step=self._gamma,
            svm_solves=self.newton_steps + self.svm_solves,
            facts=facts,
            end=_AGREED if self.objective - self.bound <= _ROUNDING * abs(self.objective) else None,
        )
