"""What stochastic methods keep of theta_k = sum_i c_i y_i phi_k(x_i), and the certified iterate it stands for.

    a = share c,    d = gradient of the conjugate, d_k = ||v||_q^{2-q} v_k^{q-1} / (lam sqrt(s_k)),
    v = [sqrt(s) - alpha]_+,    s_k = share^2 ||theta_k||^2

so the dual variables give both bounds: the function ``sum_k d_k K_k (a∘y)`` is the method's own. With several classes
c counts, for every sample, how often each class was the rival: a sample drawn once per epoch has ``sum_k a_ik <= C``.

Reference: Orabona, Luo, ICML 2011, algorithm 1, lines 6 and 7; the dual is derived from its equation 4 by Fenchel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mklviz.context import checkpoint
from mklviz.contract import Facts, Iterate
from mklviz.inner.scale import usual_weights
from mklviz.problem import GroupSquaredPlusL1, Loss, Problem
from mklviz.solvers._dense import dense_kernels, needs_memory

__all__ = ["EpochFacts", "ThetaState", "needs_group_norm"]

_CHUNK = 30_000_000  # kernel entries visited between two checkpoints, some hundredths of a second


def needs_group_norm(problem: Problem, losses: tuple[type[Loss], ...], method: str) -> str:
    """Return "" or why `method` cannot follow: it knows one formulation, `losses`, no bias and dense kernels."""
    loss, regularizer = problem.loss, problem.regularizer
    if not isinstance(loss, losses):
        *others, last = (f"the {each.label}" for each in losses)
        known = f"{', '.join(others)} and {last}" if others else last
        return f"{method} is written for {known} loss, not for the {loss.label} loss."
    if not isinstance(regularizer, GroupSquaredPlusL1):
        return f"{method} minimises the {GroupSquaredPlusL1.label}, not the {regularizer.label}."
    if loss.bias:
        return f"{method} learns without a bias: set bias=False."
    return needs_memory(problem, method)


@dataclass(frozen=True, kw_only=True)
class EpochFacts(Facts):
    """What is known of an epoch.

    Attributes
    ----------
    epochs : float
        Epochs so far.
    updates : float
        Steps that moved theta so far.
    zero_kernels : float
        Kernels of weight exactly zero.
    """

    epochs: float = math.nan
    updates: float = math.nan
    zero_kernels: float = math.nan


class ThetaState:
    """theta and all dense kernels of one run.

    `K` (n, n, m); `q`: power of the dual group norm; `lam`, `alpha`: prices that go with the mean of the losses: the
    problem's, divided by n C; `weights` (n,): what each sample counts, 1 where they have no weights: a step of it is so
    many times as long; `coefficients` (n,), or (n, number of classes): c; `images` (n, m), or (n, number of classes,
    m): ``K_k (c∘y)`` for every kernel, by class where there are several; `quad` (m,): ``||theta_k||^2``.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        regularizer = cast(GroupSquaredPlusL1, problem.regularizer)  # `supports` saw to it
        n, m = problem.n, problem.m
        self._problem = problem
        self._rng = np.random.default_rng(seed)
        self.K = dense_kernels(problem)
        self.weights = np.ones(n) if problem.sample_weight is None else problem.sample_weight
        self.q = regularizer.dual_power(m)
        self.lam = regularizer.lam / (n * problem.loss.C)
        self.alpha = regularizer.alpha / (n * problem.loss.C)
        shape = problem.loss.dual_shape(problem.y)
        self.coefficients, self.images, self.quad = np.zeros(shape), np.zeros((*shape, m)), np.zeros(m)

    def epoch(self) -> Iterator[NDArray[np.intp]]:
        """Yield all samples once in random order, in pieces short enough to cancel between them."""
        n = len(self.images)
        order = self._rng.permutation(n)
        piece = max(_CHUNK // self.images.size, 1)
        for first in range(0, n, piece):
            checkpoint()
            yield order[first : first + piece]
        # the increments of ||theta_k||^2 leave rounding behind
        signed = self._problem.loss.signed(self.coefficients, self._problem.y)
        self.quad[:] = np.maximum(np.tensordot(signed, self.images, signed.ndim), 0.0)

    def iterate(self, share: float, step: float, facts: EpochFacts) -> Iterate:
        """Return the iterate with dual variables ``share * c``.

        Dual variables beyond C are scaled down with all others, and the weights up, which leaves the function as
        it is.
        """
        problem = self._problem
        counts = self.coefficients.reshape(problem.n, -1).sum(axis=1)
        beyond = max(share * float(problem.loss.shares(counts).max()), 1.0)
        weights = beyond * problem.regularizer.weights_from(share**2 * self.quad)
        share /= beyond
        s = share**2 * self.quad
        scores = self.images @ (share * weights)
        dual = share * self.coefficients
        return Iterate(
            weights=weights,
            dual=dual,
            objective=problem.primal(weights, scores, float(weights @ s), s),
            lower_bound=problem.lower_bound(dual, s),
            step=step,
            svm_solves=0,
            facts=replace(facts, zero_kernels=float((weights == 0.0).sum())),
        )

    def start(self, facts: EpochFacts) -> Iterate:
        """Return the zero function, a = 0, shown with equal weights."""
        problem = self._problem
        weights, nothing = usual_weights(problem), np.zeros_like(self.coefficients)
        return Iterate(
            weights=weights,
            dual=nothing,
            objective=problem.primal(weights, nothing, 0.0, np.zeros(problem.m)),
            lower_bound=problem.lower_bound(nothing, np.zeros(problem.m)),
            step=0.0,
            svm_solves=0,
            facts=replace(facts, zero_kernels=0.0),
        )
