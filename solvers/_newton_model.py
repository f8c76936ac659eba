"""The second-order model of J at a solved SVM, and the kernel weights that minimise it.

With b = y∘a the signed dual variables at d0, v_k = K_k b and s_k = b'v_k, the Lagrangian of the SVM at d0 + p, b + z

    y'(b + z) - 1/2 sum_k d_k (b + z)'K_k (b + z),      third-order terms p_k z'K_k z left out,

is linear in d, so that minimising over d and maximising over z is one quadratic program,

    max over z   y'z - 1/2 z'K_d0 z - t     such that   1/2 s_k + v_k'z <= t,   0 <= (b + z)∘y <= C,   1'z = 0,

whose multipliers are the new d (linear penalty: sigma in place of t). While no point meets or leaves a bound, the
maximum over z is the quadratic with the exact Hessian of J, H_kl = v_k'Q v_l with Q the inverse of K_FF on sum zero
over the free points F = {0 < a < C}, and the step is Newton's (HessianMKL). Where points do, the bounds of the program
see it, which a Hessian at d0 cannot: on real data F changes at every step until the last two or three. The program
does not need b to be the SVM's solution; any feasible b will do.

Most points stay where they are. So the program holds the free points and some near the margin; at its solution every
point left out is checked, those that want to move are added, and it is solved again from the bounds and kernels that
held, until none does: that is the solution over all points. Everything is in units of the largest dual variable, the
mean of K_d's diagonal and the largest s_k, so that multiplying K or C changes no step.

References: Chapelle and Rakotomamonjy, Second order optimization of kernel parameters (2008) for H; Arnstrom,
Bemporad, Axehill, A dual active-set solver for embedded quadratic programming (2022), DAQP, for the program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import daqp
import numpy as np
from numpy.typing import NDArray

from mklviz.context import spending, uninterrupted
from mklviz.typing import Array, Flags, Indices

__all__ = ["Indices", "NewtonPoint", "minimise_model", "working_kernels"]

Senses = NDArray[np.int32]

MOST_KEPT, STEEPEST = 250, 60  # kernels of the working set with weight, and by their slopes
EQUAL = 1e-9  # weights that differ by less, relative to the largest, are told apart by their slopes
SPARE_POINTS = 15  # points at a bound that the program begins with, beyond as many as are free
MOST_ROUNDS = 8  # programs solved before all points are let in
RIDGE = 1e-4  # on the metric, relative to the mean of its diagonal
SLACK_CURVATURE = 1e-2  # of the variable t, which daqp needs; it scales the multipliers, which are scaled back
PRECISION = 1e-9  # daqp's feasibility tolerance
AT_BOUND = 1e-12  # distance to a bound that is rounding, in units of the largest dual variable
WANTING = 1e-7  # slope, beside the labels' 1, with which a point left out wants to move
TRIFLE = 1e-2  # of the gap; what points left out may gain at most where they stay out
INFINITE = 1e30
UPPER, LOWER, EQUALITY = 1, 3, 5  # daqp's marks: held at the upper or lower bound, an equality constraint
LARGE = 300  # points from which daqp may take longer than a tenth of a second


@dataclass(frozen=True)
class NewtonPoint:
    """Minimiser of the model."""

    weights: Array  # (q,): new weights of the working kernels; on the simplex their sum is one
    signed: Array  # (n,): signed dual variables b + z that the model expects there, feasible
    points: int  # points that the program held in the end
    rounds: int  # iterations of the program


def working_kernels(weights: Array, gradient: Array) -> Indices:
    """Return the kernels that the model knows of: the heaviest with weight, and the steepest without.

    Where all weights are equal, as at the start, the steepest.

    `weights`, `gradient` (m,): d and the gradient of J + r.
    """
    used = np.flatnonzero(weights > 0.0)
    idle = _smallest(gradient, np.flatnonzero(weights == 0.0), STEEPEST)
    if len(used) > STEEPEST and np.ptp(weights[used]) <= EQUAL * weights.max():
        used = _smallest(gradient, used, STEEPEST)
    else:
        used = _smallest(-weights, used, MOST_KEPT)
    return np.sort(np.concatenate([used, idle]))


def _smallest(values: Array, among: Indices, most: int) -> Indices:
    """Return the places of the `most` smallest values, the first of equal ones, without sorting a million."""
    if len(among) > most:
        among = among[values[among] <= np.partition(values[among], most - 1)[most - 1]]
    return among[np.argsort(values[among], kind="stable")][:most]


@spending("subproblem")
def minimise_model(
    metric: Array,
    products: Array,
    slopes: Array,
    signed: Array,
    y: Array,
    C: float | Array,
    weights: Array,
    fixed_sum: bool,
    gap: float = 0.0,
) -> NewtonPoint | None:
    """Solve the quadratic program, and return None if that fails.

    `metric` (n, n): K_d0, with what makes z unique where that is singular; `products` (q, n): rows v_k of the working
    kernels; `slopes` (q,): their entries of the gradient of J + r, which is -s_k/2 plus r's; `signed`, `y` (n,): b and
    the labels; `C` float or (n,): upper bound of the dual variables, of each its own where samples have weights;
    `weights` (q,): present weights of the working kernels; `fixed_sum`: whether the weights sum to one (simplex);
    otherwise they are only not negative; `gap`: P - D at d0 and b; where it is zero every point has its say.
    """
    if not np.trace(metric) > 0.0:  # no kernel has weight
        return None
    # prices per unit leave weights of any size, and programs are solved to tolerances that are not relative
    size = 1.0 if fixed_sum else float(weights.max(initial=0.0)) or 1.0
    program = _Program(metric, size * products, size * slopes, signed, y, C, fixed_sum, gap)
    found = _solve_growing(program, weights / size)
    if found is None:
        return None
    multipliers = np.maximum(found.multipliers[-len(slopes) :], 0.0)
    moved = signed.copy()
    moved[found.points] += program.unit * found.z
    sane = np.isfinite(multipliers).all() and np.isfinite(moved).all()
    if not sane or (fixed_sum and multipliers.sum() <= 0.0):
        return None
    multipliers = multipliers / multipliers.sum() if fixed_sum else size * multipliers
    return NewtonPoint(multipliers, _feasible(moved, y, C), len(found.points), found.rounds)


@dataclass(frozen=True)
class _Solution:
    """z and the multipliers (of the box of z and t, of 1'z = 0, of the kernels) of the program on some points."""

    points: Indices
    z: Array
    multipliers: Array
    rounds: int


class _Program:
    """The quadratic program, in its own units; points left out of a solve keep their dual variables.

    `unit`: largest dual variable, the largest C where all are zero: what z is measured in.
    """

    def __init__(
        self,
        metric: Array,
        products: Array,
        slopes: Array,
        signed: Array,
        y: Array,
        C: float | Array,
        fixed_sum: bool,
        gap: float,
    ) -> None:
        self.t = int(fixed_sum)  # one more variable, the largest of the constraints
        self.unit = float(np.abs(signed).max()) or float(np.max(C))
        size = float(np.trace(metric)) / len(y)
        self._metric, self._size = metric, size
        self._linear = y / (self.unit * size)
        self._trifle = TRIFLE * gap / (self.unit**2 * size)
        self._rows = products / (self.unit * size)
        level = float(slopes.min()) if fixed_sum else 0.0  # t counts from the largest s_k / 2, in units of it
        self._ends = (slopes - level) / (self.unit**2 * size)
        self._height = max(float(np.abs(slopes).max()) / (self.unit**2 * size), np.finfo(float).tiny)
        self._upper = (np.maximum(y * C, 0.0) - signed) / self.unit
        self._lower = (np.minimum(y * C, 0.0) - signed) / self.unit
        self._full, self._empty = self._upper <= AT_BOUND, self._lower >= -AT_BOUND

    def first_points(self, weights: Array) -> Indices:
        """Return the free points, and of the others those that want to stay where they are least."""
        slope = self._linear - weights @ self._rows
        free = np.flatnonzero(~self._full & ~self._empty)
        held = np.flatnonzero(self._full | self._empty)
        lean = slope[held] - (float(np.median(slope[free])) if len(free) else 0.0)
        stay = np.where(self._full[held], lean, -lean)
        near = held[np.argsort(stay, kind="stable")[: len(free) + SPARE_POINTS]]
        return np.sort(np.concatenate([free, near]))

    def senses(self, points: Indices, kernels: Flags) -> Senses:
        """Return daqp's marks: points at their bounds are held there, and so are the rows of `kernels`.

        No mark is binding. Of rows that are many beside the points some must give way, so none is marked.
        """
        box = np.where(self._full[points], UPPER, np.where(self._empty[points], LOWER, 0))
        held = kernels if 2 * np.count_nonzero(kernels) < len(points) else np.zeros_like(kernels)
        return np.concatenate([box, np.zeros(self.t), [EQUALITY], UPPER * held]).astype(np.int32)

    def solve(self, points: Indices, senses: Senses) -> _Solution | None:
        """Return the solution on these points, begun from the marks or else from none; None where daqp fails."""
        p, t = len(points), self.t
        H = np.zeros((p + t, p + t))
        H[:p, :p] = self._metric[np.ix_(points, points)] / self._size
        H[np.arange(p), np.arange(p)] += RIDGE
        H[p:, p:] = SLACK_CURVATURE * self._height
        f = np.append(-self._linear[points], np.full(t, self._height))
        rows = np.zeros((1 + len(self._rows), p + t))
        rows[0, :p] = 1.0
        rows[1:, :p] = self._rows[:, points]
        rows[1:, p:] = -self._height
        upper = np.concatenate([self._upper[points], np.full(t, INFINITE), [0.0], self._ends])
        lower = np.concatenate([self._lower[points], np.full(t, -INFINITE), [0.0], np.full(len(self._ends), -INFINITE)])
        for marks in (senses, np.where(senses == EQUALITY, EQUALITY, 0).astype(np.int32)):
            solve = partial(daqp.solve, H, f, rows, upper, lower, marks, primal_tol=PRECISION)
            z, _, status, info = uninterrupted(solve) if p > LARGE else solve()
            if status > 0:
                return _Solution(points, np.asarray(z)[:p], np.asarray(info["lam"]), int(info["iterations"]))
        return None

    def wanting(self, found: _Solution) -> Indices:
        """Return the points left out that would move; none where all of them would gain next to nothing."""
        out = self.left_out(found.points)
        points, kernels = len(found.points) + self.t, found.multipliers[-len(self._rows) :]
        pull = self._metric[np.ix_(out, found.points)] @ found.z / self._size + kernels @ self._rows[:, out]
        slope = self._linear[out] - pull - found.multipliers[points]
        least = WANTING * float(np.abs(self._linear[0]))
        down, up = self._full[out] & (slope < -least), self._empty[out] & (slope > least)
        reach = np.where(down, self._lower[out], np.where(up, self._upper[out], 0.0))
        return out[down | up] if float(slope @ reach) > self._trifle else out[:0]

    def grown(self, found: _Solution, more: Indices) -> tuple[Indices, Senses]:
        """Return the points of a solution and `more`, with marks for what held in it."""
        signs = np.sign(found.multipliers)
        held = np.where(signs > 0.0, UPPER, np.where(signs < 0.0, LOWER, 0))
        points = np.union1d(found.points, more)
        senses = self.senses(points, signs[-len(self._rows) :] > 0.0)
        senses[np.searchsorted(points, found.points)] = held[: len(found.points)]
        senses[-len(self._rows) :] = held[-len(self._rows) :]
        return points, senses

    def left_out(self, points: Indices) -> Indices:
        """Return all points but these."""
        return np.setdiff1d(np.arange(len(self._linear)), points, assume_unique=True)


def _solve_growing(program: _Program, weights: Array) -> _Solution | None:
    """Solve on the first points, then add those that want to move, until none does; in the end all of them."""
    points = program.first_points(weights)
    senses, rounds, left = program.senses(points, weights > 0.0), 0, MOST_ROUNDS
    while (found := program.solve(points, senses)) is not None:
        rounds, left = rounds + found.rounds, left - 1
        more = program.wanting(found)
        if not len(more):
            return replace(found, rounds=rounds)
        points, senses = program.grown(found, more if left > 1 else program.left_out(points))
    return None


def _feasible(signed: Array, y: Array, C: float | Array) -> Array:
    """Clip to the box and scale the heavier class down, both by rounding errors only."""
    dual = np.clip(signed * y, 0.0, C)
    positive, negative = float(dual[y > 0].sum()), float(dual[y < 0].sum())
    lighter = min(positive, negative)
    dual[y > 0] *= lighter / positive if positive > 0.0 else 0.0
    dual[y < 0] *= lighter / negative if negative > 0.0 else 0.0
    return np.asarray(dual * y)
