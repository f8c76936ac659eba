"""The inner problem solved at one d: its value, its gradient, and what they certify."""

from __future__ import annotations

import numpy as np

from mklviz.contract import Array
from mklviz.lazy import cached_property
from mklviz.problem import Problem
from mklviz.problem.bounds import relative_gap
from mklviz.problem.rounding import worsened

__all__ = ["SvmPoint", "stretched"]

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
