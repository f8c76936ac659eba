"""Lower bounds from several SVM solutions at once: what an average of dual variables proves.

    abar = sum_j w_j a_j,   w >= 0, 1'w = 1;        D(abar) >= min_k (w'c)_k,   c_j = D_loss(a_j) - s(a_j)/2

on the simplex, as every s_k is convex. At a vertex or a kink of J an SVM has many solutions or nearly so, and the one
that the solver returns may prove far less than their average. The best w over the last cuts is a small matrix game,
solved from its last basis.

With prices p_k per unit of weight D is D_loss as long as no s_k is above 2 p_k. An optimum pays at most what the zero
function costs for its weights, Z. With x_k = p_k d_k / Z, and what is left of Z in a column of its own, the same game
is over x, and its w, which may fall back on zero dual variables in the first row, proves a bound again:

    c_jk = D_loss(a_j) + Z (1 - s_jk / (2 p_k)),   c_j0 = D_loss(a_j);        c_0k = D_loss(0) + Z,   c_00 = D_loss(0)
    D(t abar) = D_loss(t abar),   t^-2 = max(1, max_k (w's)_k / (2 p_k))

Such a point also holds up methods that follow the gradient of the one solution at hand: it may point along no way down
although the average promises one. Then the solution at the closest trial, whose slopes led up, joins the average, and
the next direction leads to the weights x at which all of them promise least, down by the averaged gradient g:
g'(x - d) <= min_k (w'c)_k - w'c d, and alike with prices. Every trial that fails cuts such a promise off, as in SILP's
model.

Elsewhere the solutions prove as much alone: with l_p balls, l_p, elastic net and entropy penalties the best average of
thirty saved none of 20 to 200 steps on heart, or one.

Reference: the aggregation of subgradients in bundle methods, Lemaréchal, Nemirovskii, Nesterov, New variants of bundle
methods, Mathematical Programming 69 (1995).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklviz.context import spending
from mklviz.contract import Array
from mklviz.inner.matrix_game import MatrixGame
from mklviz.lazy import cached_property
from mklviz.problem import Problem
from mklviz.problem.proving import EPS, may_matter, relative_gap
from mklviz.problem.rounding import worsened

# The inner problem solved at one d: its value, its gradient, and what they certify.

FARTHEST = 0.1  # by which dual variables are stretched at most
HALVINGS = 12  # of the exponent of a stretch, which is found to a hundredth


class SvmPoint:
    """The inner problem solved at one d.

    Attributes
    ----------
    weights : (m,) array
        d.
    signed : (n,) array, or (n, c) with c classes
        Signed dual variables beta, ``y * a`` for classification.
    dual : like `signed`
        Dual variables a.
    value : float
        ``D_loss(beta) - 1/2 beta'K_d beta``: J(d) from below, exact as the tolerance goes to zero.
    scores : like `signed`
        ``K_d beta``.
    tol : float
        Tolerance the inner problem was solved to.
    s : (m,) array
        ``s_k = beta'K_k beta``, computed when first asked for unless known; only where kernels are added.
    """

    def __init__(
        self,
        problem: Problem,
        weights: Array,
        signed: Array,
        scores: Array,
        value: float,
        tol: float,
        s: Array | None = None,
    ) -> None:
        self._problem = problem
        self.weights = weights
        self.signed = signed
        self.value = value
        self.scores = scores
        self.tol = tol
        if s is not None:
            self.gradient = -0.5 * s

    @property
    def dual(self) -> Array:
        return self._problem.loss.dual_from_signed(self.signed, self._problem.y)

    @property
    def loss_value(self) -> float:
        """D_loss(beta), the part of the dual objective that does not depend on d: 1'a with the hinge loss."""
        return self._problem.loss.dual_value(self.dual, self._problem.y)

    @cached_property
    def s(self) -> Array:
        return -2.0 * self.gradient

    @cached_property
    def gradient(self) -> Array:
        """Gradient of J at d (Danskin)."""
        return self._problem.bank.slopes(self.weights, self.signed)

    @cached_property
    def primal(self) -> float:
        """The certified primal value P(d, a)."""
        quad = None if self._problem.regularizer.weighted else self.s
        return self._problem.primal(self.weights, self.scores, float(np.vdot(self.signed, self.scores)), quad)

    @cached_property
    def lower_bound(self) -> float:
        """The certified dual value D(a), nan where the problem is not convex."""
        return self._problem.lower_bound(self.dual, self.s if self._problem.convex else None)

    @property
    def error(self) -> float:
        """How far the inner problem is from solved: its primal value at d less its dual value."""
        loss = self._problem.loss.primal(self.scores, self._problem.y)[0]
        return 0.5 * float(np.vdot(self.signed, self.scores)) + loss - self.value

    @property
    def gap(self) -> float:
        """Relative certified gap of this point."""
        return relative_gap(self.primal, self.lower_bound)


def stretched(problem: Problem, point: SvmPoint) -> SvmPoint:
    """Return `point` with dual variables t beta that keep all margins in spite of rounding, where a t does that.

    A large C charges for what is short of a margin without bound, were it the SVM's tolerance or rounding. The function
    t f is not short, for t^2 of its norm, and as D is flat at an SVM's solution, its bound falls by (t - 1)^2 only.
    """
    loss, y = problem.loss, problem.y
    shares = np.abs(loss.shares(point.dual))
    if loss.dual_sum(y):
        return point  # no multiple of them has that sum
    room = float((shares if shares.ndim == 1 else shares.sum(axis=1)).max()) * (1.0 + FARTHEST) < 1.0
    if not room or loss.primal((1.0 + FARTHEST) * point.scores, y)[0] > 0.0:
        return point
    image = problem.bank.apply(point.weights, point.signed)  # those at hand were brought up to date step by step
    terms = 2.0 * problem.bank.apply(point.weights, np.abs(point.signed))  # as sums in another order may differ by both
    low, high = np.log10(np.finfo(float).eps), np.log10(FARTHEST)
    for _ in range(HALVINGS):
        t = 1.0 + 10.0 ** (0.5 * (low + high))
        decisions = t * image + loss.primal(t * image, y)[1]
        short = loss.value(worsened(problem, point.weights, decisions, t * terms), y) > 0.0
        low, high = (0.5 * (low + high), high) if short else (low, 0.5 * (low + high))
    t = 1.0 + 10.0**high
    signed, scores = t * point.signed, t * image
    value = loss.dual_value(t * point.dual, y) - 0.5 * float(np.vdot(signed, scores))
    return SvmPoint(problem, point.weights, signed, scores, value, point.tol)


KEPT = 30  # solutions averaged
MEMORY = 2**26  # bytes that their cuts may take: fewer are kept of a million kernels
FEWEST = 4  # solutions below which averaging is not worth its while
ROUNDING = 1e-12  # of the objective, below which no descent is expected


def cut_of(point: SvmPoint) -> Array:
    """Return the cut ``c = D_loss - s/2`` (m,), ``1'a - s/2`` with the hinge loss, that the solved `point` gives."""
    return point.loss_value - 0.5 * point.s


@dataclass(frozen=True)
class Proof:
    """A lower bound and what proves it."""

    bound: float  # at most D(signed)
    signed: Array  # (n,), or (n, c) with c classes: feasible signed dual variables
    weights: Array  # (m,): where the cuts promise no less than the bound
    # (m,): the average cut that the bound comes from, where it does: no s_k(signed) is above 2 (D_loss(signed) - c_k)
    cut: Array | None = None

    def settled(self, problem: Problem) -> Proof:
        """Return the proof, its bound computed anew where rounding in s may matter."""
        if self.cut is None:
            return self
        dual = problem.loss.dual_from_signed(self.signed, problem.y)
        quad = 2.0 * (problem.loss.dual_value(dual, problem.y) - self.cut)
        if not may_matter(problem, dual, np.maximum(quad, 0.0)):
            return self
        return Proof(problem.lower_bound(dual), self.signed, self.weights)


class RecentDuals:
    """The last SVM solutions of a run on the simplex or with linear prices, and the best that their averages prove."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        priced = problem.regularizer.linear and problem.convex
        most = min(KEPT, MEMORY // (8 * max(problem.m, problem.n)))
        self._most = most if (problem.regularizer.on_simplex or priced) and most >= FEWEST else 0
        self._market = _Market(problem) if priced and self._most else None
        self._first = 0 if self._market is None else 1  # row of the oldest; above it the zero dual variables
        self._added, self._count, rows = 0, self._first, self._most + self._first
        self._cuts, self._units = np.zeros((rows, problem.m + self._first)), np.zeros(rows)
        self._signed = np.zeros((rows, *problem.loss.dual_shape(problem.y)))
        self._newest: SvmPoint | None = None
        self._game = MatrixGame()
        if self._market is not None:
            self._cuts[0] = self._market.cut(self._market.at_zero, np.zeros(problem.m))
            self._units[0] = float(np.abs(self._cuts[0]).max()) or 1.0

    def add(self, point: SvmPoint) -> None:
        """Take a solution into the average, in place of the oldest where there are many."""
        if not self._most or point is self._newest:
            return
        self._newest = point
        at = self._first + self._added % self._most
        self._added += 1
        if at in self._game.rows:
            self._game = MatrixGame()  # its basis goes with the oldest
        cut = cut_of(point) if self._market is None else self._market.cut(point.loss_value, point.s)
        self._cuts[at], self._units[at] = cut, float(np.abs(cut).max()) or 1.0
        self._signed[at] = point.signed
        self._count = max(self._count, at + 1)

    @spending("other")
    def best(self) -> Proof | None:
        """Return what the best average proves; None where there is but one solution, or none is averaged."""
        if self._count < self._first + 2:
            return None
        cuts, units = self._cuts[: self._count], self._units[: self._count]
        average = self._game.solve(cuts, units) or self._game.solve(cuts, units)  # from the last basis, or else anew
        if average is None:
            return None
        d, w = (np.maximum(part, 0.0) for part in average)
        rows = np.flatnonzero(w)
        if not len(rows) or not d.any():
            return None
        w = w[rows] / w[rows].sum()
        signed, promised = np.tensordot(w, self._signed[rows], 1), w @ cuts[rows]
        if self._market is None:
            rounding = EPS * self._problem.n * float(w @ units[rows])
            return Proof(float(promised.min()) - rounding, signed, d / d.sum(), promised)
        share = self._market.share(promised)
        signed *= share
        loss, y = self._problem.loss, self._problem.y
        bound = loss.dual_value(loss.dual_from_signed(signed, y), y)
        cut = bound - 0.5 * share**2 * self._market.quad(promised)
        return Proof(bound, signed, self._market.weights(d / d.sum()), cut)


class _Market:
    """Weights with linear prices as the shares of a game, see above. `at_zero`: D_loss(0)."""

    def __init__(self, problem: Problem) -> None:
        loss, y = problem.loss, problem.y
        self.at_zero = loss.dual_value(np.zeros(loss.dual_shape(y)), y)
        self._most = problem.zero_objective - self.at_zero or 1.0  # Z, what may be paid
        self._prices = problem.regularizer.gradient(np.zeros(problem.m))

    def cut(self, loss_value: float, s: Array) -> Array:
        """Return what dual variables say of the shares, (1 + m,)."""
        return np.append(loss_value, loss_value + self._most * (1.0 - 0.5 * s / self._prices))

    def quad(self, promised: Array) -> Array:
        """Return s (m,), from the average cut."""
        return np.asarray(2.0 * self._prices * np.maximum(1.0 - (promised[1:] - promised[0]) / self._most, 0.0))

    def share(self, promised: Array) -> float:
        """Return t, from the average cut."""
        worst = 1.0 - float((promised[1:] - promised[0]).min()) / self._most
        return float(1.0 / np.sqrt(max(worst, 1.0)))

    def weights(self, shares: Array) -> Array:
        """Return d, (m,)."""
        return np.asarray(self._most * shares[1:] / self._prices)


class Kink:
    """Directions out of a point that its own gradient does not lead out of."""

    def __init__(self, recent: RecentDuals) -> None:
        self._recent = recent
        self._tried = 0

    def left(self) -> None:
        """Learn that a step has succeeded."""
        self._tried = 0

    def promise(self, value: float, trial: SvmPoint) -> Proof | None:
        """Return where solutions promise less than the `value` of J + r here, once they know that of the closest trial.

        None where there is nothing to hope for, or as many promises failed as there are solutions in the average.
        """
        self._recent.add(trial)
        proof = self._recent.best()
        if proof is None or self._tried >= KEPT or not value - proof.bound > ROUNDING * abs(value):
            return None
        self._tried += 1
        return proof
