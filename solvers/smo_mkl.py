"""SMO on the dual of squared lp-norm multiple kernel learning: no SVM is ever solved, no weight ever stepped.

    max over a  1'a - ||s(a)||_{p*}^2 / (8 sigma),      0 <= a <= C,  y'a = 0,     s_k = (a∘y)'K_k(a∘y)

Two dual variables move at a time, as in an SVM, to the exact maximum along the pair; s follows in O(m), and the
weights are a formula in s: they come along as a by-product. This needs p > 1, where the dual is differentiable.

Reference: Vishwanathan, Sun, Theera-Ampornpunt, Varma, Multiple kernel learning and the SMO algorithm, NIPS 2010.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from mklviz.context import checkpoint, spending
from mklviz.contract import Array, End, Facts, Iterate, Solver
from mklviz.inner.oracle import dense_kernels, needs_hinge, needs_memory, refuse
from mklviz.inner.warm import start_duals, start_weights
from mklviz.numbers import counted, number_text
from mklviz.problem import LpPenalty, Problem
from mklviz.solvers import _smo_mkl as steps
from mklviz.solvers._words import objective_change, start_sentence

CHUNK = 30_000_000  # kernel entries visited between two checkpoints, some hundredths of a second
EXACT = 1e-13  # violation, relative to the largest slope, that rounding leaves


@dataclass(frozen=True, kw_only=True)
class SmoMklFacts(Facts):
    """What is known of a sweep."""

    pair_steps: float = math.nan  # pairs that moved so far
    violation: float = math.nan  # largest slope of a point that may grow less the smallest of one that may shrink


AT_START = SmoMklFacts(pair_steps=0.0, violation=2.0)


class SmoMkl(Solver):
    """Sequential minimal optimization, two dual variables at a time.

    One iterate is a sweep of n pair steps, whose cost grows as n² m, like that of forming K_d. The step of an iterate
    is ``||d_{t+1} - d_t||_1``. No SVM is solved, so ``svm_solves`` is 0. The start shows equal weights, but the method
    starts from a = 0, and the first sweep forgets them; a warm start begins from its dual variables, and its weights
    follow from them.
    """

    name_ = "smo-mkl"
    label = "SMO-MKL"
    colour = "#5E3C99"
    colour_dark = "#A890DC"
    dash = "dashed"
    marker = "triangle_pin"
    paper = "Vishwanathan, Sun, Theera-Ampornpunt, Varma, Multiple kernel learning and the SMO algorithm, NIPS 2010"

    def supports(self, problem: Problem) -> str:
        """Return "" for the hinge loss with a squared lp-norm penalty, p > 1, if the kernels fit in memory."""
        regularizer = problem.regularizer
        if not isinstance(regularizer, LpPenalty):
            return f"{self.label} works on the dual of the {LpPenalty.label}, not of the {regularizer.label}."
        if regularizer.p <= 1.0:
            return f"{self.label} needs p above 1: with p = 1 the dual has kinks in which pair steps get stuck."
        return needs_memory(problem, self.label) or needs_hinge(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield a = 0 with equal weights, or the start given, then one iterate per sweep."""
        refuse(self.refusal(problem))
        weights = start_weights(problem, start)
        if start is None:
            yield _iterate(problem, weights, np.zeros(problem.n), np.zeros((problem.n, problem.m)))
        pairs = _Pairs(problem)
        if start is not None:
            pairs.begin(max(start_duals(problem, start), key=lambda signed: problem.lower_bound(signed * problem.y)))
            weights = problem.regularizer.weights_from(pairs.s) if pairs.s.any() else weights
            yield _iterate(problem, weights, pairs.signed, pairs.G)
        while True:
            taken, violation = pairs.sweep()
            before, weights = weights, problem.regularizer.weights_from(pairs.s)
            facts = SmoMklFacts(pair_steps=float(pairs.taken), violation=violation)
            stuck = End(f"Rounding swallows the best pair's step; slopes are {violation:.1e} apart.")
            end = stuck if taken < problem.n else None
            step = float(np.abs(weights - before).sum())
            yield _iterate(problem, weights, pairs.signed, pairs.G, step, facts, end)
            if end is not None:
                return

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell how many pairs moved, how far they are from optimal, and what became of the two bounds."""
        if before is None:
            if after.dual.any():
                return start_sentence(after)
            return f"The start has all dual variables at zero: objective {number_text(after.objective)}, lower bound 0."
        facts = SmoMklFacts.of(after)
        pairs = facts.pair_steps - SmoMklFacts.of(before).pair_steps
        if pairs == 0.0:
            return f"No pair of dual variables can climb any further. {objective_change(before, after)}"
        old, new = number_text(before.lower_bound), number_text(after.lower_bound)
        raised = f"left the lower bound at {new}" if old == new else f"raised the lower bound from {old} to {new}"
        return (
            f"{counted(pairs, 'step')}, each on a pair of dual variables, {raised}; the slopes of the worst pair still"
            f" differ by {number_text(facts.violation, '.2g')}. {objective_change(before, after)}"
        )


class _Pairs:
    """The dual variables of one run with all that pair steps keep up to date.

    `taken`: pair steps so far; `K` (n, n, m), with the kernels last; `state`: rows by the sample, see ``_smo_mkl``;
    `s` (m,); `d` (m,): weights; `G` (n, m): ``K_k b`` for every kernel.
    """

    def __init__(self, problem: Problem) -> None:
        regularizer = cast(LpPenalty, problem.regularizer)  # `supports` saw to it
        self._problem = problem
        self.q, self.sigma = regularizer.conjugate_power, regularizer.sigma
        self.K = dense_kernels(problem)
        self.diagonal = np.ascontiguousarray(np.einsum("iik->ik", self.K))
        C, y = problem.loss.cost, problem.y
        self.state = np.zeros((steps.STATES, problem.n))
        self.state[steps.LO], self.state[steps.HI] = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
        self.state[steps.Y] = self.state[steps.F] = y
        self.G = np.zeros((problem.n, problem.m))
        self.s, self.d = np.zeros(problem.m), np.zeros(problem.m)
        self.taken = 0

    @property
    def signed(self) -> Array:
        return self.state[steps.B]

    def begin(self, signed: Array) -> None:
        """Start from these feasible signed dual variables (n,)."""
        self.state[steps.B] = signed
        self._refresh()

    @spending("subproblem")
    def sweep(self) -> tuple[int, float]:
        """Take n pair steps, or as many as there are; returns how many, and the violation that is left."""
        n, m = self.G.shape
        least = EXACT * max(1.0, float(np.abs(self.state[steps.F]).max()))
        chunk = max(CHUNK // (4 * n * m), 1)
        taken, asked = 0, min(chunk, n)
        while True:
            checkpoint()
            kernels = self.K, self.diagonal, self.G
            some, violation = steps.take_steps(kernels, self.q, self.sigma, self.state, self.s, self.d, least, asked)
            taken += some
            if some < asked or taken == n:
                break
            asked = min(chunk, n - taken)
        self.taken += taken
        self._refresh()  # thousands of updates leave rounding behind in K_k b
        return taken, violation

    def _refresh(self) -> None:
        self._balance()
        everyone = np.arange(self._problem.m)
        self.G = np.ascontiguousarray(self._problem.bank.products(self.signed, everyone).T)
        self.s = np.maximum(self.signed @ self.G, 0.0)
        self.d = self._problem.regularizer.weights_from(self.s)
        self.state[steps.F] = self.state[steps.Y] - self.G @ self.d

    def _balance(self) -> None:
        """Give the rounding error of the sum to the sample with most room: all others stay on their bounds."""
        low, high, b = (self.state[row] for row in (steps.LO, steps.HI, steps.B))
        room, excess = np.minimum(high - b, b - low), float(b.sum())
        at = int(room.argmax())
        b[at] -= excess if room[at] > abs(excess) else 0.0


def _iterate(
    problem: Problem,
    weights: Array,
    signed: Array,
    images: Array,
    step: float = 0.0,
    facts: Facts = AT_START,
    end: End | None = None,
) -> Iterate:
    s = np.maximum(signed @ images, 0.0)
    dual = problem.loss.dual_from_signed(signed, problem.y) + 0.0  # no negative zeros
    return Iterate(
        weights=weights.copy(),
        dual=dual,
        objective=problem.primal(weights, images @ weights, float(weights @ s)),
        lower_bound=problem.lower_bound(dual, s),
        step=step,
        svm_solves=0,
        facts=facts,
        end=end,
    )
