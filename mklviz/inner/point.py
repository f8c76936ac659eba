"""The inner problem solved at one d: its value, its gradient, and what they certify."""

from __future__ import annotations

import numpy as np

from mklviz.cached import cached_property
from mklviz.contract import Array
from mklviz.problem import Problem
from mklviz.problem.bounds import relative_gap

__all__ = ["SvmPoint"]


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
