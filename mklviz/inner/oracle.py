"""The value J(d) = max_beta D_loss(beta) - 1/2 beta'K_d beta and its gradient, which every wrapper method asks for.

Where kernels are added, beta'K_d beta = d's and the gradient is -s/2; the bank knows it for their products.

With the hinge loss the inner problem is an SVM, and the names here say so; the other losses have inner problems of
their own (`mklviz.inner.choice`). One oracle counts the solves of one run, starts each from the last dual variables,
and turns a solved point into a certified iterate.

Where a method allows it and forming K_d takes most of the time, it is formed in single precision, K, and a point is
what its SVM finds: feasible dual variables, which are as good as any. Sentences about them use K_d itself:
scores K_d beta, values and bounds are those of double precision, for the price of a few products with vectors. The SVM
of K misses that of K_d by what its primal value at beta less its dual one has grown; where that is more than a
thousandth of the gap known so far, the run goes over to double precision for good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import param

from mklviz.context import checkpoint, slices, spending
from mklviz.contract import End, Facts, Iterate
from mklviz.errors import UnsupportedProblem
from mklviz.inner.averaging import Proof, RecentDuals, SvmPoint, stretched
from mklviz.inner.choice import WHERE, inner_solver, is_solved, solved_losses
from mklviz.inner.svm import BoxInner
from mklviz.inner.warm import start_duals, start_weights, usual_weights
from mklviz.kernels import FactorBank, RowBank
from mklviz.problem import Problem
from mklviz.typing import Array

SVM_TOLERANCE = 1e-4
FINEST = 1e-12  # SVM tolerance below which rounding decides
ROUNDED_SHARE = 1e-3  # of the gap that forming K_d in single precision may add


def tolerance_option(allowed: str, default: float = SVM_TOLERANCE, most: float = 1e-1) -> Any:
    """Return the option `svm_tolerance` of a solver; `allowed`: when so much violation is, and what follows."""
    doc = f"Violation of the SVM's optimality conditions allowed{allowed}"
    return param.Number(default=default, bounds=(1e-12, most), label="SVM tolerance", doc=doc)


class SvmOracle:
    """Solves the SVM, or what the loss asks for instead, at given kernel weights, warm-started.

    Parameters
    ----------
    problem : Problem
    tol : float
        Tolerance used where `solve` is not given one.
    rounding : bool
        Whether K_d may be formed in single precision where that is faster: for methods that turn their points into
        iterates by `iterate`, which learns the gap from them.

    Attributes
    ----------
    recent : RecentDuals
        The last solutions that became iterates.
    rounded : bool
        Whether `kernel` is right to single precision only. It goes over to double as the gap asks for it.
    best_bound : float
        The highest lower bound of all iterates.
    proof : callable
        ``proof(point)`` returns what else than the point's own dual variables proves a lower bound: by default an
        average of the last solutions. Methods with a model of their own put that in its place.
    """

    def __init__(self, problem: Problem, tol: float, rounding: bool = False) -> None:
        self.problem = problem
        self.tol = tol
        self.solves = 0
        self.recent = RecentDuals(problem)
        self._known: Proof | None = None  # by the certificate of a warm start
        self.proof: Callable[[SvmPoint], Proof | None] = self._average
        self._inner = inner_solver(problem.loss, problem.y, problem.bank.access)
        self._kernel = np.empty((problem.n, problem.n) if problem.bank.access == "matrix" else (0, 0))
        self._formed_at: Array | None = None  # weights of `_kernel`, where it is of double precision and not written to
        # the other losses factor K_d, which takes longer than forming it and needs it positive definite
        bank, boxed = problem.bank, isinstance(self._inner, BoxInner)
        self.rounded = rounding and boxed and problem.convex and bank.rounding_pays
        self._least_objective, self.best_bound = np.inf, -np.inf

    def begin(self, start: Iterate | None, usual: Array | None = None) -> SvmPoint:
        """Return the point where a method begins.

        Without `start` that is at the weights `usual` (m,), equal ones by default; with one, at its weights and at the
        best of its dual variables, made to fit this problem.
        """
        if start is None:
            return self.solve(usual_weights(self.problem) if usual is None else usual)
        here = start_weights(self.problem, start)
        rounded, self.rounded = self.rounded, False  # the start may have been solved, and its gap be small
        loss, y = self.problem.loss, self.problem.y
        bank = self.problem.bank
        if bank.access == "matrix":
            self._kernel_at(here)

        def value(signed: Array) -> float:
            image = self._kernel @ signed if bank.access == "matrix" else bank.apply(here, signed)
            squared_norm = float((signed * image).sum())
            return loss.dual_value(loss.dual_from_signed(signed, y), y) - 0.5 * squared_norm

        if start.certificate is not None and self.problem.convex:  # it may prove as much here
            proving = max(start_duals(self.problem, replace(start, dual=start.certificate)), key=value)
            known = SvmPoint(self.problem, here, proving, np.empty(0), value(proving), self.tol)
            self.recent.add(known)
            self._known = Proof(known.lower_bound, proving, here)
        point = self.solve(here, start=max(start_duals(self.problem, start), key=value))
        self.rounded = rounded
        return point

    def solve(self, weights: Array, tol: float | None = None, start: Array | None = None) -> SvmPoint:
        """Return the inner problem's solution at `weights` (m,), started from the last one or from signed duals."""
        checkpoint()
        accuracy = self.tol if tol is None else tol
        if start is not None:
            self._inner.set_dual(start)
        point = self._solved(weights, accuracy, start is not None)
        if not self.rounded:
            return stretched(self.problem, point)
        exact = self._restated(point)
        if exact.error - point.error <= ROUNDED_SHARE * self._gap_with(exact):
            return stretched(self.problem, exact)
        self.rounded = False
        return stretched(self.problem, self._solved(weights, accuracy, True))

    def _solved(self, weights: Array, accuracy: float, started: bool) -> SvmPoint:
        kernel, inner = self._kernel_at(weights), self._inner
        with spending("svm"):
            inner.solve(kernel, accuracy, started or self.solves > 0)
        self.solves += 1
        point = SvmPoint(self.problem, weights, inner.signed.copy(), inner.scores.copy(), inner.value, accuracy)
        projected, remember = getattr(inner, "projected", None), getattr(self.problem.bank, "remember", None)
        if projected and remember and weights.all():  # of factors, all of whose columns were read
            remember(point.signed, projected())
        return point

    def _gap_with(self, point: SvmPoint) -> float:
        """Return P - D of all iterates, that of `point` where there is none yet."""
        gap = self._least_objective - self.best_bound
        return gap if gap < np.inf else point.primal - point.lower_bound

    def _restated(self, point: SvmPoint) -> SvmPoint:
        """Return what K_d in double precision says of the dual variables of `point`."""
        scores = self.problem.bank.apply(point.weights, point.signed)
        value = point.loss_value - 0.5 * float(np.vdot(point.signed, scores))
        return SvmPoint(self.problem, point.weights, point.signed, scores, value, point.tol)

    def tightened(self, point: SvmPoint) -> SvmPoint | None:
        """Return `point` solved to a tenth of the tolerance, which holds from now on.

        None where its error makes up less than a tenth of what is known of the gap, or rounding decides.
        """
        proof = self.recent.best()
        bound = point.lower_bound if proof is None else max(proof.bound, point.lower_bound)
        if not point.error > 0.1 * (point.primal - bound) or self.tol <= FINEST:
            return None
        self.tol = max(0.1 * self.tol, FINEST)
        return self.solve(point.weights)

    @spending("combine")
    def _kernel_at(self, weights: Array) -> Any:
        """Return K_d as the inner solver takes it."""
        bank = self.problem.bank
        if bank.access == "rows":
            return cast(RowBank, bank).kernel(weights)
        if bank.access == "factors":
            return cast(FactorBank, bank).factors(weights)
        if not self.rounded and self._formed_at is not None and np.array_equal(weights, self._formed_at):
            return self._kernel  # a finer tolerance is asked for, or a start has been looked at
        self._formed_at = None
        if self.rounded:
            return bank.combine_rounded(weights, out=self._kernel)
        bank.combine(weights, out=self._kernel)
        self._formed_at = weights.copy() if isinstance(self._inner, BoxInner) else None
        return self._kernel

    @property
    def kernel(self) -> Array:
        """K_d of the last solve, (n, n), where the bank forms it, see `rounded`; overwritten by the next."""
        return self._kernel

    def _average(self, point: SvmPoint) -> Proof | None:
        self.recent.add(point)
        return self.recent.best()

    def iterate(self, point: SvmPoint, step: float, facts: Facts | None = None, end: End | None = None) -> Iterate:
        """Return the certified iterate at `point`, with what the method and the oracle know about it.

        Its lower bound is the best of the point's own, what `proof` has, and what the start's certificate proves.
        """
        problem = self.problem
        proofs = [each for each in (self.proof(point), self._known) if each is not None]
        better = [each.settled(problem) for each in proofs if each.bound > point.lower_bound]
        proof = max(better, key=lambda each: each.bound, default=None)
        if proof is not None and not proof.bound > point.lower_bound:
            proof = None
        bound = proof.bound if proof else point.lower_bound
        self._least_objective = min(self._least_objective, point.primal)
        self.best_bound = max(self.best_bound, bound)
        return Iterate(
            weights=point.weights.copy(),
            dual=point.dual.copy(),
            objective=point.primal,
            lower_bound=bound,
            step=step,
            svm_solves=self.solves,
            facts=replace(
                Facts() if facts is None else facts,
                svm_tolerance=point.tol,
                kkt_residual=problem.regularizer.kkt_residual(point.weights, point.gradient),
                approximation_error=problem.bank.error(point.weights)[1],
            ),
            certificate=problem.loss.dual_from_signed(proof.signed, problem.y).copy() if proof else None,
            dual_bound=point.lower_bound if proof else None,
            end=end,
        )


def needs_hinge(problem: Problem, method: str) -> str:
    """Return "" or why `method`, which works on the SVM's own structure, cannot follow."""
    if not problem.loss.svm:
        return f"{method} works on support vector machines, so it needs the hinge loss, not {_the_loss(problem)}."
    return "" if problem.loss.bias else f"{method} needs a hinge loss with bias."


def needs_known_loss(problem: Problem, method: str) -> str:
    """Return "" or why `method`, which solves an inner problem at every d, cannot follow."""
    if is_solved(problem.loss, problem.bank.access):
        return ""
    known = ", ".join(loss.label for loss in solved_losses(problem.bank.access))
    where = WHERE[problem.bank.access]
    return f"{method} can solve its inner problems{where} for the losses {known}, not for {_the_loss(problem)}."


def needs_matrix(problem: Problem, method: str) -> str:
    """Return "" or why `method`, which works on the kernel matrix itself, cannot follow."""
    if problem.bank.access == "matrix":
        return ""
    return (
        f"{method} works on the whole {problem.n:,} x {problem.n:,} kernel matrix, which this bank"
        f" ({problem.bank.backend}) never forms: choose SPG, Level or another that solves SVMs."
    )


def needs_gradient(problem: Problem, method: str) -> str:
    """Return "" or why `method`, which follows the gradient of J + r, cannot."""
    if not getattr(problem.regularizer, "smooth", False):
        return f"{method} follows the gradient in the kernel weights, which the {problem.regularizer.label} has not."
    return needs_known_loss(problem, method)


def _the_loss(problem: Problem) -> str:
    return f"the {problem.loss.label} loss"


def refuse(reason: str) -> None:
    """Raise `UnsupportedProblem` if there is a reason."""
    if reason:
        raise UnsupportedProblem(reason)


# All kernels as one (n, n, m) array, k last: all kernels' entries for one pair of samples are neighbours.

DENSE_LIMIT = 2**30  # bytes
_BLOCK = 16  # kernels unpacked at once
_ENTRIES = 2**24  # of theirs; between two checkpoints some tenths of a second


def needs_memory(problem: Problem, method: str) -> str:
    """Return "" or, in one sentence, why `method` cannot keep every kernel of `problem` in full."""
    if problem.bank.access != "matrix":
        return needs_matrix(problem, method)
    size = 8 * problem.m * problem.n**2
    if size <= DENSE_LIMIT:
        return ""
    return (
        f"{method} keeps every kernel in full, and {problem.m:,} kernels on {problem.n:,} samples would"
        f" take {size / 2**30:.1f} GB where {DENSE_LIMIT / 2**30:g} GB are allowed."
    )


@spending("combine")
def dense_kernels(problem: Problem) -> Array:
    """Return all kernels as one (n, n, m) array."""
    n, m = problem.n, problem.m
    out = np.empty((n, n, m))
    block = min(max(_ENTRIES // n**2, 1), _BLOCK, m)
    some = np.empty((block, n, n))
    unit = np.zeros(m)
    for which in slices(m, block):
        for k in range(which.start, which.stop):
            unit[k] = 1.0
            problem.bank.combine(unit, out=some[k - which.start])
            unit[k] = 0.0
        out[:, :, which] = some[: which.stop - which.start].transpose(1, 2, 0)
    return out
