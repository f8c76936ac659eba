"""The level method: the nearest weights at which the cutting planes promise enough, not the lowest promise.

    level_t = lambda ub_t + (1 - lambda) lb_t,
    d_{t+1} = argmin ||d - d_t||^2   such that   d in the simplex,  c_j'd <= level_t  (j <= t)

with the cuts c_j of SILP, ub the lowest certified objective so far and lb the model's minimum. lambda = 0 asks for all
that the model promises, as SILP does, at the minimizer nearest to d_t; lambda near 1 takes short steps, and 1 none.

The projection is solved in its dual, one variable per cut, and its multipliers w prove the bound ``min_k (w'c)_k`` of
the model as well. That alone would do for lb, but it is loose: levels come out too low and steps too long (a third to a
half more SVM solves on ionosphere, wdbc and sonar). So lb comes from SILP's warm linear program, which
costs about as much as an SVM solve; only banks too large for it go without.

Reference: Xu, Jin, King, Lyu, An Extended Level Method for Efficient Multiple Kernel Learning, NIPS 2008, algorithm 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import param
from numpy.typing import NDArray

from mklviz.contract import End, Facts, Iterate, Solver
from mklviz.errors import SolverError
from mklviz.inner.averaging import Proof, SvmPoint
from mklviz.inner.oracle import FINEST, SvmOracle, needs_known_loss, refuse, tolerance_option
from mklviz.kernels.interface import Divisible
from mklviz.numbers import counted, number_text, share_text
from mklviz.problem import Problem
from mklviz.problem.proving import relative_gap
from mklviz.solvers._cutting_plane import CuttingPlaneModel
from mklviz.solvers._level_qp import LevelProjection, project_to_level_set
from mklviz.solvers._words import needs_simplex, next_tolerance, objective_change, start_sentence
from mklviz.typing import Array

# A start from a quarter of the samples: solve there with C four times as large, and hand the dual variables back.
#
#     a_i = a_i^few C / C_few  on the few samples,  0 elsewhere;      C_few = C n / n_few
#
# Each of the few speaks for n / n_few of its like, so that the function, and with it the kernel weights, come out about
# the same at a fraction of the cost, which grows with n^2 at least. Where samples have weights, their sums stand for n
# and n_few. The dual variables handed back are feasible for all samples: certificates are those of the whole problem,
# and only the way to its solution is another.
#
# What is saved are the first steps, where most kernels have weight and K_d is dearest. With the papers' kernels on ten
# features and 1,000 or 2,000 samples, Level to a gap of 1e-2 took a quarter to a half of the time; on tables of 135 to
# 384 samples it took 1.1 to 1.3 times as long.

SHARE = 4  # samples of which one is taken
GAP = 1e-2  # of the few: their optimum is not that of all, so that more would be in vain
MOST = 200  # steps


def needs_parts(problem: Problem) -> str:
    """Return "" or why there is no coarse start: only exact kernels can be looked at on some of their samples."""
    if isinstance(problem.bank, Divisible):
        return ""
    return "A coarse start needs exact kernels, of which some samples can be taken: leave it out."


def coarse_solution(problem: Problem, solver: Solver) -> Iterate:
    """Return a start for `problem`, with the SVMs it took, from what `solver` finds on a quarter of the samples."""
    bank, loss = problem.bank, problem.loss
    assert isinstance(bank, Divisible)
    few = some_samples(problem, solver.seed)
    every = problem.sample_weight
    weights = None if every is None else every[few]
    scale = problem.n / len(few) if every is None else float(every.sum() / every[few].sum())
    larger = replace(loss, C=loss.C * scale)
    coarse = Problem(bank.only(few), problem.y[few], larger, problem.regularizer, weights)
    for count, iterate in enumerate(solver.iterates(coarse)):
        if iterate.gap <= GAP or count == MOST:
            break
    dual = np.zeros(loss.dual_shape(problem.y))
    dual[few] = iterate.dual / scale
    return replace(iterate, dual=dual, certificate=None)


def some_samples(problem: Problem, seed: int) -> NDArray[np.intp]:
    """Return a quarter of the samples, drawn so that their targets are spread as those of all, and every class.

    Samples without weight are not among them.
    """
    counted = np.arange(problem.n) if problem.sample_weight is None else np.flatnonzero(problem.sample_weight)
    y = problem.y[counted]
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    few = order[np.linspace(0, len(y) - 1, -(-len(y) // SHARE)).astype(np.intp)]
    firsts = np.empty(0, dtype=np.intp) if problem.loss.regression else np.unique(y, return_index=True)[1]
    return counted[np.union1d(few, firsts)]


_LEAST_LAM = 1e-6  # room above the model's minimum, without which rounding may empty the level set
_LARGEST_PROGRAM = 10_000  # kernels up to which the linear program is cheap
_SWITCHED_LAM = 0.99  # the paper's lambda near the end
_ROUNDING = 1e-13  # relative gap of the model that rounding alone can cause
_NO_FINER = "The cut just added does not reach the level: the SVM cannot be solved any more precisely."
_TOO_CLOSE = "No weights lie below the level, whatever the level: the two bounds are too close for rounding."
_NOTHING_ASKED = "At λ = 1 the level is the best objective so far, which asks for nothing better: the weights stay."


@dataclass(frozen=True, kw_only=True)
class LevelFacts(Facts):
    """What is known of a step: the model, and the projection that led to the iterate."""

    cuts: float = math.nan  # cuts of the model
    # the lowest certified objective so far and the model's minimum, which the level lies between
    upper_bound: float = math.nan
    model_lower_bound: float = math.nan
    model_gap: float = math.nan  # their relative gap
    # the level, and where it lies between the two
    level: float = math.nan
    lam: float = math.nan
    moved: float = math.nan  # share of the weight that changed kernels, half the step
    binding_cuts: float = math.nan  # cuts that reach the level
    projection_newton_steps: float = math.nan  # Newton steps of the projection
    empty_level_sets: float = math.nan  # levels tried below the model's minimum


class Level(Solver):
    """Cutting planes and a projection on their level set.

    The step of an iterate is ``||d_{t+1} - d_t||_1``, at most 2.
    """

    name_ = "level"
    label = "Level"
    colour = "#0072B2"
    colour_dark = "#3DA5E0"
    dash = "solid"
    marker = "circle"
    paper = "Xu, Jin, King, Lyu, An Extended Level Method for Efficient Multiple Kernel Learning, NIPS 2008"

    lam = param.Number(
        default=0.8,
        bounds=(0.0, 1.0),
        softbounds=(0.0, 0.99),
        step=0.01,
        label="λ (level)",
        doc="The level: at the lower bound (0, jumps like SILP), near the upper (short steps) or on it (1, none).",
    )
    switch = param.Boolean(
        default=False,
        label="λ = 0.99 near the end",
        doc="Raise λ to 0.99 once the gap is below 1 % of the level, as the paper does; it was seen to slow the end.",
    )
    svm_tolerance = tolerance_option(" at first; tightened when it limits the model.")
    coarse_start = param.Boolean(
        default=False,
        label="Coarse start",
        doc="Start from the solution on a quarter of the samples: saves time from some 1,000 samples on, loses on few.",
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for kernel weights on the simplex, whatever the loss."""
        parts = needs_parts(problem) if self.coarse_start else ""
        return needs_simplex(problem, self.label) or needs_known_loss(problem, self.label) or parts

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one projection per step."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, rounding=True)
        point = self._begin(oracle, start)
        bundle = _Bundle(problem.m)
        oracle.proof = lambda _: bundle.proof
        bundle.learn(point)
        yield oracle.iterate(point, 0.0)
        while True:
            if bundle.gap <= _ROUNDING * abs(bundle.upper):
                end = End("The upper and the lower bound agree up to rounding: there is nothing left to gain.")
                yield oracle.iterate(point, 0.0, bundle.facts(), end)
                return
            projection = bundle.project(point.weights, self._current_lam(bundle))
            if projection is None:
                yield oracle.iterate(point, 0.0, bundle.facts(), End(_TOO_CLOSE))
                return
            step = float(np.abs(projection.weights - point.weights).sum())
            tolerance = next_tolerance(point, (1.0 - bundle.lam) * bundle.gap)
            facts = bundle.facts(projection, step)
            if step == 0.0 and (bundle.lam == 1.0 or point.tol <= FINEST):
                yield oracle.iterate(point, 0.0, facts, End(_NOTHING_ASKED if bundle.lam == 1.0 else _NO_FINER))
                return
            point = oracle.solve(projection.weights, tolerance if step > 0.0 else 0.1 * point.tol)
            bundle.learn(point)
            yield oracle.iterate(point, step, facts)

    def _begin(self, oracle: SvmOracle, start: Iterate | None) -> SvmPoint:
        """Return the point to begin at: that of `start`, or of a coarse one, whose SVMs count."""
        if start is None and self.coarse_start:
            few = Level(**{**self.options(), "coarse_start": False})
            start = coarse_solution(oracle.problem, few)
            oracle.solves = start.svm_solves
        return oracle.begin(start)

    def _current_lam(self, bundle: _Bundle) -> float:
        level = self.lam * bundle.upper + (1.0 - self.lam) * bundle.lower
        near = self.switch and bundle.gap < 1e-2 * abs(level)
        return max(self.lam, _SWITCHED_LAM if near else _LEAST_LAM)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell the level, how far its level set was, and what came of it."""
        if before is None:
            return start_sentence(after)
        facts = LevelFacts.of(after)
        if math.isnan(facts.level):
            return "The upper and the lower bound have met, so the weights stay."
        few = {1.0: "the one cut lies", 2.0: "both cuts lie"}
        cuts = few.get(facts.cuts, f"all {counted(facts.cuts, 'cut')} lie")
        text = f"Moved {share_text(facts.moved)} of the weight, to the nearest point where {cuts} below the level"
        text += f" {number_text(facts.level)}."
        if facts.empty_level_sets > 0.0:
            text += " The first level tried was too low for any point, which raised the lower bound."
        return f"{text} {objective_change(before, after)}"


class _Bundle:
    """The cuts, the bounds they give and the multipliers of the last projection.

    `upper`, `lower`: certified bounds of the optimum; `proof`: what proves the highest bound of the model; `lam`,
    `level`: those of the last projection.
    """

    def __init__(self, m: int) -> None:
        self.model = CuttingPlaneModel(m)
        self.upper, self.lower = np.inf, -np.inf
        self.proof: Proof | None = None
        self.lam, self.level = np.nan, np.nan
        self._multipliers = np.zeros(0)
        self._empty = 0

    @property
    def gap(self) -> float:
        return self.upper - self.lower

    def learn(self, point: SvmPoint) -> None:
        """Add the cut of `point` and its bounds."""
        self.model.learn(point)
        self._multipliers = np.append(self._multipliers, 0.0)
        self.upper = min(self.upper, point.primal)
        self.lower = max(self.lower, point.lower_bound)
        if self.model.m <= _LARGEST_PROGRAM:
            self._minimize_model()

    def _minimize_model(self) -> None:
        with suppress(SolverError):  # the bounds known so far hold without it
            self.lower = max(self.lower, self.model.minimize().theta)
            self._show(self.model.proof)

    def _show(self, proof: Proof | None) -> None:
        """Keep what proves the higher bound."""
        if proof is not None and (self.proof is None or proof.bound > self.proof.bound):
            self.proof = proof

    def project(self, d: Array, lam: float) -> LevelProjection | None:
        """Project `d` on the level set; where that is empty, raise the lower bound and, if need be, lambda.

        None where it is empty for rounding, whatever the level.
        """
        self._empty = 0
        while self.gap > 0.0 and self._empty <= 30:
            self.lam, self.level = lam, lam * self.upper + (1.0 - lam) * self.lower
            cuts, ends = self.model.cuts, self.model.extremes
            projection = project_to_level_set(d, cuts, self.level, self._multipliers, extremes=ends)
            if projection.bound > self.lower:
                self.lower = projection.bound
                self._show(self.model.proof_by(projection.multipliers, projection.weights))
            if not projection.empty:
                self._multipliers = projection.multipliers
                return projection
            if self._empty == 0:
                self._minimize_model()
            else:
                lam = min(10.0 * lam, 0.5 * (1.0 + lam))
            self._empty += 1
        return None

    def facts(self, projection: LevelProjection | None = None, step: float = 0.0) -> LevelFacts:
        """Return what there is to tell about the bounds and, where there was one, the projection."""
        known = LevelFacts(
            cuts=float(len(self.model)),
            upper_bound=float(self.upper),
            model_lower_bound=float(self.lower),
            model_gap=relative_gap(float(self.upper), float(self.lower)),
        )
        if projection is None:
            return known
        return replace(
            known,
            level=float(self.level),
            lam=self.lam,
            moved=0.5 * step,
            binding_cuts=float(np.sum(projection.multipliers > 0.0)),
            projection_newton_steps=float(projection.newton_steps),
            empty_level_sets=float(self._empty),
        )
