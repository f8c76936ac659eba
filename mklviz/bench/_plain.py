"""Plain versions of the level method and SILP, written with common tools: SVC, numpy, linprog and a QP solver.

    c = 1'a - s/2,    s_k = b'K_k b,    b = y ∘ a       the cut that an SVM at the weights d gives
    lower bound       min over the simplex of max_j c_j'd, a linear program
    SILP              d goes where that minimum lies
    Level             d goes to the nearest point where no cut exceeds 0.9 upper + 0.1 lower

Nothing is kept from one step to the next: the kernels are one (m, n, n) array, every SVM, linear and quadratic program
starts from scratch. Both stop at the relative duality gap (P - D) / |P| of their own weights and dual variables.

References: Xu, Jin, King, Lyu, NIPS 2008, algorithm 2; Sonnenburg, Rätsch, Schäfer, Schölkopf, JMLR 7 (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import daqp
import numpy as np
from scipy.optimize import linprog

from mklviz.typing import Array

__all__ = ["PlainResult", "plain_level", "plain_silp"]

LAMBDA = 0.9
FAR = 1e30  # no bound


@dataclass(frozen=True)
class PlainResult:
    """Weights (m,), the primal and dual values at the end, and the number of SVMs solved."""

    weights: Array
    objective: float
    lower_bound: float
    solves: int


def plain_level(svc: Any, grams: Array, y: Array, gap: float, most: int = 500) -> PlainResult:
    """Minimise over the simplex by the level method, with an unfitted `SVC(kernel="precomputed")`."""
    d = np.full(len(grams), 1.0 / len(grams))
    cuts: list[Array] = []
    upper, lower = np.inf, -np.inf
    for solves in range(1, most + 1):
        cut, primal, dual = _svm(svc, grams, y, d)
        if primal - dual <= gap * abs(primal) or solves == most:
            break
        cuts.append(cut)
        upper = min(upper, primal)
        lower = max(lower, dual, _minimum(np.array(cuts))[0])
        d = _projection(d, np.array(cuts), LAMBDA * upper + (1.0 - LAMBDA) * lower)
    return PlainResult(d, primal, dual, solves)


def plain_silp(svc: Any, grams: Array, y: Array, gap: float, most: int = 500) -> PlainResult:
    """Minimise over the simplex by semi-infinite linear programming."""
    d = np.full(len(grams), 1.0 / len(grams))
    cuts: list[Array] = []
    for solves in range(1, most + 1):
        cut, primal, dual = _svm(svc, grams, y, d)
        if primal - dual <= gap * abs(primal) or solves == most:
            break
        cuts.append(cut)
        d = _minimum(np.array(cuts))[1]
    return PlainResult(d, primal, dual, solves)


def _svm(svc: Any, grams: Array, y: Array, d: Array) -> tuple[Array, float, float]:
    """Return the cut at d, and the values of the primal and of the dual."""
    K = np.tensordot(d, grams, axes=1)
    svc.fit(K, y)
    b = np.zeros(len(y))
    b[svc.support_] = svc.dual_coef_[0]
    s = (grams @ b) @ b
    scores = K @ b
    total = float(np.abs(b).sum())  # 1'a
    hinge = np.maximum(1.0 - y * (scores + svc.intercept_[0]), 0.0)
    return total - 0.5 * s, 0.5 * float(b @ scores) + svc.C * float(hinge.sum()), total - 0.5 * float(s.max())


def _minimum(cuts: Array) -> tuple[float, Array]:
    """Return ``min over the simplex of max_j c_j'd`` and the minimizer."""
    J, m = cuts.shape
    cost, upper = np.append(np.zeros(m), 1.0), np.hstack([cuts, -np.ones((J, 1))])
    bounds = [(0.0, None)] * m + [(None, None)]
    total = np.append(np.ones(m), 0.0)[None]
    solution = linprog(cost, upper, np.zeros(J), total, [1.0], bounds, method="highs")
    return float(solution.fun), solution.x[:m]


def _projection(d0: Array, cuts: Array, level: float) -> Array:
    """Return the point of the simplex nearest to d0 where no cut exceeds the level."""
    J, m = cuts.shape
    rows = cuts - level
    rows /= np.abs(rows).max(axis=1, keepdims=True)
    A = np.ascontiguousarray(np.vstack([rows, np.ones(m)]))
    upper = np.concatenate([np.full(m, FAR), np.zeros(J), [1.0]])
    lower = np.concatenate([np.zeros(m), np.full(J, -FAR), [1.0]])
    kinds = np.zeros(m + J + 1, dtype=np.int32)
    kinds[-1] = 5  # an equality
    d = np.maximum(daqp.solve(np.eye(m), -d0, A, upper, lower, kinds)[0], 0.0)
    return d / d.sum()
