"""Projection of weights onto a level set of the cutting plane model.

    min 1/2 ||d - d0||^2   such that   d in the simplex,   c_j'd <= level  (j = 1..J)

solved through its dual, which has one variable mu_j per cut and none per kernel. With G = C - level (a constant may be
added to a row because d sums to one), the inner minimum is a projection on the simplex, d(mu) = proj(d0 - G'mu), and

    max over mu >= 0 of   g(mu) = 1/2 ||d(mu) - d0||^2 + mu'G d(mu),      grad g = G d(mu)

is concave and piecewise quadratic: on a fixed support S of d its Hessian is -M, M = G_S (I - 11'/|S|) G_S'. Each step
maximizes that quadratic, plus a small proximal term where M is singular (duplicate or parallel cuts, a single kernel
left), under mu >= 0 by an active set method, and then searches the segment exactly.

If the level set is empty, mu grows without end along a ray, and sooner or later ``min_k (G'mu)_k > 0`` proves it.

Reference: Xu, Jin, King, Lyu, An Extended Level Method for Efficient Multiple Kernel Learning (NIPS 2008), eq. 8;
the dual treatment follows Qi and Sun, A nonsmooth version of Newton's method, Math. Programming 58 (1993).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklviz.context import checkpoint, spending
from mklviz.solvers._level_steps import EMPTY, newton
from mklviz.typing import Array

_MOST_STEPS = 100  # of Newton; a handful is usual
_CHUNK = 50_000_000  # entries read between two checkpoints, of the cuts and of what is as long


@dataclass(frozen=True)
class LevelProjection:
    """The point found, and what its multipliers prove."""

    weights: Array  # (m,): the projection; where the level set is empty, some point of the simplex
    multipliers: Array  # (J,): mu_j >= 0, positive only for cuts that hold with equality
    bound: float  # ``min_k (w'C)_k`` with w = mu / sum(mu), a lower bound of the cutting plane model; -inf if mu = 0
    empty: bool  # true if the level set is empty, as proved by ``bound > level``
    newton_steps: int  # Newton steps taken
    # largest violation of the optimality conditions, relative to the largest entry of each row C_j - level
    violation: float


@spending("subproblem")
def project_to_level_set(
    d0: Array, cuts: Array, level: float, multipliers: Array | None = None, extremes: Array | None = None
) -> LevelProjection:
    """Project `d0` onto the weights of the simplex where no cut exceeds `level`.

    `d0` (m,): the point to project; `cuts` (J, m): rows c_j of the model ``max_j c_j'd``; `multipliers` (J,): where to
    start, for example the multipliers of a similar projection; `extremes` (J, 2): least and largest entry of each cut,
    where the caller has them: finding them reads every cut twice.
    """
    level += 4.0 * np.finfo(float).eps * abs(level)  # a cut equal to the level but for rounding holds
    if extremes is None:
        extremes = np.stack([cuts.min(axis=1), cuts.max(axis=1)], axis=1)
    scales = np.abs(extremes - level).max(axis=1)
    scales[scales == 0.0] = 1.0
    mu = np.zeros(len(cuts)) if multipliers is None else multipliers * scales
    start, d = np.ascontiguousarray(d0, dtype=np.float64), np.empty(len(d0))
    rows = np.ascontiguousarray(cuts, dtype=np.float64)  # one compiled specialisation
    steps, asked = 0, max(_CHUNK // (4 * rows.size + 1), 1)
    while True:
        checkpoint()
        asked = min(asked, _MOST_STEPS - steps)
        outcome, taken, violation, lowest = newton(start, rows, level, 1.0 / scales, mu, d, asked)
        steps += taken
        if taken < asked or outcome == EMPTY or steps >= _MOST_STEPS:
            break
    mu /= scales
    total = float(mu.sum())
    bound = level + lowest / total if total > 0 else -np.inf
    return LevelProjection(d, mu, bound, outcome == EMPTY, steps, violation)
