"""Parts of projected gradient methods on W(d) = J(d) + r(d): steps, reference values, line searches.

    lambda = <s, s> / <s, z>,     s = d+ - d,   z = grad W(d+) - grad W(d)          (Barzilai and Borwein)
    Q+ = eta Q + 1,   C+ = (eta Q C + W(d+)) / Q+                                   (Zhang and Hager)
    accept the share t of a move p when  W(d + t p) <= C + 1e-4 t grad W(d)'p      (Armijo, with C in place of W(d))

eta = 0 makes C the last value, the ordinary Armijo rule; eta = 1 averages all values so far.

A price whose curvature has no bound, such as a power p < 2 or the entropy of tiny weights, leaves such a step no
length at which its slope says anything. So r may be followed exactly, and J alone by its gradient:

    P(d - lambda grad W)     becomes  argmin over x of  1/2 ||x - d + lambda grad J(d)||^2 + lambda r(x)
    grad W(d)'p  and  z      become   grad J(d)'p + r(d + p) - r(d)  and  grad J(d+) - grad J(d)

Where r is a constraint or linear both are the same.

Steps have a unit, u = 50 (sum d_0)^2 / P(d_0) for the weights d_0 and the objective of the start: with K, C or the
targets in other units all of a path is the same in theirs. The papers' constants are multiples of it, as they are meant
for weights that sum to 1 and objectives about 50, where u is 1.

References: Birgin, Martinez, Raydan, Nonmonotone spectral projected gradient methods, SIAM J. Optim. 10 (2000);
Zhang and Hager, A nonmonotone line search technique, SIAM J. Optim. 14 (2004); SPG-GMKL, equations 6 to 12;
Wright, Nowak, Figueiredo, Sparse reconstruction by separable approximation, IEEE Trans. Signal Process. 57 (2009),
for r followed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import param

from mklviz.context import checkpoint, spending
from mklviz.contract import Solver
from mklviz.errors import SolverError
from mklviz.inner.averaging import Kink, SvmPoint
from mklviz.inner.oracle import needs_gradient
from mklviz.inner.warm import usual_weights
from mklviz.lazy import cached_property
from mklviz.problem import Problem, Regularizer
from mklviz.solvers._words import Trial
from mklviz.typing import Array

SUFFICIENT = 1e-4  # the papers' gamma, share of the linear decrease that a step must reach
LEAST_PROMISE = 1e-3  # share of the way to a promise; closer trials tell little more of the kink
SHORTEST = 1e-14  # a move whose largest entry is below this share of the largest weight is lost in rounding
TYPICAL = 50.0  # the objective that the papers' constants are for
SMALL, SHARP = 1e-3, 20.0  # a weight, as a share of the largest, and how much faster the slope of r changes there
REACH = 10.0  # no step moves a weight by more than this times all weights together
LEAST_SIZE = 1e-6  # of the start's weights: what weights that have all become zero count as


@dataclass(frozen=True)
class Units:
    """What steps and slopes are measured in."""

    step: float
    size: float  # sum of the weights at the start

    @classmethod
    def of(cls, problem: Problem, start: SvmPoint) -> Units:
        """Return the units of a run that begins at `start`."""
        size = float(start.weights.sum())
        # a price below zero, as the entropy's, must not cancel what the loss costs
        value = start.primal - min(problem.regularizer.value(start.weights), 0.0)
        return cls(TYPICAL * size**2 / value if value > 0.0 else 1.0, size)


class Valued:
    """A solved point with its value W = J + r, and where its slope leads.

    `weights` (m,); `value`: W(d); `exact`: whether r is followed exactly; `gradient` (m,): gradient of W, or of J where
    r is followed exactly; computed when first asked for.
    """

    def __init__(self, problem: Problem, point: SvmPoint, exact: bool = False) -> None:
        self._problem = problem
        self.exact = exact
        self.point = point
        self.weights = point.weights
        self._price = problem.regularizer.value(point.weights)
        self.value = point.value + self._price
        self._led: tuple[float, Array] | None = None  # the last step asked for, and where it leads

    @cached_property
    def gradient(self) -> Array:
        return self.point.gradient if self.exact else self._slopes

    @property
    def _slopes(self) -> Array:
        return self.point.gradient + self._regularizer.gradient(self.weights)

    @property
    def _regularizer(self) -> Regularizer:
        return self._problem.regularizer

    @property
    def excess(self) -> float:
        """How far the primal value is from W at these weights, as the SVM is not exact."""
        return self.point.primal - self.value

    def natural_step(self, units: Units) -> float:
        """Return the step that moves no weight by more than the largest one, max d / max |grad W|."""
        return max(float(self.weights.max()), LEAST_SIZE * units.size) / self.steepest

    @property
    def steepest(self) -> float:
        """Largest entry of grad W among the weights that can move, above zero."""
        slopes = self._slopes
        movable = np.where((self.weights > 0.0) | (slopes < 0.0), np.abs(slopes), 0.0)
        return max(float(movable.max()), 1e-300)

    def reachable(self, step: float, units: Units) -> float:
        """Return the step, shortened until it moves no weight out of all proportion: prices may have no bottom."""
        self._refuse_no_numbers()
        reach = REACH * max(float(self.weights.sum()), LEAST_SIZE * units.size)
        while step > 0.0:
            checkpoint()
            length = float(np.abs(self.toward(step) - self.weights).max())
            if length <= reach:
                break
            step *= min(0.5, reach / length) if math.isfinite(length) else 0.5
        return step

    def _refuse_no_numbers(self) -> None:
        """Raise `SolverError` where the gradient leads nowhere, as that of a kernel or a price of one's own may."""
        if not np.isfinite(self.gradient).all():
            k = int(np.argmin(np.isfinite(self.gradient)))
            raise SolverError(
                f"The gradient of the objective is {self.gradient[k]} for “{self._problem.bank.names[k]}” at the weight"
                f" {self.weights[k]:.4g}: no step can follow it. Look at the derivatives of the kernel and of the"
                " regularizer."
            )

    @spending("subproblem")
    def toward(self, step: float) -> Array:
        """Return where a step against the gradient leads, (m,)."""
        if self._led is None or self._led[0] != step:
            ahead = self.weights - step * self.gradient
            led = self._regularizer.prox(ahead, step) if self.exact else self._regularizer.project(ahead)
            self._led = step, led
        return self._led[1]

    def slope(self, target: Array) -> float:
        """Return the change of W that the gradient foretells for the move to `target`."""
        change = float(self.gradient @ (target - self.weights))
        return change + self._regularizer.value(target) - self._price if self.exact else change

    def stationarity(self, units: Units) -> float:
        """Return the projected gradient ``||P(d - u grad W) - d|| / u``, times the sum of the weights at the start.

        It has the unit of the objective and is zero only at the optimum.
        """
        return float(np.linalg.norm(self.toward(units.step) - self.weights)) / units.step * units.size


def steep_near_zero(regularizer: Regularizer, weights: Array) -> bool:
    """Return whether the slope of r changes so fast where a weight is small that steps that follow it crawl."""
    largest = float(weights.max())
    if not (regularizer.proximal and largest > 0.0):
        return False
    bends = []
    for size in (SMALL * largest, largest):
        around = np.full(len(weights), largest)
        around[0] = size
        slope = regularizer.gradient(around)[0]
        around[0] = 0.5 * size
        bends.append(float(slope - regularizer.gradient(around)[0]) / size)
    return bends[0] > SHARP * bends[1]


@dataclass
class ReferenceValue:
    """The value C that a new point is compared with, an average of the values so far."""

    value: float
    memory: float  # eta, from 0 (only the last value counts) to 1 (all count alike)
    mass: float = 1.0  # Q, the effective number of values averaged

    def add(self, value: float) -> None:
        """Take a new value into the average."""
        mass = self.memory * self.mass + 1.0
        self.value = (self.memory * self.mass * self.value + value) / mass
        self.mass = mass

    def adapt(self, agreement: float) -> None:
        """Lengthen the memory by 0.025 where the quadratic model was good (> 0.9), shorten it where bad (< 0.1)."""
        if agreement > 0.9:
            self.memory = min(self.memory + 0.025, 1.0)
        elif agreement < 0.1:
            self.memory = max(self.memory - 0.025, 0.1)

    def judge_model(self, here: Valued, target: Array, step: float, search: Search) -> None:
        """Let the memory follow how well ``g'p + p'p / (2 step)`` foretold the first trial."""
        move = target - here.weights
        predicted = -here.slope(target) - float(move @ move) / (2.0 * step)
        if predicted > 0.0 and search.tried:
            self.adapt((here.value - search.tried[0][1]) / predicted)


@dataclass(frozen=True)
class Search:
    """Outcome of a line search."""

    accepted: Valued | None  # the point that was taken; None if no share was
    share: float  # share of the full move taken, or the last one tried
    last: Valued | None  # the last trial, the closest to where the search began; None if there was none
    tried: tuple[Trial, ...] = ()  # all trials, in their order, that of the full move first


def spectral_step(before: Valued, after: Valued) -> float:
    """Return <s, s> / <s, z>, or nan where <s, z> is not positive (no curvature seen along the move)."""
    moved = after.weights - before.weights
    curvature = float(moved @ (after.gradient - before.gradient))
    return float(moved @ moved) / curvature if curvature > 0.0 else float("nan")


def halve(share: float, _slope: float, _rise: float) -> float:
    """Return half the share."""
    return 0.5 * share


def interpolate(share: float, slope: float, rise: float) -> float:
    """Return the minimiser of the parabola through the trial, or half the share where that is no good.

    `slope` is the derivative along the full move, `rise` the change of W at the share tried.
    """
    bend = rise - share * slope
    best = -0.5 * slope * share**2 / bend if bend > 0.0 else 0.0
    return best if share > 0.1 and 0.1 <= best <= 0.9 * share else 0.5 * share


def search_segment(
    evaluate: Callable[[Array], Valued],
    here: Valued,
    target: Array,
    reference: float,
    shorten: Callable[[float, float, float], float] = halve,
    least: float = 0.0,
    slope: float | None = None,
) -> Search:
    """Try shares 1, then shorter ones, of the way from `here` to `target` until one is low enough.

    `target` (m,): where the full move leads; feasible; `slope`: change of W that is expected of the full move, by
    default what the gradient foretells; else as for `search_along`.
    """
    move = target - here.weights
    slope = here.slope(target) if slope is None else slope

    def place(share: float) -> Array:
        return target if share == 1.0 else np.maximum(here.weights + share * move, 0.0)

    return search_along(evaluate, here, place, slope, reference, shorten, least)


def search_along(
    evaluate: Callable[[Array], Valued],
    here: Valued,
    place: Callable[[float], Array],
    slope: float,
    reference: float,
    shorten: Callable[[float, float, float], float],
    least: float,
) -> Search:
    """Try shares 1, then shorter ones, of a move from `here` until one is low enough.

    `evaluate`: solves the SVM at given weights; `place`: returns the weights (m,) at a share; `slope`: change of W that
    is expected of the full move; `reference`: the value C to compare with; `shorten`: next share from (share, slope,
    rise): `halve` or `interpolate`; `least`: give up below this share.
    """
    full, share = place(1.0), 1.0
    shortest = SHORTEST * max(float(here.weights.max()), float(full.max()))
    trial: Valued | None = None
    tried: list[Trial] = []
    while share >= least:
        weights = place(share)
        if float(np.abs(weights - here.weights).max()) <= shortest:
            break
        trial = evaluate(weights)
        tried.append((trial.weights, trial.value))
        if trial.value <= reference + SUFFICIENT * share * slope:
            return Search(trial, share, trial, tuple(tried))
        share = shorten(share, slope, trial.value - here.value)
    return Search(None, share, trial, tuple(tried))


def promises(evaluate: Callable[[Array], Valued], here: Valued, failed: Search, kink: Kink) -> Iterator[Search]:
    """Yield searches where the last solutions together promise least, until one succeeds or they promise nothing.

    `evaluate`, `here`: as for `search_segment`; `failed`: from the same point.
    """
    search = failed
    while search.accepted is None and search.last is not None:
        promise = kink.promise(here.value, search.last.point)
        if promise is None:
            return
        promised = promise.bound - here.value
        search = search_segment(evaluate, here, promise.weights, here.value, least=LEAST_PROMISE, slope=promised)
        yield search


# Where a descent on W(d) begins: at equal weights, or at random ones.
#
# A problem that is convex has one minimum, so the start only costs time; with a product of kernels another start may
# end in another minimum.


class RandomStart(Solver):
    """A solver that follows the gradient, wherever it starts, at random weights if asked."""

    convex_only = False

    random_start = param.Integer(
        default=0,
        bounds=(0, None),
        label="Random start",
        doc=(
            "0: all weights equal. 1, 2, …: random weights of the same sum, others for each number; with a product of"
            " kernels another start may lead to another minimum."
        ),
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for every loss and every regularizer with a gradient."""
        return needs_gradient(problem, self.label)

    @property
    def setting(self) -> str:
        """The solver's name as its options other than the start would have it."""
        return self.label

    @param.depends("random_start", watch=True, on_init=True)
    def _rename(self) -> None:
        """Carry the start in the name, so that several can race each other."""
        self._call(self.setting + (f", start {self.random_start}" if self.random_start else ""))

    def first_weights(self, problem: Problem) -> Array:
        """Return the weights to begin with, (m,), in the domain of the regularizer."""
        equal = usual_weights(problem)
        if not self.random_start:
            return equal
        # exponential draws over their sum are uniform on the simplex
        drawn = np.random.default_rng([self.seed, self.random_start]).exponential(size=problem.m)
        return problem.regularizer.project(drawn * float(equal.sum() / drawn.sum()))
