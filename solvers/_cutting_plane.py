"""The cutting plane model of the objective, and its minimum by one linear program that starts warm.

    min theta   such that   theta >= c_j'd  (j = 1..J),   1'd = 1,   d >= 0

An SVM solved at any weights gives feasible dual variables a and with them the cut ``J(d) >= 1'a - 1/2 d's(a)``.
Because the weights d sum to one, that is ``c'd`` with one number per kernel, ``c = 1'a - s/2``. The cuts are valid
however rough the SVM was, as long as the intercept is the actual ``1'a``. Losses other than the hinge have another
intercept, their own part of the dual objective, and the same cuts.

Whatever nonnegative multipliers w of the cuts, summing to one, ``min_k (w'c)_k`` is a lower bound of the model and so
of the objective (weak duality on the simplex): that, not the linear program's own word, is what is reported as theta.

Reference: Sonnenburg, Rätsch, Schäfer, Schölkopf, Large Scale Multiple Kernel Learning, JMLR 7 (2006), section 2.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mklviz.context import spending, uninterrupted
from mklviz.contract import Array
from mklviz.errors import SolverError
from mklviz.inner.averaging import Proof, SvmPoint, cut_of
from mklviz.inner.matrix_game import MatrixGame
from mklviz.lazy import Later

optimize = Later("scipy.optimize")

_TOLERANCE = 1e-9  # of the linear program, in units of its scaled rows
_EXACT = 1e-10  # difference of vertex and multipliers about the minimum, relative to the largest entry of a cut
_KEPT_AT_LEAST = 100  # rows below which nothing is purged
_DUALS_MEMORY = 2**28  # bytes of SVM solutions kept: bounds from later ones hold as before, but nothing shows it


class ModelMinimum(NamedTuple):
    """Minimum of the model: `theta`, the vertex `weights` (m,) where it lies, and the cuts' `multipliers` (J,)."""

    theta: float
    weights: Array
    multipliers: Array


class CuttingPlaneModel:
    """Piecewise linear lower model ``max_j c_j'd`` of the objective on the simplex.

    The linear program is solved again from the basis of the last minimum by the dual simplex method, for which a new
    row is the natural change. Where rounding keeps that method (`mklviz.inner.matrix_game`) from the minimum, HiGHS
    is asked, as SciPy has it: the same cuts in the same order give the same vertex, ties included.

    `cuts` (J, m): c_j, oldest first; `extremes` (J, 2): their least and largest entries; `purge`: keep the model small
    as shogun does: with more than ``max(100, 2 * binding)`` rows, each minimization deletes the row of largest slack
    among those with multiplier zero; `theta`: the highest lower bound that `minimize` has proved, -inf before; `proof`:
    what proves it, where the solutions behind the cuts are known and take less than 256 MB.
    """

    def __init__(self, m: int, purge: bool = False) -> None:
        self.m, self.purge = m, purge
        self.cuts, self.extremes = np.empty((0, m)), np.empty((0, 2))
        self.theta = -np.inf
        self.proof: Proof | None = None
        self._duals: list[Array | None] = []
        self._kept = 0
        self._game = MatrixGame()

    def __len__(self) -> int:
        return len(self.cuts)

    def learn(self, point: SvmPoint) -> None:
        """Add the cut of a solved point, and keep its dual variables for what they may prove."""
        self.add(cut_of(point))
        self._kept += point.signed.nbytes
        if self._kept <= _DUALS_MEMORY:
            self._duals[-1] = point.signed

    def add(self, cut: Array) -> None:
        """Add the cut ``theta >= cut'd``; `cut` has one number per kernel."""
        if cut.shape != (self.m,) or not np.isfinite(cut).all():
            raise SolverError(
                f"A cut needs {self.m} finite numbers, one per kernel; this one has shape {cut.shape} and "
                f"{int(np.sum(~np.isfinite(cut)))} that are not finite. Look for huge or missing values in the kernels."
            )
        self.cuts = np.vstack([self.cuts, cut])
        self.extremes = np.vstack([self.extremes, (cut.min(), cut.max())])
        self._duals.append(None)

    def value(self, d: Array) -> float:
        """Return the model's value ``max_j c_j'd`` at weights `d`."""
        support = np.flatnonzero(d)
        return float(np.max(self.cuts[:, support] @ d[support]))

    def bound(self, multipliers: Array) -> float:
        """Return the lower bound ``min_k (w'c)_k`` that nonnegative `multipliers` (J,) prove; -inf if all are zero."""
        total = float(multipliers.sum())
        rows = np.flatnonzero(multipliers)
        return float(np.min((multipliers[rows] / total) @ self.cuts[rows])) if total > 0 else -np.inf

    def proof_by(self, multipliers: Array, weights: Array) -> Proof | None:
        """Return what nonnegative `multipliers` (J,) prove; None if all are zero or a solution is not known."""
        rows = np.flatnonzero(multipliers)
        duals = [dual for dual in (self._duals[row] for row in rows) if dual is not None]
        if not 0 < len(rows) == len(duals):
            return None
        w = multipliers[rows] / float(multipliers.sum())
        cut = w @ self.cuts[rows]
        return Proof(float(np.min(cut)), np.tensordot(w, np.array(duals), 1), weights, cut)

    @spending("subproblem")
    def minimize(self) -> ModelMinimum:
        """Minimize the model over the simplex.

        theta never decreases from call to call. Raises `SolverError` if the linear program finds no optimum.
        """
        if not len(self):
            raise SolverError("The cutting plane model has no cut yet; add one before minimizing it.")
        result = self._play() or self.ask_highs()
        if self.purge:
            self._purge(result)
        return result

    def _play(self) -> ModelMinimum | None:
        """Solve from the last basis; None where rounding is in the way."""
        units = np.abs(self.extremes).max(axis=1)
        units[units == 0.0] = 1.0
        solution = self._game.solve(self.cuts, units)
        result = None if solution is None else self._agreed(*solution, _EXACT * float(units.max()))
        if result is None:
            self._game = MatrixGame()
        return result

    def _agreed(self, d: Array, multipliers: Array, difference: float) -> ModelMinimum | None:
        """Return the minimum unless vertex and multipliers differ by more than `difference` about it."""
        d, multipliers = np.maximum(d, 0.0), np.maximum(multipliers, 0.0)
        if not (d.sum() > 0.0 and multipliers.sum() > 0.0):
            return None
        d /= d.sum()
        multipliers /= multipliers.sum()
        proved = self.bound(multipliers)
        if not self.value(d) - proved <= difference:
            return None
        if proved > self.theta:
            self.theta, self.proof = proved, self.proof_by(multipliers, d)
        return ModelMinimum(self.theta, d, multipliers)

    def ask_highs(self) -> ModelMinimum:
        """Return the minimum as HiGHS finds it, from rows scaled to maximum one; raises as `minimize` does."""
        scales = np.abs(self.extremes).max(axis=1)
        scales[scales == 0.0] = 1.0
        unit = float(scales[0])  # of theta, the last column
        rows = np.column_stack([self.cuts / scales[:, None], -unit / scales])
        ones = np.append(np.ones(self.m), 0.0)
        finest = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), _TOLERANCE)
        asked = {
            "c": 1.0 - ones,
            "A_ub": rows,
            "b_ub": np.zeros(len(rows)),
            "A_eq": ones[None],
            "b_eq": [1.0],
            "bounds": [*[(0.0, None)] * self.m, (None, None)],
            "method": "highs-ds",
            "options": {**finest, "presolve": False},
        }
        answer = uninterrupted(lambda: optimize.linprog(**asked))
        result, reported = None, str(answer.message)
        if answer.status == 0:
            reported = "a vertex and multipliers that differ"
            result = self._agreed(answer.x[:-1], -answer.ineqlin.marginals / scales, 1e-6 * float(scales.max()))
        if result is None:
            raise SolverError(
                f"The linear program over {len(self)} cuts and {self.m} kernels could not be solved (HiGHS reports"
                f" {reported}). A smaller C, normalized kernels or a tighter SVM tolerance usually help."
            )
        return result

    def _purge(self, at: ModelMinimum) -> None:
        """Delete the row of largest slack among those without multiplier, if there are many (shogun's rule)."""
        idle = at.multipliers <= 0.0
        if len(self) <= max(_KEPT_AT_LEAST, 2 * int(np.sum(~idle))):
            return
        slack = np.where(idle, at.theta - self.cuts @ at.weights, -np.inf)
        row = int(np.argmax(slack))
        self.cuts, self.extremes = (np.delete(kept, row, axis=0) for kept in (self.cuts, self.extremes))
        del self._duals[row]
        self._game.forget(row)
