"""Level's projection, ``min 1/2 ||d - d0||²`` over the simplex and ``Cd <= level``, by solvers anybody can install.

Each is given the problem in the form it likes best and asked for an accuracy of 1e-9; what it takes to put the problem
into that form is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from mklviz.bench._suite import rival
from mklviz.typing import Array

__all__ = ["RIVALS", "projection", "violation"]

Solve = Callable[[], Array]

ACCURACY = 1e-9
LARGEST_DENSE = 2000  # kernels; the active sets of more take too long to factor
PATIENCE = 2.0  # seconds after which OSQP gives what it has
RIVALS = ("Clarabel", "daqp", "quadprog", "OSQP")


def projection(name: str, d0: Array, cuts: Array, level: float) -> tuple[Solve | None, str]:
    """Return what solves the projection with the solver `name`, or None and the reason why it cannot."""
    module, reason = rival(name.lower())
    if module is None:
        return None, reason
    if name in ("daqp", "quadprog") and len(d0) > LARGEST_DENSE:
        return None, f"its dense matrices of {len(d0):,} by {len(d0):,} take too long"
    rows = cuts - level
    rows = rows / np.abs(rows).max(axis=1)[:, None]
    return {"Clarabel": _clarabel, "daqp": _daqp, "quadprog": _quadprog, "OSQP": _osqp}[name](module, d0, rows), ""


def violation(d: Array, cuts: Array, level: float) -> float:
    """Return the largest violation of a constraint by `d`, each cut in units of its largest entry above the level."""
    rows = cuts - level
    above = (rows @ d) / np.abs(rows).max(axis=1)
    return float(max(above.max(), -d.min(), abs(d.sum() - 1.0), 0.0))


def _clarabel(clarabel: Any, d0: Array, rows: Array) -> Solve:
    m, J = len(d0), len(rows)
    A = sparse.csc_matrix(sparse.vstack([np.ones((1, m)), rows, -sparse.identity(m)]))
    b = np.concatenate([[1.0], np.zeros(J + m)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(J + m)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    P = sparse.csc_matrix(sparse.identity(m))
    return lambda: np.array(clarabel.DefaultSolver(P, -d0, A, b, cones, settings).solve().x)


def _daqp(daqp: Any, d0: Array, rows: Array) -> Solve:
    m, J = len(d0), len(rows)
    H, A = np.eye(m), np.ascontiguousarray(np.vstack([rows, np.ones((1, m))]))
    upper = np.concatenate([np.full(m, 1e30), np.zeros(J), [1.0]])
    lower = np.concatenate([np.zeros(m), np.full(J, -1e30), [1.0]])
    sense = np.zeros(m + J + 1, dtype=np.int32)
    sense[-1] = 5  # an equality
    return lambda: np.array(
        daqp.solve(H, -d0, A, upper, lower, sense, primal_tol=ACCURACY, dual_tol=ACCURACY, iter_limit=100_000)[0]
    )


def _quadprog(quadprog: Any, d0: Array, rows: Array) -> Solve:
    m = len(d0)
    C = np.ascontiguousarray(np.vstack([np.ones((1, m)), -rows, np.eye(m)]).T)
    b = np.concatenate([[1.0], np.zeros(len(rows) + m)])
    G, start = np.eye(m), d0.astype(np.float64)
    return lambda: np.array(quadprog.solve_qp(G, start, C, b, 1)[0])


def _osqp(osqp: Any, d0: Array, rows: Array) -> Solve:
    m, J = len(d0), len(rows)
    A = sparse.csc_matrix(sparse.vstack([np.ones((1, m)), rows, sparse.identity(m)]))
    lower = np.concatenate([[1.0], np.full(J, -np.inf), np.zeros(m)])
    upper = np.concatenate([[1.0], np.zeros(J), np.full(m, np.inf)])
    P = sparse.csc_matrix(sparse.identity(m))

    def run() -> Array:
        solver = osqp.OSQP()
        accuracy = {"eps_abs": ACCURACY, "eps_rel": ACCURACY, "max_iter": 20_000, "time_limit": PATIENCE}
        solver.setup(P, -d0, A, lower, upper, verbose=False, polishing=True, **accuracy)
        return np.array(solver.solve().x)

    return run
