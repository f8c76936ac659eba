"""The SVM value J(d) = max_a 1'a - 1/2 d's(a) and its gradient -s/2, which every wrapper method asks for.

One oracle counts the SVM solves of one run, starts each from the last dual variables, and turns a solved point into
a certified iterate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from mklviz.contract import Array, Iterate
from mklviz.errors import UnsupportedProblem
from mklviz.problem import Hinge, Problem
from mklviz.solvers._svm import InnerSvm

SVM_TOLERANCE = 1e-4


class SvmPoint:
    """The SVM solved at one d.

    Attributes
    ----------
    weights : (m,) array
        d.
    signed : (n,) array
        Signed dual variables ``y * a``.
    dual : (n,) array
        Dual variables a.
    value : float
        ``1'a - 1/2 d's(a)``: J(d) from below, exact as the tolerance goes to zero.
    scores : (n,) array
        ``K_d (y * a)``.
    tol : float
        Tolerance the SVM was solved to.
    s : (m,) array
        ``s_k = (y * a)'K_k (y * a)``, computed when first asked for.
    """

    def __init__(
        self, problem: Problem, weights: Array, signed: Array, scores: Array, value: float, tol: float
    ) -> None:
        self._problem = problem
        self.weights = weights
        self.signed = signed
        self.value = value
        self.scores = scores
        self.tol = tol

    @property
    def dual(self) -> Array:
        return self.signed * self._problem.y

    @cached_property
    def s(self) -> Array:
        return self._problem.bank.quad(self.signed)

    @cached_property
    def gradient(self) -> Array:
        """Gradient of J at d, -s/2 (Danskin)."""
        return -0.5 * self.s

    @cached_property
    def primal(self) -> float:
        """The certified primal value P(d, a)."""
        return self._problem.primal(self.weights, self.scores, float(self.signed @ self.scores))

    @cached_property
    def lower_bound(self) -> float:
        """The certified dual value D(a)."""
        return self._problem.lower_bound(self.dual, self.s)

    @property
    def gap(self) -> float:
        """Relative certified gap of this point."""
        return (self.primal - self.lower_bound) / max(abs(self.primal), np.finfo(float).tiny)


class SvmOracle:
    """Solves the SVM at given kernel weights, warm-started.

    Parameters
    ----------
    problem : Problem
    tol : float
        SVM tolerance used where `solve` is not given one.
    checkpoint : callable
        Called before each solve and between its chunks; raises `Interrupted` to cancel.
    """

    def __init__(self, problem: Problem, tol: float, checkpoint: Callable[[], None]) -> None:
        self.problem = problem
        self.tol = tol
        self.solves = 0
        self._checkpoint = checkpoint
        self._svm = InnerSvm(problem.y, problem.loss.C)
        self._kernel = np.empty((problem.n, problem.n))

    def solve(self, weights: Array, tol: float | None = None, start: Array | None = None) -> SvmPoint:
        """Return the SVM's solution at `weights` (m,), started from the last one or from signed dual variables."""
        self._checkpoint()
        accuracy = self.tol if tol is None else tol
        if start is not None:
            self._svm.set_dual(start)
        self.problem.bank.combine(weights, out=self._kernel)
        result = self._svm.solve(self._kernel, accuracy, warm=self.solves > 0, checkpoint=self._checkpoint)
        self.solves += 1
        svm = self._svm
        return SvmPoint(self.problem, weights, svm.b.copy(), svm.y - svm.f, result.value, accuracy)

    @property
    def kernel(self) -> Array:
        """K_d of the last solve, (n, n); overwritten by the next."""
        return self._kernel

    def iterate(self, point: SvmPoint, step: float, **facts: float | str) -> Iterate:
        """Return the certified iterate at `point`."""
        return Iterate(
            weights=point.weights.copy(),
            dual=point.dual,
            objective=point.primal,
            lower_bound=point.lower_bound,
            step=step,
            svm_solves=self.solves,
            facts={
                "svm_tolerance": point.tol,
                "kkt_residual": self.problem.regularizer.kkt_residual(point.weights, point.gradient),
                **facts,
            },
        )


def needs_hinge(problem: Problem, method: str) -> str:
    """Return "" or why `method`, which solves SVMs, cannot follow."""
    if isinstance(problem.loss, Hinge):
        return ""
    return f"{method} solves support vector machines, so it needs the hinge loss, not the {problem.loss.label} loss."


def refuse(reason: str) -> None:
    """Raise `UnsupportedProblem` if there is a reason."""
    if reason:
        raise UnsupportedProblem(reason)
