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

A program of many points takes the cube of them, and as many rounds, and would cost more than the SVMs that it saves. So
as soon as it would hold more than `MOST_POINTS`, and until the last digits are asked for, it is given up for

    min over d   phi(d) = max over z  (y - V'd)'z - 1/2 z'K_d0 z + slopes'd      in the same box,

whose value and slopes an SVM finds, and whose curvature is H at its free points: Newton steps, each a program over the
kernels alone, damped where they do not lower phi as promised (Levenberg and Marquardt). Any point on the way has a
lower phi than d0, so that it lies downhill, and a few such steps do. Where K_d is never formed, a program that is too
large is given up for the Hessian at d0 alone.

The one-class SVM has no y in the linear term, 0 <= b <= C, and the same program.

References: Chapelle and Rakotomamonjy, Second order optimization of kernel parameters (2008) for H; Arnstrom,
Bemporad, Axehill, A dual active-set solver for embedded quadratic programming (2022), DAQP, for the programs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import daqp
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mklviz.context import spending, uninterrupted
from mklviz.inner.blocked import cholesky, scaled_copy
from mklviz.inner.conjugates import summing
from mklviz.inner.svm import InnerSvm, box_of
from mklviz.problem import Loss
from mklviz.solvers._newton_metric import MatrixMetric, Metric
from mklviz.typing import Array, Flags, Indices

Senses = NDArray[np.int32]

MOST_KEPT, STEEPEST = 500, 60  # kernels of the working set with weight, and by their slopes
MOST_NUMBERS, LEAST_KERNELS = 2**26, 8  # of their products with b, half a gigabyte; kernels of either sort at least
EQUAL = 1e-9  # weights that differ by less, relative to the largest, are told apart by their slopes
SPARE_POINTS = 15  # points at a bound that the program begins with, beyond as many as are free
MOST_ROUNDS = 8  # programs solved before all points are let in
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
MOST_FREE = 4000  # free points whose Hessian is formed there
FINE = 1e-6  # gap, relative to the sum of the dual variables, from which only the program is exact enough
MOST_ROUNDS_OF_SVMS = 30
SVM_PRECISION = 1e-8  # violation of these SVMs, beside the labels' 1
ENOUGH = 1e-2  # of all that phi has come down; a step that promises less is left out
KEPT_PROMISE = 0.1  # share of the promised decrease that a step must bring
DAMPING = 1e-8, 1e-3  # least, and after a step that led nowhere, relative to the mean of H's diagonal
PLAIN_RIDGE = 1e-9  # on K_d, relative to the mean of its diagonal, where H stands alone
FARTHEST = 10.0  # growth of a weight in one step where a price leaves it open, in units of the largest


@dataclass(frozen=True)
class NewtonPoint:
    """Minimiser of the model."""

    weights: Array  # (q,): new weights of the working kernels; on the simplex their sum is one
    signed: Array  # (n,): signed dual variables b + z that the model expects there, feasible
    points: int  # points that the program held in the end
    rounds: int  # iterations of the program


def working_kernels(weights: Array, gradient: Array, n: int) -> Indices:
    """Return the kernels that the model knows of: the heaviest with weight, and the steepest without.

    Where all weights are equal, as at the start, the steepest.

    `weights`, `gradient` (m,): d and the gradient of J + r; `n`: samples, of which many leave room for fewer kernels.
    """
    room = max(MOST_NUMBERS // n, 2 * LEAST_KERNELS)
    kept, steepest = min(MOST_KEPT, room // 2), min(STEEPEST, room // 2)
    used = np.flatnonzero(weights > 0.0)
    idle = _smallest(gradient, np.flatnonzero(weights == 0.0), steepest)
    if len(used) > steepest and np.ptp(weights[used]) <= EQUAL * weights.max():
        used = _smallest(gradient, used, steepest)
    else:
        used = _smallest(-weights, used, kept)
    return np.sort(np.concatenate([used, idle]))


def _smallest(values: Array, among: Indices, most: int) -> Indices:
    """Return the places of the `most` smallest values, the first of equal ones, without sorting a million."""
    if len(among) > most:
        among = among[values[among] <= np.partition(values[among], most - 1)[most - 1]]
    return among[np.argsort(values[among], kind="stable")][:most]


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


@spending("subproblem")
def minimise_model(
    metric: Metric,
    products: Array,
    slopes: Array,
    signed: Array,
    box: DualBox,
    weights: Array,
    fixed_sum: bool,
    gap: float = 0.0,
) -> NewtonPoint | None:
    """Solve the quadratic program, and return None if that fails.

    `metric`: K_d0, with what makes z unique where that is singular; `products` (q, n): rows v_k of the working kernels;
    `slopes` (q,): their entries of the gradient of J + r, which is -s_k/2 plus r's; `signed` (n,): b; `weights` (q,):
    present weights of the working kernels; `fixed_sum`: whether the weights sum to one (simplex); otherwise they are
    only not negative; `gap`: P - D at d0 and b; where it is zero every point has its say.
    """
    if not metric.size > 0.0:  # no kernel has weight
        return None
    # prices per unit leave weights of any size, and programs are solved to tolerances that are not relative
    size = 1.0 if fixed_sum else float(weights.max(initial=0.0)) or 1.0
    program = _Program(metric, size * products, size * slopes, signed, box, fixed_sum, gap)
    try:
        minimum = _solve_growing(program, weights / size) or _solve_otherwise(program, metric, weights / size)
    except np.linalg.LinAlgError:
        return None
    if minimum is None:
        return None
    multipliers = np.maximum(minimum.multipliers[-len(slopes) :], 0.0)
    moved = signed.copy()
    moved[minimum.points] += program.unit * minimum.z
    sane = np.isfinite(multipliers).all() and np.isfinite(moved).all()
    if not sane or (fixed_sum and multipliers.sum() <= 0.0):
        return None
    multipliers = multipliers / multipliers.sum() if fixed_sum else size * multipliers
    feasible = summing(np.clip(moved, box.lower, box.upper), box.lower, box.upper, box.total)  # rounding errors only
    return NewtonPoint(multipliers, feasible, minimum.held, minimum.rounds)


@dataclass(frozen=True)
class _Solution:
    """z and the multipliers (of the box of z and t, of 1'z = 0, of the kernels) of the program on some points."""

    points: Indices
    z: Array
    multipliers: Array
    rounds: int
    held: int  # points that the work went up with


class _Program:
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

    def solve(self, points: Indices, senses: Senses) -> _Solution | None:
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
        solution = _solved(H, f, rows, upper, lower, senses)
        if solution is None:
            return None
        z, info = solution
        return _Solution(points, z[:p], np.asarray(info["lam"]), int(info["iterations"]), p)

    def wanting(self, solution: _Solution) -> Indices:
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

    def grown(self, solution: _Solution, more: Indices) -> tuple[Indices, Senses]:
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


def _solve_growing(program: _Program, weights: Array) -> _Solution | None:
    """Solve on the first points, then add those that want to move, until none does, in the end all of them.

    None where daqp fails, or the program would become too large.
    """
    points = program.first_points(weights)
    senses, rounds, left = program.senses(points, weights > 0.0), 0, MOST_ROUNDS
    while len(points) <= program.most and (solution := program.solve(points, senses)) is not None:
        rounds, left = rounds + solution.rounds, left - 1
        more = program.wanting(solution)
        if not len(more):
            return replace(solution, rounds=rounds)
        points, senses = program.grown(solution, more if left > 1 else program.left_out(points))
    return None


@dataclass(frozen=True)
class _Peak:
    """phi at some weights, and z that reaches it, with the metric times z."""

    weights: Array
    value: float
    z: Array
    image: Array


class _DualMaximum:
    """phi, the maximum of the model over z as a function of the weights, in the units of a program."""

    def __init__(self, program: _Program, kernel: Array) -> None:
        n = len(program.linear)
        self._program, self._metric = program, scaled_copy(kernel, np.full(n, program.size**-0.5), RIDGE)
        self._start = _Peak(np.zeros(0), 0.0, np.zeros(n), np.zeros(n))

    def at(self, weights: Array, near: _Peak | None = None) -> _Peak:
        """Return phi at these weights, by an SVM that starts from a point near."""
        program, near = self._program, near or self._start
        linear = program.linear - weights @ program.rows
        width = float((program.upper - program.lower).max())
        svm = InnerSvm.boxed(linear, program.lower, program.upper, width)
        svm.set_dual(near.z)
        solution = svm.solve(self._metric, SVM_PRECISION * program.margin, scores=near.image)
        return _Peak(weights, solution.value + float(program.ends @ weights), svm.b.copy(), linear - svm.f)

    def slopes(self, peak: _Peak) -> Array:
        """Return the gradient of phi."""
        return self._program.ends - self._program.rows @ peak.z

    def free(self, peak: _Peak) -> Indices:
        """Return the points between their bounds."""
        return np.flatnonzero((peak.z > self._program.lower) & (peak.z < self._program.upper))

    def curvature(self, peak: _Peak) -> Array:
        """Return H at the points that are free."""
        free = self.free(peak)
        return _curvature(self._metric[np.ix_(free, free)], self._program.rows[:, free])


def _curvature(metric: Array, rows: Array) -> Array:
    """Return H = V_F Q V_F', with Q the inverse of the metric on sum zero over the free points F.

    `metric` (f, f), which is overwritten; `rows` (q, f).
    """
    q, free = rows.shape
    if free < 2:
        return np.zeros((q, q))
    factor, _ = cholesky(metric)
    sides = np.vstack([rows, np.ones(free)]).T
    solved = solve_triangular(factor, sides, lower=True, check_finite=False)
    H = solved.T @ solved
    return np.asarray(H[:-1, :-1] - np.outer(H[:-1, -1], H[-1, :-1]) / H[-1, -1])


def _moved(here: Array, slopes: Array, H: Array, damping: float, fixed_sum: bool) -> Array | None:
    """Return the weights that minimise the quadratic with these slopes and H, damped; None where daqp fails."""
    q = len(slopes)
    size = float(np.trace(H)) / q or float(np.abs(slopes).max()) or 1.0
    damped = H / size + damping * np.eye(q)
    rows, sums = np.ones((int(fixed_sum), q)), np.zeros(int(fixed_sum))
    room = INFINITE if fixed_sum else FARTHEST * max(float(here.max()), 1.0)
    upper, lower = np.append(np.full(q, room), sums), np.append(-here, sums)
    marks = np.append(np.where(here > 0.0, 0, LOWER), EQUALITY + sums).astype(np.int32)
    solution = _solved(damped, slopes / size, rows, upper, lower, marks)
    if solution is None:
        return None
    weights = here + solution[0]
    weights[weights < AT_BOUND] = 0.0
    return np.asarray(weights / weights.sum() if fixed_sum else weights)


@spending("subproblem")
def plain_target(
    metric: Metric, products: Array, slopes: Array, free: Indices, weights: Array, fixed_sum: bool
) -> Array | None:
    """Return where HessianMKL goes: the least point over all kernels of the quadratic with the Hessian at d0.

    `metric`: K_d0; `products`, `slopes`: as in `minimise_model`, of all kernels; `free`: the points F.
    """
    if len(free) > MOST_FREE and not isinstance(metric, MatrixMetric):
        return None
    block = metric.block(free)
    block[np.diag_indices_from(block)] += PLAIN_RIDGE * metric.size
    try:
        H = _curvature(block, products[:, free])
    except np.linalg.LinAlgError:
        return None
    return _moved(weights, slopes, H, DAMPING[0], fixed_sum)


def _solve_otherwise(program: _Program, metric: Metric, weights: Array) -> _Solution | None:
    """Solve what is too large for a program: by SVMs, or where K_d is never formed by the Hessian at d0 alone."""
    weights = weights / weights.sum() if program.t else weights
    if isinstance(metric, MatrixMetric):
        return _solve_by_svms(program, metric.kernel, weights)
    free = program.free
    H = _curvature(metric.block(free) / program.size + RIDGE * np.eye(len(free)), program.rows[:, free])
    target = _moved(weights, program.ends, H, DAMPING[0], bool(program.t))
    return None if target is None else _Solution(free, np.zeros(len(free)), target, 1, len(free))


def _solve_by_svms(program: _Program, kernel: Array, weights: Array) -> _Solution:
    """Descend on phi by damped Newton steps, until one promises next to nothing beside what the others brought."""
    phi = _DualMaximum(program, kernel)
    here = first = phi.at(weights)
    slopes, H, damping, rounds = phi.slopes(here), phi.curvature(here), DAMPING[0], 0
    while rounds < MOST_ROUNDS_OF_SVMS:
        rounds += 1
        target = _moved(here.weights, slopes, H, damping, bool(program.t))
        if target is None:
            break
        move = target - here.weights
        promised = -float(slopes @ move + 0.5 * move @ H @ move)
        if promised <= ENOUGH * (first.value - here.value):
            break
        there = phi.at(target, here)
        if here.value - there.value < KEPT_PROMISE * promised:
            damping = max(10.0 * damping, DAMPING[1])
            continue
        here, slopes, H = there, phi.slopes(there), phi.curvature(there)
        damping = max(0.1 * damping, DAMPING[0])
    return _Solution(np.arange(len(here.z)), here.z, here.weights, rounds, len(phi.free(here)))


def _solved(H: Array, f: Array, A: Array, upper: Array, lower: Array, marks: Senses) -> tuple[Array, Any] | None:
    """Return daqp's solution, begun from the marks or else from none, and what it says of it; None where it fails."""
    for senses in (marks, np.where(marks == EQUALITY, EQUALITY, 0).astype(np.int32)):
        solve = partial(daqp.solve, H, f, A, upper, lower, senses, primal_tol=PRECISION)
        z, _, status, info = uninterrupted(solve) if len(f) > MOST_POINTS else solve()
        if status > 0:
            return np.asarray(z), info
    return None
