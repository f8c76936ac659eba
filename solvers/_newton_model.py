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

References: Chapelle and Rakotomamonjy, Second order optimization of kernel parameters (2008) for H; Arnstrom,
Bemporad, Axehill, A dual active-set solver for embedded quadratic programming (2022), DAQP, for the program.
"""

from __future__ import annotations

from dataclasses import dataclass

import daqp
import numpy as np
from numpy.typing import NDArray

from mklviz.contract import Array
from mklviz.problem import spending

__all__ = ["Indices", "NewtonPoint", "minimise_model", "working_kernels", "working_points"]

Indices = NDArray[np.intp]

MOST_KEPT, MOST_NEW = 250, 100  # kernels of the working set with weight, and without
SPARE_POINTS = 50  # points without dual variable that the program may give one
RIDGE = 1e-4  # on the metric, relative to the mean of its diagonal
SLACK_CURVATURE = 1e-2  # of the variable t, which daqp needs; it scales the multipliers, which are scaled back
PRECISION = 1e-9  # daqp's feasibility tolerance, in units of C
INFINITE = 1e30
EQUALITY = 5  # daqp's mark of an equality constraint


@dataclass(frozen=True)
class NewtonPoint:
    """Minimiser of the model.

    Attributes
    ----------
    weights : (q,) array
        New weights of the working kernels; on the simplex their sum is one.
    signed : (n,) array
        Signed dual variables b + z that the model expects there, feasible.
    rounds : int
        Iterations of the program.
    """

    weights: Array
    signed: Array
    rounds: int


def working_kernels(weights: Array, gradient: Array) -> Indices:
    """Return the kernels that the model knows of: the heaviest with weight, and the steepest without.

    Parameters
    ----------
    weights, gradient : (m,) arrays
        d and the gradient of J + r.
    """
    used = _smallest(-weights, np.flatnonzero(weights > 0.0), MOST_KEPT)
    idle = _smallest(gradient, np.flatnonzero(weights == 0.0), MOST_NEW)
    return np.sort(np.concatenate([used, idle]))


def _smallest(values: Array, among: Indices, most: int) -> Indices:
    """Return the places of the `most` smallest values, the first of equal ones, without sorting a million."""
    if len(among) > most:
        among = among[values[among] <= np.partition(values[among], most - 1)[most - 1]]
    return among[np.argsort(values[among], kind="stable")][:most]


def working_points(signed: Array, margins: Array) -> Indices:
    """Return the points whose dual variable may change: the support vectors, and the others closest to the margin.

    Parameters
    ----------
    signed : (n,) array
        Signed dual variables b.
    margins : (n,) array
        ``y_i (f_i + bias)``; 1 on the margin.
    """
    support = np.flatnonzero(signed != 0.0)
    others = np.flatnonzero(signed == 0.0)
    others = others[np.argsort(margins[others], kind="stable")][: SPARE_POINTS + len(support)]
    return np.sort(np.concatenate([support, others]))


@spending("subproblem")
def minimise_model(
    metric: Array, products: Array, slopes: Array, signed: Array, y: Array, C: float, points: Indices, fixed_sum: bool
) -> NewtonPoint | None:
    """Solve the quadratic program, in units of C, and return None if that fails.

    Parameters
    ----------
    metric : (n, n) array
        K_d0, with what makes z unique where that is singular.
    products : (q, n) array
        Rows v_k of the working kernels.
    slopes : (q,) array
        Their entries of the gradient of J + r, which is -s_k/2 plus r's.
    signed, y : (n,) arrays
        b and the labels.
    C : float
        Upper bound of the dual variables.
    points : (p,) array of int
        Points that z may move.
    fixed_sum : bool
        Whether the weights sum to one (simplex); otherwise they are only not negative.
    """
    t = int(fixed_sum)  # one more variable, the largest of the constraints
    p = len(points)
    H = np.zeros((p + t, p + t))
    H[:p, :p] = metric[np.ix_(points, points)]
    ridge = RIDGE * float(np.trace(metric)) / len(y)
    if ridge <= 0.0:  # no kernel has weight
        return None
    H[np.arange(p), np.arange(p)] += ridge
    H[p:, p:] = SLACK_CURVATURE
    f = np.append(-y[points] / C, np.ones(t))
    z, _, status, info = daqp.solve(
        H, f, *_constraints(products[:, points], slopes, signed[points], y[points], C, t), primal_tol=PRECISION
    )
    weights = np.maximum(np.asarray(info["lam"])[p + t + 1 :], 0.0)
    moved = signed.copy()
    moved[points] += C * np.asarray(z)[:p]
    sane = np.isfinite(weights).all() and np.isfinite(moved).all()
    if status <= 0 or not sane or (fixed_sum and weights.sum() <= 0.0):
        return None
    weights = weights / weights.sum() if fixed_sum else weights
    return NewtonPoint(weights, _feasible(moved, y, C), int(info["iterations"]))


def _constraints(
    products: Array, slopes: Array, signed: Array, y: Array, C: float, t: int
) -> tuple[Array, Array, Array, NDArray[np.int32]]:
    """Return rows, upper and lower bounds and senses: the box of z and t, then 1'z = 0, then one row per kernel."""
    q, p = products.shape
    rows = np.zeros((1 + q, p + t))
    rows[0, :p] = 1.0
    rows[1:, :p] = products / C
    rows[1:, p:] = -1.0
    level = float(slopes.min()) if t else 0.0  # t counts from the largest s_k / 2
    share = signed / C
    upper = np.concatenate([np.maximum(y, 0.0) - share, np.full(t, INFINITE), [0.0], (slopes - level) / C**2])
    lower = np.concatenate([np.minimum(y, 0.0) - share, np.full(t, -INFINITE), [0.0], np.full(q, -INFINITE)])
    sense = np.zeros(len(upper), dtype=np.int32)
    sense[p + t] = EQUALITY
    return rows, upper, lower, sense


def _feasible(signed: Array, y: Array, C: float) -> Array:
    """Clip to the box and scale the heavier class down, both by rounding errors only."""
    dual = np.clip(signed * y, 0.0, C)
    positive, negative = float(dual[y > 0].sum()), float(dual[y < 0].sum())
    lighter = min(positive, negative)
    dual[y > 0] *= lighter / positive if positive > 0.0 else 0.0
    dual[y < 0] *= lighter / negative if negative > 0.0 else 0.0
    return np.asarray(dual * y)
