"""OGAProx: steps in weights and dual variables together, towards a saddle point, and no SVM at all.

    L(d, a) = 1'a - 1/2 d's(a),      a in the SVM's box with y'a = 0,   d in the simplex

    a+ = P_box(a + sigma (2 grad_a L(d, a) - grad_a L(d-, a-)))       optimistic: the slope, and how it has changed
    d+ = P_simplex(d + tau s(a+) / 2)

d- and a- are those of the step before. All that a step needs of the kernels is one product of each with ``y∘a``: the
slopes of both players follow from these. So methods are compared by passes over all kernels.

The paper bounds the error of the average of all steps, which falls like one over their number. Last steps may circle
round the saddle point, as they do where steps in the weights are too long; with steps in the balance below they were
ahead of the average nearly always, by far, and beginning averages anew gained nothing. An iterate is whichever of the
two has the smaller gap.

sigma is half of one over the largest eigenvalue of K_d, and tau is such that sigma tau ||ds/da||^2 / 4 is one half:
both are found anew for every iterate, which is ten steps. Averages of the products with the kernels are the products
with the averages, so the certificate costs no pass.

References: Boţ, Csetnek, Sedlmayer, An accelerated minimax algorithm for convex-concave saddle point problems with
nonsmooth coupling function, Computational Optimization and Applications 86 (2023), algorithm and section 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import param

from mklviz.context import checkpoint, spending
from mklviz.contract import Array, Facts, Iterate, Solver
from mklviz.inner.conjugates import onto_balanced_box
from mklviz.inner.oracle import dense_kernels, needs_hinge, needs_memory, refuse
from mklviz.inner.warm import start_duals, start_weights
from mklviz.numbers import counted
from mklviz.problem import Problem
from mklviz.problem.proving import relative_gap
from mklviz.solvers._words import needs_simplex, objective_change, start_sentence

STEPS = 10  # of one iterate
POWERS = 12  # multiplications by which the largest eigenvalue is estimated
SAFE = 1.1  # times the estimate, which lies below


@dataclass(frozen=True, kw_only=True)
class OgaProxFacts(Facts):
    """What is known of the steps of an iterate."""

    kernel_passes: float = math.nan  # passes over all kernels so far
    averaged: float = math.nan  # steps in the average
    shown: str = ""  # "average" or "last": what the iterate is, whichever has the smaller gap
    # relative duality gaps of the two
    average_gap: float = math.nan
    last_gap: float = math.nan


class OgaProx(Solver):
    """Optimistic gradient and proximal steps.

    It solves no SVM: ``svm_solves`` stays 0, and the fact `kernel_passes` counts what a step costs. The step of an
    iterate is sigma.
    """

    name_ = "ogaprox"
    label = "OGAProx"
    dash = "dotted"
    paper = (
        "Boţ, Csetnek, Sedlmayer, An accelerated minimax algorithm for convex-concave saddle point problems with"
        " nonsmooth coupling function, Computational Optimization and Applications 86, 2023"
    )

    balance = param.Number(
        default=1.0,
        bounds=(1e-3, 1e3),
        softbounds=(0.01, 10.0),
        label="Balance of steps",
        doc="Step in the weights against that in the dual variables, as a multiple of the usual one.",
    )

    @param.depends("balance", watch=True, on_init=True)
    def _show_balance(self) -> None:
        """Carry an unusual balance in the name, so that runs with several can race each other."""
        self._call(self.label if self.balance == 1.0 else f"{self.label}, balance {self.balance:g}")

    def supports(self, problem: Problem) -> str:
        """Return "" for SVMs with intercept, weights on the simplex and kernels that fit into memory."""
        unfit = needs_simplex(problem, self.label) or needs_hinge(problem, self.label)
        return unfit or needs_memory(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one iterate every ten steps."""
        refuse(self.refusal(problem))
        game = _Game(problem)
        last = game.point(start_weights(problem, start), game.first(start))
        best = game.judged(last)
        proving = game.judged(game.proving(last, start))
        yield game.iterate(best, proving, 0.0, OgaProxFacts(kernel_passes=float(game.passes), averaged=0.0))
        former, mean, averaged = last, last, 0
        while True:
            sigma, tau = game.steps(last, self.balance)
            for _ in range(STEPS):
                checkpoint()
                former, last = last, game.step(former, last, sigma, tau)
                averaged += 1
                mean = mean.towards(last, 1.0 / averaged)
            both = game.judged(mean), game.judged(last)
            best, other = sorted(both, key=lambda judged: judged.gap)
            average_gap, last_gap = (relative_gap(each.primal, each.bound) for each in both)
            facts = OgaProxFacts(
                kernel_passes=float(game.passes),
                averaged=float(averaged),
                shown="last" if best.point is last else "average",
                average_gap=average_gap,
                last_gap=last_gap,
            )
            yield game.iterate(best, other, sigma, facts)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell what is shown, of how many steps, and what it cost."""
        if before is None:
            return start_sentence(after)
        facts = OgaProxFacts.of(after)
        passes = f"after {facts.kernel_passes:,.0f} passes over the kernels"
        if facts.shown == "last":
            return f"Shown is the last of {STEPS} steps, {passes}. {objective_change(before, after)}"
        steps = counted(facts.averaged, "step")
        return f"Shown is the average of {steps}, {passes}. {objective_change(before, after)}"


@dataclass(frozen=True)
class _SaddlePoint:
    """Weights d (m,), signed dual variables (n,) and the products of each kernel with them, (n, m)."""

    weights: Array
    signed: Array
    images: Array

    @property
    def scores(self) -> Array:
        return self.images @ self.weights

    @property
    def quad(self) -> Array:
        return np.maximum(self.signed @ self.images, 0.0)

    def towards(self, other: _SaddlePoint, share: float) -> _SaddlePoint:
        """Return the point at this share of the way."""
        if share == 1.0:
            return other
        return _SaddlePoint(
            self.weights + share * (other.weights - self.weights),
            self.signed + share * (other.signed - self.signed),
            self.images + share * (other.images - self.images),
        )


class _Judged(NamedTuple):
    """A point, its dual variables, and P and D there."""

    point: _SaddlePoint
    dual: Array
    primal: float
    bound: float

    @property
    def gap(self) -> float:
        return self.primal - self.bound


class _Game:
    """The saddle function of one problem; `passes`: over all kernels so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.passes = 0
        self._kernels = dense_kernels(problem)
        loss, y = problem.loss, problem.y
        cost = np.broadcast_to(loss.cost, y.shape)
        self._signs = np.where(y > 0, 1.0, -1.0)
        self._lower, self._upper = np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)

    def proving(self, first: _SaddlePoint, start: Iterate | None) -> _SaddlePoint:
        """Return the first point, or one with what certified the start: it may prove as much here."""
        if start is None or start.certificate is None:
            return first
        return self.point(first.weights, self.first(replace(start, dual=start.certificate)))

    def first(self, start: Iterate | None) -> Array:
        """Return the signed dual variables to begin at: zero, or the best of a start's."""
        if start is None:
            return np.zeros(self.problem.n)
        return max(start_duals(self.problem, start), key=lambda signed: self._value(signed, start.weights))

    def _value(self, signed: Array, weights: Array) -> float:
        loss, y = self.problem.loss, self.problem.y
        images = self._products(signed)
        return loss.dual_value(loss.dual_from_signed(signed, y), y) - 0.5 * float(signed @ images @ weights)

    @spending("gradient")
    def _products(self, signed: Array) -> Array:
        n, m = self.problem.n, self.problem.m
        self.passes += 1
        return np.asarray((signed @ self._kernels.reshape(n, n * m)).reshape(n, m))

    def point(self, weights: Array, signed: Array) -> _SaddlePoint:
        """Return a point, for one pass over the kernels."""
        return _SaddlePoint(weights, signed, self._products(signed))

    def step(self, former: _SaddlePoint, here: _SaddlePoint, sigma: float, tau: float) -> _SaddlePoint:
        """Return the next point from the last two."""
        with spending("subproblem"):
            slope = self._signs - 2.0 * here.scores + former.scores
            signed = onto_balanced_box(here.signed + sigma * slope, self._lower, self._upper)
        images = self._products(signed)
        with spending("subproblem"):
            pull = 0.5 * tau * (signed @ images)
            return _SaddlePoint(self.problem.regularizer.project(here.weights + pull), signed, images)

    @spending("combine")
    def steps(self, here: _SaddlePoint, balance: float) -> tuple[float, float]:
        """Return sigma and tau: for K_d, which takes a pass, and for the slopes of s at the point."""
        n, m = self.problem.n, self.problem.m
        kernel = (self._kernels.reshape(n * n, m) @ here.weights).reshape(n, n)
        self.passes += 1
        steep = _largest(lambda x: kernel @ x, n)
        sigma = 0.5 / steep if steep > 0.0 else 1.0
        coupling = _largest(lambda x: here.images @ (x @ here.images), n)
        if not coupling > 0.0:  # a is still zero: as if it filled its box
            coupling = float(self._upper.max()) ** 2 * steep
        return sigma, balance * 0.5 / max(sigma * coupling, 1e-300)

    def judged(self, point: _SaddlePoint) -> _Judged:
        """Return a point with its certified bounds."""
        problem, quad = self.problem, point.quad
        dual = problem.loss.dual_from_signed(point.signed, problem.y)
        primal = problem.primal(point.weights, point.scores, float(point.signed @ point.scores), quad)
        return _Judged(point, dual, primal, problem.lower_bound(dual, quad))

    def iterate(self, shown: _Judged, other: _Judged, step: float, facts: OgaProxFacts) -> Iterate:
        """Return the iterate at a point, with the better bound of the two."""
        problem, weights = self.problem, shown.point.weights
        better = other.bound > shown.bound
        residual = problem.regularizer.kkt_residual(weights, -0.5 * shown.point.quad)
        return Iterate(
            weights=weights.copy(),
            dual=shown.dual.copy(),
            objective=shown.primal,
            lower_bound=max(shown.bound, other.bound),
            step=step,
            svm_solves=0,
            facts=replace(facts, kkt_residual=residual),
            certificate=other.dual.copy() if better else None,
            dual_bound=shown.bound if better else None,
        )


def _largest(multiply: Callable[[Array], Array], n: int) -> float:
    """Return the largest eigenvalue of a positive semidefinite (n, n) matrix, a little above its estimate."""
    x = 1.0 + 0.1 * np.cos(np.arange(n))
    size = 0.0
    for _ in range(POWERS):
        x = x / np.linalg.norm(x)
        x = multiply(x)
        size = float(np.linalg.norm(x))
        if size == 0.0:
            return 0.0
    return SAFE * size
