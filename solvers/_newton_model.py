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

Reference: Chapelle and Rakotomamonjy, Second order optimization of kernel parameters (2008) for H.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from mklviz.context import spending
from mklviz.inner.blocked import cholesky, scaled_copy
from mklviz.inner.conjugates import summing
from mklviz.inner.svm import InnerSvm
from mklviz.solvers._newton_program import (
    AT_BOUND,
    EQUALITY,
    INFINITE,
    LOWER,
    RIDGE,
    DualBox,
    MatrixMetric,
    Metric,
    ProgramSolution,
    QuadraticProgram,
    solved_program,
)
from mklviz.typing import Array, Indices

MOST_KEPT, STEEPEST = 500, 60  # kernels of the working set with weight, and by their slopes
MOST_NUMBERS, LEAST_KERNELS = 2**26, 8  # of their products with b, half a gigabyte; kernels of either sort at least
EQUAL = 1e-9  # weights that differ by less, relative to the largest, are told apart by their slopes
MOST_ROUNDS = 8  # programs solved before all points are let in
MOST_FREE = 4000  # free points whose Hessian is formed there
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
    program = QuadraticProgram(metric, size * products, size * slopes, signed, box, fixed_sum, gap)
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


def _solve_growing(program: QuadraticProgram, weights: Array) -> ProgramSolution | None:
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

    def __init__(self, program: QuadraticProgram, kernel: Array) -> None:
        n = len(program.linear)
        self._program, self._metric = program, scaled_copy(kernel, np.full(n, program.size**-0.5), RIDGE)
        self._start = _Peak(np.zeros(0), 0.0, np.zeros(n), np.zeros(n))

    def at(self, weights: Array, near: _Peak | None = None) -> _Peak:
        """Return phi at these weights, by an SVM that starts from a point near."""
        program, near = self._program, near or self._start
        linear = program.linear - weights @ program.rows
        width = float((program.upper - program.lower).max())
        svm = InnerSvm(linear, program.lower, program.upper, width)
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
    solution = solved_program(damped, slopes / size, rows, upper, lower, marks)
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


def _solve_otherwise(program: QuadraticProgram, metric: Metric, weights: Array) -> ProgramSolution | None:
    """Solve what is too large for a program: by SVMs, or where K_d is never formed by the Hessian at d0 alone."""
    weights = weights / weights.sum() if program.t else weights
    if isinstance(metric, MatrixMetric):
        return _solve_by_svms(program, metric.kernel, weights)
    free = program.free
    H = _curvature(metric.block(free) / program.size + RIDGE * np.eye(len(free)), program.rows[:, free])
    target = _moved(weights, program.ends, H, DAMPING[0], bool(program.t))
    return None if target is None else ProgramSolution(free, np.zeros(len(free)), target, 1, len(free))


def _solve_by_svms(program: QuadraticProgram, kernel: Array, weights: Array) -> ProgramSolution:
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
    return ProgramSolution(np.arange(len(here.z)), here.z, here.weights, rounds, len(phi.free(here)))
