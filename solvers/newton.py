"""Newton's method on the kernel weights: minimise a second-order model of J, then search the segment.

    d+ = d + t (x - d),     x = argmin of the model of J + r at (d, b),     W(d+) <= W(d) + 1e-4 t grad W'(x - d)

The model (`_newton_model`) has the exact Hessian of J on the SVM's free points and knows when points will meet or
leave their bounds. It also foretells the dual variables b + z at x. They start the SVM there, and where they, or a
point on the way to them, certify more than the SVM's own solution they are the centre of the next model: a sparse K_d
may leave the SVM many solutions, of which only some certify that d is optimal. An iterate's bound is the best that they
prove, alone or averaged with the dual variables before (`mklviz.inner.averaging`).

Why it converges: no step raises W, and every 25th step, and wherever the model or its line search fails, is a projected
gradient step with Armijo's rule. Such steps lower W by a fixed fraction of what the projected gradient promises, so
along them that promise goes to zero; as W is convex and never rises, it goes to its minimum (the spacer step theorem,
Luenberger and Ye, Linear and nonlinear programming, section 7.7) wherever J is differentiable, that is where K_d
determines the SVM's solution. In practice about ten Newton steps are enough and the safeguard never acts.

Reference: Chapelle and Rakotomamonjy, Second order optimization of kernel parameters, NIPS workshop on automatic
selection of optimal kernels (2008).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import param

from mklviz.contract import Array, End, Facts, Iterate, Solver
from mklviz.inner.averaging import Proof, SvmPoint
from mklviz.inner.oracle import SvmOracle, needs_hinge, needs_known_loss, refuse, tolerance_option
from mklviz.inner.svm import violation_unit
from mklviz.numbers import counted, share_text
from mklviz.problem import Problem
from mklviz.solvers._newton_model import (
    MOST_FREE,
    MOST_NUMBERS,
    NewtonPoint,
    minimise_model,
    plain_target,
    working_kernels,
)
from mklviz.solvers._newton_program import BankMetric, DualBox, MatrixMetric, Metric
from mklviz.solvers._spectral import Search, Units, Valued, interpolate, search_segment
from mklviz.solvers._words import objective_change, start_sentence

SPACER = 25  # every so many steps the safeguard acts
DAMPING = 1e-3  # share of the equally weighted kernel in the metric: it keeps z small where K_d is singular
LEAST_SHARE = 1e-2  # of a Newton step; below it another step does better
LEAST_GRADIENT_SHARE = 1e-10  # of a projected gradient move; below it nothing can be gained
DUAL_SHARES = (*2.0 ** -np.arange(11.0), 0.0)  # of z, tried for the best lower bound
WORTHWHILE = 0.9  # a dual step must shrink the gap to this share
NOISE = 1e-13  # relative rounding error of W
PATIENCE = 8  # steps without visible gain before rounding is taken for the limit


@dataclass(frozen=True, kw_only=True)
class NewtonFacts(Facts):
    """What is known of a step."""

    # "start", "Newton", "dual" (better dual variables at the same weights), "gradient", or "none" where none is left
    move: str = ""
    promised_decrease: float = math.nan  # -grad W'(x - d)
    line_search_trials: float = math.nan  # SVMs that the line search took
    # kernels and points that the model's program moved, and rounds it took
    working_kernels: float = math.nan
    working_points: float = math.nan
    program_rounds: float = math.nan
    free_points: float = math.nan  # dual variables between their bounds


class Newton(Solver):
    """Newton steps on the kernel weights, safeguarded by projected gradient steps.

    The step of an iterate is the share of the move taken: 1 for a full Newton step.
    """

    name_ = "newton"
    label = "Newton"
    colour = "#000000"
    colour_dark = "#FFFFFF"
    dash = "dotdash"
    marker = "star"
    paper = "Chapelle, Rakotomamonjy, Second order optimization of kernel parameters, NIPS workshop 2008"

    svm_tolerance = tolerance_option("; the model needs accurate dual variables.", 1e-9, 1e-3)

    safeguard = param.Boolean(
        default=True,
        label="Safeguard",
        doc="Without it this is HessianMKL as its authors describe it: a quadratic program over all kernels with the"
        " Hessian at the free points, and a line search; no bounds of points, no dual or gradient steps.",
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for the hinge and one-class losses on the simplex or with a price per unit of weight."""
        if not (problem.regularizer.on_simplex or problem.regularizer.linear):
            return (
                f"Newton's model knows the simplex and prices per unit of weight, not the {problem.regularizer.label}."
            )
        if not self.safeguard and problem.m * problem.n > MOST_NUMBERS:
            return (
                f"HessianMKL keeps a number for each of {problem.m:,} kernels and {problem.n:,} samples, which takes"
                f" more than {8 * MOST_NUMBERS / 2**30:g} GB: leave its safeguard on, or choose SPG or Level."
            )
        needs = needs_known_loss if problem.loss.one_class else needs_hinge
        return needs(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate per step."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, rounding=True)
        descent = (_NewtonDescent if self.safeguard else _HessianDescent)(problem, oracle, start)
        yield descent.iterate(_Move("start"))
        for count in itertools.count(1):
            first, second = descent.newton_step, descent.gradient_step
            if count % SPACER == 0:
                first, second = second, first
            move = first() or second() or _Move("none")
            end = descent.end(move)
            yield descent.iterate(move, end)
            if end is not None:
                return

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell which step was taken, how far, and over how many kernels and free points."""
        if before is None:
            return start_sentence(after)
        facts = NewtonFacts.of(after)
        if facts.move == "Newton":
            taken = f"A Newton step over {counted(facts.working_kernels, 'kernel')}"
            taken += " was taken in full." if after.step == 1.0 else f" was shortened to {share_text(after.step)}."
        elif facts.move == "gradient":
            taken = f"Newton's model led nowhere, so {share_text(after.step)} of a projected gradient step was taken."
        elif facts.move == "dual":
            taken = "The weights stayed; this step looked for dual variables that prove a higher lower bound."
        else:
            taken = "No step lowers the objective any more."
        free = counted(facts.free_points, "free support vector")
        return f"{taken} {objective_change(before, after)} The SVM has {free}."


@dataclass(frozen=True)
class _Move:
    """One step: its kind ("start", "Newton", "dual", "gradient", "none"), line search, and size of the model."""

    kind: str
    search: Search | None = None
    promised: float = 0.0  # -grad W'(x - d)
    kernels: int = 0
    points: int = 0
    rounds: int = 0


class _NewtonDescent:
    """The present point and the ways to leave it.

    `solved` has the SVM's own dual variables; `centre`, at the same weights, those that certify most; `proved` those of
    the best bound that the last model led to, whatever their primal value.
    """

    def __init__(self, problem: Problem, oracle: SvmOracle, start: Iterate | None) -> None:
        self.problem, self.oracle = problem, oracle
        self.solved = self.centre = Valued(problem, oracle.begin(start))
        self.kernel, self.rounded = oracle.kernel.copy(), oracle.rounded
        here, first = self.solved.weights, problem.regularizer.start(problem.m)
        self.usual = (float(here.sum()) or float(first.sum())) / float(first.sum()) * first
        self.formed = problem.bank.access == "matrix"
        self.spread = DAMPING * self._mean_kernel() if self.formed else None  # every kernel bends it
        self.units = Units.of(problem, self.solved.point)
        self.best_gap = np.inf
        self.idle = 0
        self.proved = self.solved.point
        oracle.recent.add(self.proved)
        oracle.proof = self._proof

    def _mean_kernel(self) -> Array:
        """Return the kernel that has the weight at hand in the regularizer's first shares, as it may have already."""
        same = np.allclose(self.solved.weights, self.usual, rtol=1e-12, atol=0.0)
        return self.kernel if same else self.problem.bank.combine(self.usual)

    def _metric(self, damping: float) -> Metric:
        """Return K_d, with the equally weighted kernel added where there is `damping`."""
        if self.formed:
            return MatrixMetric(self.kernel if self.spread is None or not damping else self.kernel + self.spread)
        return BankMetric(self.problem.bank, self.solved.weights + damping * self.usual)

    def newton_step(self) -> _Move | None:
        """Move towards the minimiser of the model; None where that leads nowhere."""
        move = self._newton_step_from(self.centre)
        if move is None and self.centre is not self.solved:
            self.centre = self.solved
            move = self._newton_step_from(self.solved)
        return move

    def _newton_step_from(self, here: Valued) -> _Move | None:
        loss, y, signed = self.problem.loss, self.problem.y, here.point.signed
        box = DualBox.of(loss, y, violation_unit(loss, y, signed, lambda: here.point.scores))
        if not self.formed and box.free(signed) > MOST_FREE:  # neither a program nor the Hessian is formed
            return None
        which = working_kernels(here.weights, here.gradient, self.problem.n)
        model = minimise_model(
            self._metric(DAMPING),
            self.problem.bank.products(signed, which),
            here.gradient[which],
            signed,
            box,
            here.weights[which],
            self.problem.regularizer.on_simplex,
            max(here.point.primal - here.point.lower_bound, 0.0),
        )
        if model is None:
            return None
        target = np.zeros(self.problem.m)
        target[which] = model.weights
        promised = -float(here.gradient @ (target - here.weights))
        if promised <= 0.0:
            return None
        search = self._search(here, target, LEAST_SHARE, model.signed)
        kind = self._follow(here, model, search)
        return _Move(kind, search, promised, len(which), model.points, model.rounds) if kind else None

    def _follow(self, here: Valued, model: NewtonPoint, search: Search) -> str:
        """Go where the search led, or else improve the dual variables alone; return the kind of step, "" for none."""
        if search.accepted is not None:
            self._go_to(search.accepted)
            best = self._best_dual(here.point, model.signed)
            if best.gap < self.solved.point.gap:
                self.centre = Valued(self.problem, best)
            return "Newton"
        best = self._best_dual(here.point, model.signed)
        if best.gap >= WORTHWHILE * min(here.point.gap, self.solved.point.gap):
            return ""
        self.centre = Valued(self.problem, best)
        return "dual"

    def _best_dual(self, before: SvmPoint, expected: Array) -> SvmPoint:
        """Return the point between the dual variables `before` and `expected` of best bound, at the present weights."""
        problem, here = self.problem, self.solved.point
        moved = expected - before.signed
        ends = before.s, problem.bank.quad(expected)
        bend = problem.bank.quad(moved)

        def along(share: float) -> Array:  # the quadratic forms at that share, for which three gradients suffice
            return np.maximum((1.0 - share) * ends[0] + share * ends[1] - share * (1.0 - share) * bend, 0.0)

        def bound(share: float) -> float:
            signed = before.signed + share * moved
            return problem.lower_bound(problem.loss.dual_from_signed(signed, problem.y), along(share))

        share, highest = DUAL_SHARES[0], bound(DUAL_SHARES[0])
        for shorter in DUAL_SHARES[1:]:
            if (lower := bound(shorter)) < highest:  # along a segment the bound has one peak
                break
            share, highest = shorter, lower
        signed = before.signed + share * moved
        stated = self.rounded or not self.formed
        scores = problem.bank.apply(here.weights, signed) if stated else self.kernel @ signed
        self.proved = SvmPoint(problem, here.weights, signed, scores, here.value, here.tol, along(share))
        self.oracle.recent.add(self.proved)
        return self.proved

    def gradient_step(self) -> _Move | None:
        """Move along the projected gradient, on the scale of the weights; None where that lowers nothing."""
        here = self.solved
        target = here.toward(here.natural_step(self.units))
        promised = -float(here.gradient @ (target - here.weights))
        search = self._search(here, target, LEAST_GRADIENT_SHARE, None)
        if search.accepted is None:
            return None
        self._go_to(search.accepted)
        return _Move("gradient", search, promised)

    def _search(self, here: Valued, target: Array, least: float, start: Array | None) -> Search:
        def evaluate(weights: Array) -> Valued:
            return Valued(self.problem, self.oracle.solve(weights, start=start))

        reference = here.value + NOISE * abs(here.value)
        return search_segment(evaluate, here, target, reference, interpolate, least)

    def _go_to(self, valued: Valued) -> None:
        self.solved = self.centre = valued
        self.oracle.recent.add(valued.point)
        self.kernel[:] = self.oracle.kernel
        self.rounded = self.oracle.rounded

    def end(self, move: _Move) -> End | None:
        """Say why to end, where no step is left or rounding hides any gain."""
        if move.kind == "none":
            return End("No step lowers the objective any more: rounding, or a kink, hides the way down.")
        gap = min(self.centre.point.gap, self.solved.point.gap)
        gained = move.promised > NOISE * abs(self.solved.value) or gap < WORTHWHILE * self.best_gap
        self.idle = 0 if gained else self.idle + 1
        self.best_gap = min(gap, self.best_gap)
        idle = self.idle >= PATIENCE
        return End(f"The last {PATIENCE} steps gained nothing that rounding lets us see.") if idle else None

    def _proof(self, _: SvmPoint) -> Proof:
        """Return the best lower bound that the model's last dual variables prove, or an average with those before."""
        proved, average = self.proved, self.oracle.recent.best()
        alone = Proof(proved.lower_bound, proved.signed, proved.weights)
        return average if average is not None and average.bound > alone.bound else alone

    def iterate(self, move: _Move, end: End | None = None) -> Iterate:
        """Return the certified iterate at the present point."""
        point, search = self.solved.point, move.search
        facts = NewtonFacts(
            move=move.kind,
            promised_decrease=move.promised,
            line_search_trials=float(len(search.tried) if search is not None else 0),
            working_kernels=float(move.kernels),
            working_points=float(move.points),
            program_rounds=float(move.rounds),
            free_points=float(((point.dual > 0.0) & (point.dual < self.problem.loss.cost)).sum()),
        )
        share = search.share if search is not None and search.accepted is not None else 0.0
        return self.oracle.iterate(point, share, facts, end)


class _HessianDescent(_NewtonDescent):
    """HessianMKL: Newton steps alone, each the least point of a quadratic over all kernels."""

    def newton_step(self) -> _Move | None:
        """Move towards the least point of the quadratic; None where that leads nowhere."""
        here, problem = self.solved, self.problem
        free = np.flatnonzero((here.point.dual > 0.0) & (here.point.dual < problem.loss.cost))
        products = problem.bank.products(here.point.signed, np.arange(problem.m))
        simplex = problem.regularizer.on_simplex
        target = plain_target(self._metric(0.0), products, here.gradient, free, here.weights, simplex)
        promised = 0.0 if target is None else -float(here.gradient @ (target - here.weights))
        if target is None or promised <= 0.0:
            return None
        search = self._search(here, target, LEAST_GRADIENT_SHARE, None)
        if search.accepted is None:
            return None
        self._go_to(search.accepted)
        self.proved = search.accepted.point
        return _Move("Newton", search, promised, problem.m, len(free))

    def gradient_step(self) -> _Move | None:
        """Take none: nothing safeguards these steps."""
        return None
