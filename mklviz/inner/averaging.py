"""Lower bounds from several SVM solutions at once: what an average of dual variables proves.

    abar = sum_j w_j a_j,   w >= 0, 1'w = 1;        D(abar) >= min_k (w'c)_k,   c_j = D_loss(a_j) - s(a_j)/2

on the simplex, as every s_k is convex. At a vertex or a kink of J an SVM has many solutions or nearly so, and the one
that the solver returns may prove far less than their average. The best w over the last cuts is a small matrix game,
solved from its last basis.

Such a point also holds up methods that follow the gradient of the one solution at hand: it may point along no way down
although the average promises one. Then the solution at the closest trial, whose slopes led up, joins the average, and
the next direction leads to the weights x at which all of them promise least, down by the averaged gradient g:
g'(x - d) <= min_k (w'c)_k - w'c d. Every trial that fails cuts such a promise off, as in SILP's model.

Off the simplex the solutions prove as much alone: with l_p balls, linear, l_p, elastic net
and entropy penalties the best average of thirty saved none of 20 to 200 steps on heart, or one.

Reference: the aggregation of subgradients in bundle methods, Lemaréchal, Nemirovskii, Nesterov, New variants of bundle
methods, Mathematical Programming 69 (1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mklviz.context import spending
from mklviz.contract import Array
from mklviz.inner.matrix_game import MatrixGame
from mklviz.problem import Problem

if TYPE_CHECKING:
    from mklviz.inner.oracle import SvmPoint

__all__ = ["Kink", "Proof", "RecentDuals", "cut_of"]

KEPT = 30  # solutions averaged
MEMORY = 2**26  # bytes that their cuts may take: fewer are kept of a million kernels
FEWEST = 4  # solutions below which averaging is not worth its while
ROUNDING = 1e-12  # of the objective, below which no descent is expected


def cut_of(point: SvmPoint) -> Array:
    """Return the cut ``c = D_loss - s/2`` (m,), ``1'a - s/2`` with the hinge loss, that the solved `point` gives."""
    return point.loss_value - 0.5 * point.s


@dataclass(frozen=True)
class Proof:
    """A lower bound and what proves it.

    Attributes
    ----------
    bound : float
        At most D(signed).
    signed : (n,) array, or (n, c) with c classes
        Feasible signed dual variables.
    weights : (m,) array
        Where the cuts promise no less than the bound.
    """

    bound: float
    signed: Array
    weights: Array


class RecentDuals:
    """The last SVM solutions of a run on the simplex, and the best that an average of them proves."""

    def __init__(self, problem: Problem) -> None:
        most = min(KEPT, MEMORY // (8 * max(problem.m, problem.n)))
        self._most = most if problem.regularizer.on_simplex and most >= FEWEST else 0
        self._cuts, self._units = np.empty((self._most, problem.m)), np.empty(self._most)
        self._signed = np.empty((self._most, *problem.loss.dual_shape(problem.y)))
        self._count = 0
        self._newest: SvmPoint | None = None
        self._game = MatrixGame()

    def add(self, point: SvmPoint) -> None:
        """Take a solution into the average, in place of the oldest where there are many."""
        if not self._most or point is self._newest:
            return
        self._newest = point
        if self._count == self._most:
            for kept in (self._cuts, self._units, self._signed):
                kept[:-1] = kept[1:].copy()
            self._game.forget(0)
            self._count -= 1
        cut = cut_of(point)
        at = self._count
        self._cuts[at], self._units[at] = cut, float(np.abs(cut).max()) or 1.0
        self._signed[at] = point.signed
        self._count += 1

    @spending("other")
    def best(self) -> Proof | None:
        """Return what the best average proves; None where there is but one solution, or none is averaged."""
        if self._count < 2:
            return None
        cuts, units = self._cuts[: self._count], self._units[: self._count]
        found = self._solve(cuts, units)
        if found is None:
            return None
        d, w = (np.maximum(part, 0.0) for part in found)
        rows = np.flatnonzero(w)
        if not len(rows) or not d.any():
            return None
        w = w[rows] / w[rows].sum()
        return Proof(float((w @ cuts[rows]).min()), np.tensordot(w, self._signed[rows], 1), d / d.sum())

    def _solve(self, cuts: Array, units: Array) -> tuple[Array, Array] | None:
        """Return weights and multipliers of the game, from its last basis or else anew."""
        for _ in range(2):
            try:
                found = self._game.solve(cuts, units)
            except np.linalg.LinAlgError:
                found = None
            if found is not None:
                return found
            self._game = MatrixGame()
        return None


class Kink:
    """Directions out of a point that its own gradient does not lead out of."""

    def __init__(self, recent: RecentDuals) -> None:
        self._recent = recent
        self._tried = 0

    def left(self) -> None:
        """Learn that a step has succeeded."""
        self._tried = 0

    def promise(self, here: SvmPoint, trial: SvmPoint) -> Proof | None:
        """Return where solutions promise less than J at `here`, once they know that of the closest `trial`.

        None where there is nothing to hope for, or as many promises failed as there are solutions in the average.
        """
        self._recent.add(trial)
        proof = self._recent.best()
        if proof is None or self._tried >= KEPT or not here.value - proof.bound > ROUNDING * abs(here.value):
            return None
        self._tried += 1
        return proof
