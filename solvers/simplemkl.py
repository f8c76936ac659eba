"""SimpleMKL: follow the reduced gradient on the simplex, from face to face while it pays, then search the last segment.

    r_k = g_k - g_mu,  g = grad J(d) / ||grad J(d)||,  mu = argmax d
    D_k = -r_k  where d_k > 0 or r_k < 0, else 0;      D_mu = -sum_k D_k

mu gives what the others take, so that d + t D keeps its sum. As long as the longest step inside the simplex lowers J,
d goes there and the directions that left the simplex are dropped; SVMs are solved, the gradient is not. Golden section
then searches between d and the longest step. The precision of that search, 0.1 of the longest step, is divided by ten
when no weight moved, restored when one did, and the method ends when 1e-8 does not help.

At a kink, where the SVM has several solutions, the next direction leads where the last ones together promise least.

The Armijo variant takes the same direction, halves the longest step until J falls enough, and sets weights below 0.001
to zero, as its paper does; it ends early for that reason.

References: Rakotomamonjy, Bach, Canu, Grandvalet, SimpleMKL, JMLR 9 (2008), algorithm 1, and its toolbox;
the same, More efficiency in multiple kernel learning, ICML 2007, sections 2.2 and 4 (Armijo variant).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import param

from mklviz.context import spending
from mklviz.contract import Array, End, Facts, Iterate, Solver
from mklviz.inner.averaging import Kink, SvmPoint
from mklviz.inner.oracle import SvmOracle, needs_known_loss, refuse, tolerance_option
from mklviz.numbers import counted
from mklviz.problem import Problem
from mklviz.solvers._words import FROM_KINK, Trial, needs_simplex, objective_change, start_sentence, trials_text

FIRST_STEP = 0.1  # cap of the very first trial of a step
ROUGHEST, FINEST = 0.1, 1e-8  # precision of golden section, relative to the longest step
STILL = 1e-8  # a move of the weights below this counts as none
SMALLEST_WEIGHT = 1e-8  # smaller weights are set to zero
ARMIJO_WEIGHT = 1e-3  # the same in the Armijo variant
SUFFICIENT = 1e-4  # Armijo: share of the linear decrease that must be reached
GOLDEN = (5.0**0.5 - 1.0) / 2.0


@dataclass(frozen=True, kw_only=True)
class SimpleMklFacts(Facts):
    """What is known of a step."""

    boundary_moves: float = math.nan  # faces of the simplex passed
    line_search_trials: float = math.nan  # SVMs that the line search took
    search_precision: float = math.nan  # precision of golden section, relative to the longest step
    reference_kernel: str = ""  # the kernel mu, which gives what the others take
    direction: str = ""  # "reduced gradient", or "averaged" from a kink
    trials: str = ""  # what the line search tried, as `mklviz.solvers._words` tells it; "" where no weight moved


class SimpleMkl(Solver):
    """Reduced gradient descent with an exact (golden section) or an Armijo line search.

    The step of an iterate is the largest change of a weight, which the paper's own stopping rule watches.
    """

    name_ = "simplemkl"
    label = "SimpleMKL"
    colour = "#B87700"
    colour_dark = "#E69F00"
    dash = "dotted"
    marker = "inverted_triangle"
    paper = "Rakotomamonjy, Bach, Canu, Grandvalet, SimpleMKL, JMLR 9, 2008"

    variant = param.Selector(
        default="toolbox",
        objects=["toolbox", "armijo"],
        label="Line search",
        doc="toolbox: golden section, as in the authors' program. armijo: halving, as in the ICML 2007 paper.",
    )
    reuse = param.Boolean(
        default=True,
        label="Reuse golden section points",
        doc="One SVM per round of golden section, as textbooks do; off: two, as the authors' program does.",
    )
    svm_tolerance = tolerance_option("; lowered only where nothing else helps any more.", 1e-6)

    def supports(self, problem: Problem) -> str:
        """Return "" for kernel weights on the simplex, whatever the loss."""
        return needs_simplex(problem, self.label) or needs_known_loss(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate per direction of descent."""
        refuse(self.refusal(problem))
        descent = _ReducedDescent(problem, SvmOracle(problem, self.svm_tolerance, rounding=True), self.reuse, start)
        yield descent.iterate(0, 0)
        while True:
            before = descent.point
            if self.variant == "toolbox":
                moves, trials = descent.exact_step()
            else:
                moves, trials = descent.armijo_step()
            change = float(np.abs(descent.point.weights - before.weights).max())
            hopeful = descent.follows_promise(change) or descent.tightens(change)
            end = None if hopeful else self._end(descent, change)
            yield descent.iterate(moves, trials, change, end)
            if end is not None:
                return

    def _end(self, descent: _ReducedDescent, change: float) -> End | None:
        """Tighten the search where nothing moved; say why to end where that is used up."""
        if change > STILL:
            descent.precision = ROUGHEST
            return None
        if self.variant == "armijo":
            return End("No step along the reduced gradient lowers the objective: small weights were set to zero.")
        if descent.precision <= FINEST:
            still = f"No weight moves any more, even with line searches to {FINEST:g} of the longest step"
            return End(f"{still}: rounding, or a kink where the SVM has several solutions, stops the method here.")
        descent.precision = max(descent.precision / 10.0, FINEST)
        return None

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell the faces passed, the SVMs the line search took, and who gave weight."""
        if before is None:
            return start_sentence(after)
        facts = SimpleMklFacts.of(after)
        text = f"Weight was traded between {facts.reference_kernel} and the other kernels"
        if facts.direction == "averaged":
            text = FROM_KINK
        if facts.boundary_moves:
            times = "once" if facts.boundary_moves == 1.0 else counted(facts.boundary_moves, "time")
            text += f", and on the way a weight reached zero {times}"
        text += f"; the line search took {counted(facts.line_search_trials, 'SVM solve')}."
        if after.step <= STILL:
            text += " The weights hardly moved, so the next line search is more precise."
        return f"{text} {objective_change(before, after)}"


class _ReducedDescent:
    """The present point, and one step from it by either line search."""

    def __init__(self, problem: Problem, oracle: SvmOracle, reuse: bool, start: Iterate | None) -> None:
        self.problem, self.oracle, self.reuse = problem, oracle, reuse
        self.point = oracle.begin(start)
        self.precision = ROUGHEST
        self.reference_kernel = ""
        self.promise: Array | None = None  # weights to go to from a kink
        self.averaged = False
        self.kink = Kink(oracle.recent)
        self._last_trial = self.point
        self._left = self.point.weights  # by the last step
        self._tried: list[Trial] = []

    def exact_step(self) -> tuple[int, int]:
        """Go from face to face, then search the last segment; returns the faces passed and the SVMs solved."""
        solved = self.oracle.solves
        self._left, self._tried = self.point.weights, []
        best, direction = self.point, self._direction()
        longest = _longest_step(best.weights, direction)
        moves, step = 0, min(longest, FIRST_STEP)
        while step > 0.0:
            far = self._solve(best.weights, direction, step)
            if far.value >= best.value:
                best = golden_section(
                    partial(self._solve, best.weights, direction), best, far, step, self.precision * longest, self.reuse
                )
                break
            best, moves = far, moves + 1
            direction = _stay_inside(direction, best.weights)
            step = longest = _longest_step(best.weights, direction)
        self._settle(best)
        return moves, self.oracle.solves - solved

    def follows_promise(self, change: float) -> bool:
        """Return whether the next direction leads where averaged solutions promise least, as no weight moved."""
        self.promise = None
        if change > STILL:
            self.kink.left()
            return False
        promise = self.kink.promise(self.point.value, self._last_trial)
        if promise is None:
            return False
        self.precision = max(self.precision / 3.0, FINEST)
        self.promise = promise.weights
        return True

    def tightens(self, change: float) -> bool:
        """Return whether SVMs are solved more exactly from here on, as no weight moved and their error is to blame."""
        finer = self.oracle.tightened(self.point) if change <= STILL else None
        self.point = self.point if finer is None else finer
        return finer is not None

    def armijo_step(self) -> tuple[int, int]:
        """Halve the longest step until J falls enough; returns 0 and the SVMs solved."""
        solved = self.oracle.solves
        self._left, self._tried = self.point.weights, []
        here, direction = self.point, self._direction()
        threshold = min(ARMIJO_WEIGHT, 0.5 / self.problem.m)  # or equal weights would vanish at the start
        slope = float(here.gradient @ direction)
        step = _longest_step(here.weights, direction)
        while step * float(np.abs(direction).max()) > STILL:
            weights = _drop(_along(here.weights, direction, step), threshold)
            trial = self._try(weights)
            if trial.value <= here.value + SUFFICIENT * step * slope:
                self.point = trial
                break
            step *= 0.5
        return 0, self.oracle.solves - solved

    @spending("subproblem")
    def _direction(self) -> Array:
        """Return the reduced gradient direction at the present point, noting the reference kernel, or the promised."""
        d, gradient = self.point.weights, self.point.gradient
        self.averaged = self.promise is not None
        if self.promise is not None:
            return self.promise - d
        size = float(np.linalg.norm(gradient))
        mu = int(d.argmax())
        self.reference_kernel = self.problem.bank.names[mu]
        if size == 0.0:
            return np.zeros_like(d)
        reduced = (gradient - gradient[mu]) / size
        direction = np.where((d > 0.0) | (reduced < 0.0), -reduced, 0.0)
        direction[mu] = 0.0
        direction[mu] = -direction.sum()
        return direction

    def _solve(self, weights: Array, direction: Array, step: float) -> SvmPoint:
        return self._try(_along(weights, direction, step))

    def _try(self, weights: Array) -> SvmPoint:
        trial = self._last_trial = self.oracle.solve(weights)
        self._tried.append((weights, trial.value))
        return trial

    def _settle(self, best: SvmPoint) -> None:
        """Make `best` the present point, without its negligible weights, unless it is no better."""
        if best is self.point:
            return
        cleaned = _drop(best.weights, SMALLEST_WEIGHT)
        if not np.array_equal(cleaned > 0.0, best.weights > 0.0):
            best = self.oracle.solve(cleaned)
        if best.value < self.point.value:
            self.point = best

    def iterate(self, moves: int, trials: int, change: float = 0.0, end: End | None = None) -> Iterate:
        """Return the certified iterate at the present point."""
        facts = SimpleMklFacts(
            boundary_moves=float(moves),
            line_search_trials=float(trials),
            search_precision=self.precision,
            reference_kernel=self.reference_kernel,
            direction="averaged" if self.averaged else "reduced gradient",
            trials=trials_text(self._left, self.point.weights, self._tried),
        )
        return self.oracle.iterate(self.point, change, facts, end)


def _longest_step(weights: Array, direction: Array) -> float:
    """Return the largest t with ``weights + t direction >= 0``; 0 where no weight falls."""
    falling = direction < 0.0
    return float((-weights[falling] / direction[falling]).min()) if falling.any() else 0.0


def _along(weights: Array, direction: Array, step: float) -> Array:
    """Return the point of the simplex at this step."""
    moved = np.maximum(weights + step * direction, 0.0)
    return np.asarray(moved / math.fsum(moved))


def _stay_inside(direction: Array, weights: Array) -> Array:
    """Drop the directions that leave the simplex at `weights`; the heaviest kernel makes up for the rest."""
    kept = np.where((weights <= SMALLEST_WEIGHT) & (direction <= 0.0), 0.0, direction)
    mu = int(weights.argmax())
    kept[mu] = 0.0
    kept[mu] = -kept.sum()
    return kept


def _drop(weights: Array, threshold: float) -> Array:
    """Set weights below the threshold to zero and scale the rest to sum one."""
    kept = np.where(weights < threshold, 0.0, weights)
    return np.asarray(kept / math.fsum(kept))


def golden_section(
    solve: Callable[[float], SvmPoint], near: SvmPoint, far: SvmPoint, length: float, precision: float, reuse: bool
) -> SvmPoint:
    """Return the best point on a segment, where the value is convex, by golden section: 0.618 of the bracket per SVM.

    Each round compares two points, ``lo < left < right < hi`` in golden ratio; one of them serves again in the next.
    `solve`: solves the SVM at a step between 0 and `length`; `near`, `far`: the solved ends, at the steps 0 and
    `length`; `precision`: width of the bracket to stop at; `reuse`: take over the inner point that serves again;
    otherwise solve both anew, as the SimpleMKL toolbox does.
    """
    lo, hi = 0.0, length
    best = near if near.value <= far.value else far
    left: SvmPoint | None = None
    right: SvmPoint | None = None
    while hi - lo > max(precision, 1e-15):
        width = GOLDEN * (hi - lo)
        left = solve(hi - width) if left is None else left
        right = solve(lo + width) if right is None else right
        best = min(best, left, right, key=lambda point: point.value)
        if left.value <= right.value:
            hi, left, right = lo + width, None, left
        else:
            lo, left, right = hi - width, right, None
        if not reuse:
            left = right = None
    return best
