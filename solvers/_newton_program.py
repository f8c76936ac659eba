"""The quadratic program of Newton's model on some of the points, in its own units; see `_newton_model`.

Reference: Arnstrom, Bemporad, Axehill, A dual active-set solver for embedded quadratic programming (2022), DAQP.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

import daqp
import numpy as np
from numpy.typing import NDArray

from mklviz.context import uninterrupted
from mklviz.inner.svm import box_of
from mklviz.kernels import Bank, FactorBank, RowBank
from mklviz.kernels.storage.disk import release
from mklviz.problem import Loss
from mklviz.typing import Array, Flags, Indices

Senses = NDArray[np.int32]

SPARE_POINTS = 15  # points at a bound that the program begins with, beyond as many as are free
MOST_MORE = 0.3  # points added to a program, as a share of its own, with which it begins from what held
RIDGE = 1e-4  # on the metric, relative to the mean of its diagonal
SLACK_CURVATURE = 1e-2  # of the variable t, which daqp needs; it scales the multipliers, which are scaled back
PRECISION = 1e-9  # daqp's feasibility tolerance
AT_BOUND = 1e-12  # distance to a bound that is rounding, in units of the largest dual variable
WANTING = 1e-7  # slope, beside the labels' 1, with which a point left out wants to move
TRIFLE = 1e-2  # of the gap; what points left out may gain at most where they stay out
INFINITE = 1e30
UPPER, LOWER, EQUALITY = 1, 3, 5  # daqp's marks: held at the upper or lower bound, an equality constraint
MOST_POINTS = 256  # of a program; with more, SVMs on all points find its solution sooner
SIZED_BY = 256  # samples whose mean diagonal entry stands for that of all, where no matrix is formed
FINE = 1e-6  # gap, relative to the sum of the dual variables, from which only the program is exact enough


# K_d as Newton's model reads it: between a few points, and times what stands at a few points.
#
# Where kernels come by rows or by factors no matrix is formed: a step asks for K_d between its own points and for one
# product, which costs what reading the samples once does.


class Metric(Protocol):
    """A kernel on all samples; `size`: what it is measured by, the mean of its diagonal."""

    size: float

    def block(self, points: Indices) -> Array:
        """Return the kernel between the points, (p, p), which may be written to."""

    def image(self, points: Indices, z: Array, at: Indices) -> Array:
        """Return the entries `at` of the kernel times a vector that is z (p,) at the points and else zero."""


class MatrixMetric:
    """A kernel that is at hand, (n, n)."""

    def __init__(self, kernel: Array) -> None:
        self.kernel, self.size = kernel, float(np.trace(kernel)) / len(kernel)

    def block(self, points: Indices) -> Array:
        return self.kernel[np.ix_(points, points)]

    def image(self, points: Indices, z: Array, at: Indices) -> Array:
        return self.kernel[np.ix_(at, points)] @ z


class BankMetric:
    """The kernel that a bank makes at some weights, by rows or by factors."""

    def __init__(self, bank: Bank, weights: Array) -> None:
        self._bank, self._weights = bank, weights
        some = np.unique(np.random.default_rng(0).integers(bank.n_samples, size=SIZED_BY))
        self.size = float(np.trace(self.block(some))) / len(some)

    def block(self, points: Indices) -> Array:
        if self._bank.access == "rows":
            kernel = cast(RowBank, self._bank).kernel(self._weights).only(points)
            return kernel.rows(np.arange(len(points))).astype(np.float64)
        factors, w = cast(FactorBank, self._bank).factors(self._weights)
        held, rows = np.flatnonzero(w), factors.T
        X = rows[np.ix_(points, held)].astype(np.float64)
        release(rows)
        return np.asarray((X * w[held]) @ X.T)

    def image(self, points: Indices, z: Array, at: Indices) -> Array:
        v = np.zeros(self._bank.n_samples)
        v[points] = z
        return self._bank.apply(self._weights, v)[at]


@dataclass(frozen=True)
class DualBox:
    """Linear term and bounds of the signed dual variables, (n,) each, and what they sum to.

    `margin`: a slope that is large, in units of which slopes are told from zero.
    """

    linear: Array
    lower: Array
    upper: Array
    total: float
    margin: float

    def free(self, signed: Array) -> int:
        """Return how many dual variables lie between their bounds."""
        return int(np.count_nonzero((signed > self.lower) & (signed < self.upper)))

    @classmethod
    def of(cls, loss: Loss, y: Array, margin: float = 1.0) -> DualBox:
        """Return that of a support vector machine with a bias, or of the one-class one."""
        return cls(*box_of(loss, y), loss.dual_sum(y), margin)


@dataclass(frozen=True)
class ProgramSolution:
    """z and the multipliers (of the box of z and t, of 1'z = 0, of the kernels) of the program on some points."""

    points: Indices
    z: Array
    multipliers: Array
    rounds: int
    held: int  # points that the work went up with


class QuadraticProgram:
    """The quadratic program, in its own units; points left out of a solve keep their dual variables.

    `unit`: largest dual variable, the largest C where all are zero: what z is measured in; `most`: points to hold.
    """

    def __init__(
        self,
        metric: Metric,
        products: Array,
        slopes: Array,
        signed: Array,
        box: DualBox,
        fixed_sum: bool,
        gap: float,
    ) -> None:
        self.t = int(fixed_sum)  # one more variable, the largest of the constraints
        self.unit = float(np.abs(signed).max()) or float((box.upper - box.lower).max())
        fine = gap <= FINE * box.margin * float(np.abs(signed).sum())
        self.most = len(signed) if fine and isinstance(metric, MatrixMetric) else MOST_POINTS
        self.metric, self.size = metric, metric.size
        slope = self.unit * self.size  # units of slopes
        self.linear, self.margin = box.linear / slope, box.margin / slope
        self._trifle = TRIFLE * gap / (self.unit * slope)
        self.rows = products / slope
        level = float(slopes.min()) if fixed_sum else 0.0  # t counts from the largest s_k / 2, in units of it
        self.ends = (slopes - level) / (self.unit * slope)
        self._height = max(float(np.abs(slopes).max()) / (self.unit * slope), np.finfo(float).tiny)
        self.upper = (box.upper - signed) / self.unit
        self.lower = (box.lower - signed) / self.unit
        self._full, self._empty = self.upper <= AT_BOUND, self.lower >= -AT_BOUND

    @property
    def free(self) -> Indices:
        """The points between their bounds."""
        return np.flatnonzero(~self._full & ~self._empty)

    def first_points(self, weights: Array) -> Indices:
        """Return the free points, and of the others those that want to stay where they are least."""
        slope = self.linear - weights @ self.rows
        free, held = self.free, np.flatnonzero(self._full | self._empty)
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

    def solve(self, points: Indices, senses: Senses) -> ProgramSolution | None:
        """Return the solution on these points, begun from the marks or else from none; None where daqp fails."""
        p, t = len(points), self.t
        H = np.zeros((p + t, p + t))
        H[:p, :p] = self.metric.block(points) / self.size
        H[np.arange(p), np.arange(p)] += RIDGE
        H[p:, p:] = SLACK_CURVATURE * self._height
        f = np.append(-self.linear[points], np.full(t, self._height))
        rows = np.zeros((1 + len(self.rows), p + t))
        rows[0, :p] = 1.0
        rows[1:, :p] = self.rows[:, points]
        rows[1:, p:] = -self._height
        upper = np.concatenate([self.upper[points], np.full(t, INFINITE), [0.0], self.ends])
        lower = np.concatenate([self.lower[points], np.full(t, -INFINITE), [0.0], np.full(len(self.ends), -INFINITE)])
        solution = solved_program(H, f, rows, upper, lower, senses)
        if solution is None:
            return None
        z, info = solution
        return ProgramSolution(points, z[:p], np.asarray(info["lam"]), int(info["iterations"]), p)

    def wanting(self, solution: ProgramSolution) -> Indices:
        """Return the points left out that would move; none where all of them would gain next to nothing."""
        out = self.left_out(solution.points)
        points, kernels = len(solution.points) + self.t, solution.multipliers[-len(self.rows) :]
        image = self.metric.image(solution.points, solution.z, out) / self.size
        pull = image + kernels @ self.rows[:, out]
        slope = self.linear[out] - pull - solution.multipliers[points]
        least = WANTING * self.margin
        down, up = self._full[out] & (slope < -least), self._empty[out] & (slope > least)
        reach = np.where(down, self.lower[out], np.where(up, self.upper[out], 0.0))
        return out[down | up] if float(slope @ reach) > self._trifle else out[:0]

    def grown(self, solution: ProgramSolution, more: Indices) -> tuple[Indices, Senses]:
        """Return the points of a solution and `more`, with marks for what held in it unless those are many.

        What is added is not marked: it is added because it wants to move.
        """
        points, p = np.union1d(solution.points, more), len(solution.points)
        senses = np.zeros(len(points) + self.t + 1 + len(self.rows), dtype=np.int32)
        senses[len(points) + self.t] = EQUALITY
        if len(more) <= MOST_MORE * p:
            signs = np.sign(solution.multipliers)
            held = np.where(signs > 0.0, UPPER, np.where(signs < 0.0, LOWER, 0))
            senses[np.searchsorted(points, solution.points)] = held[:p]
            senses[-len(self.rows) :] = held[-len(self.rows) :]
        return points, senses

    def left_out(self, points: Indices) -> Indices:
        """Return all points but these."""
        out = np.ones(len(self.linear), dtype=bool)
        out[points] = False
        return np.flatnonzero(out)


def solved_program(H: Array, f: Array, A: Array, upper: Array, lower: Array, marks: Senses) -> tuple[Array, Any] | None:
    """Return daqp's solution, begun from the marks or else from none, and what it says of it; None where it fails."""
    for senses in (marks, np.where(marks == EQUALITY, EQUALITY, 0).astype(np.int32)):
        solve = partial(daqp.solve, H, f, A, upper, lower, senses, primal_tol=PRECISION)
        z, _, status, info = uninterrupted(solve) if len(f) > MOST_POINTS else solve()
        if status > 0:
            return np.asarray(z), info
    return None
