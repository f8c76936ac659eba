"""OBSCURE: a perceptron finds the region of the solution, then stochastic steps inside it minimise the objective.

    stage 1    theta += eta y_i phi(x_i) on each margin error, until an epoch has none, at most `first_epochs`
    stage 2    theta <- (1 - eta_t lam / q) theta + eta_t y_i phi(x_i) [margin error],    ||theta||_q <= q R
               eta_t = q / (lam t + sum tau),   R^2 = 2 min(1, P(w_1)) / lam
               tau_t = (-c + sqrt(c^2 + q (L_t + lam/q ||theta||_q)^2 / R^2)) / 2,   c = lam t + sum of earlier tau

and w_k = (||theta_k|| / ||theta||_q)^{q-2} theta_k / q, on the scale of the mean loss: lam is divided by n C. L_t is
the length ||phi(x_i)||_{2,q} of the sample if it is wrong, m^{1/q} for kernels of unit diagonal, and else zero.
The dual variables are ``a = lam c / q`` for the coefficients c of theta, scaled into their box.

Reference: Orabona, Jie, Caputo, Online-batch strongly convex multi kernel learning, CVPR 2010, algorithms 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import param

from mklviz.context import spending
from mklviz.contract import Array, Iterate, Solver
from mklviz.inner.oracle import refuse
from mklviz.numbers import counted, number_text
from mklviz.problem import GroupSquaredPlusL1, Hinge, Problem
from mklviz.solvers import _ufo as steps
from mklviz.solvers._ufo import EpochFacts, ThetaState, needs_group_norm
from mklviz.solvers._words import objective_change

SHORTEST = 1e-100  # squared length of samples that are all zero, for which any step will do


@dataclass(frozen=True, kw_only=True)
class ObscureFacts(EpochFacts):
    """What is known of an epoch; each update was of a sample inside its margin."""

    stage: float = math.nan  # 1, the online stage, or 2, the batch stage


class Obscure(Solver):
    """An online stage to find the region, a batch stage to find the minimum; one iterate is an epoch of either.

    It solves UFO-MKL's problem with alpha = 0, where no weight is ever exactly zero. The step of an iterate is eta. No
    SVM is solved, so ``svm_solves`` is 0. The start is the zero function, shown with equal weights.
    """

    name_ = "obscure"
    label = "OBSCURE"
    stochastic = True
    colour = "#6B7A00"
    colour_dark = "#B4C248"
    dash = "dashdot"
    marker = "cross"
    paper = "Orabona, Jie, Caputo, Online-batch strongly convex multi kernel learning, CVPR 2010"

    first_epochs = param.Integer(
        default=5,
        bounds=(1, 100),
        label="epochs of stage 1",
        doc="How many epochs the online stage may take; it ends sooner where no sample is inside its margin.",
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for the hinge loss without bias under a squared group norm."""
        regularizer = problem.regularizer
        if isinstance(regularizer, GroupSquaredPlusL1) and regularizer.alpha > 0.0:
            return f"{self.label} has no block ℓ₁-norm: set alpha=0, or use UFO-MKL."
        if problem.sample_weight is not None:
            return f"{self.label} takes all samples alike and knows no weights of them: use UFO-MKL."
        return needs_group_norm(problem, (Hinge,), self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the zero function, then one iterate per epoch of the first stage, and of the second, for ever."""
        refuse(self.refusal(problem))
        theta = ThetaState(problem, self.seed)
        iterate = theta.start(ObscureFacts(stage=1.0, epochs=0.0, updates=0.0))
        yield iterate
        for iterate in self._online(problem, theta):
            yield iterate
        yield from self._batch(problem, theta, iterate)

    def _online(self, problem: Problem, theta: ThetaState) -> Iterator[Iterate]:
        longest = float(_lengths(theta).max()) ** 2
        rate = 1.0 / longest if longest > SHORTEST else 1.0
        updates = 0
        for epoch in range(1, self.first_epochs + 1):
            before = updates
            for order in theta.epoch():
                with spending("subproblem"):
                    updates += steps.perceive(theta.K, problem.y, order, rate, theta.q, theta.state)
            facts = ObscureFacts(stage=1.0, epochs=float(epoch), updates=float(updates))
            yield _iterate(problem, theta, rate, facts)
            if updates == before:
                return

    def _batch(self, problem: Problem, theta: ThetaState, last: Iterate) -> Iterator[Iterate]:
        scale = problem.n * problem.loss.C
        radius = float(np.sqrt(2.0 * min(1.0, last.objective / scale) / theta.lam))
        prices, state, known = (theta.lam, radius, theta.q), theta.state, ObscureFacts.of(last)
        epochs, updates = int(known.epochs), int(known.updates)
        lengths, strength, t = _lengths(theta), 0.0, 0
        while True:
            for order in theta.epoch():
                with spending("subproblem"):
                    moved, strength = steps.descend(theta.K, problem.y, order, t, prices, lengths, strength, state)
                t += len(order)
                updates += moved
            epochs += 1
            rate = theta.q / (theta.lam * t + strength)
            facts = ObscureFacts(stage=2.0, epochs=float(epochs), updates=float(updates))
            yield _iterate(problem, theta, rate, facts)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell the stage, how many samples were wrong, and what came of it."""
        if before is None:
            return f"The start is the zero function: objective {number_text(after.objective)}, lower bound 0."
        facts = ObscureFacts.of(after)
        wrong = int(facts.updates - ObscureFacts.of(before).updates)
        stage = "online" if facts.stage == 1.0 else "batch"
        return (
            f"Epoch {facts.epochs:,.0f}, {stage} stage: {wrong:,} of {counted(len(after.dual), 'sample')} lay inside"
            f" the margin and moved the function. {objective_change(before, after)}"
        )


def _lengths(theta: ThetaState) -> Array:
    """Return ``||phi(x_i)||_{2,q}`` of every sample, (n,)."""
    roots = np.sqrt(np.maximum(np.einsum("iik->ik", theta.K), 0.0))
    top = max(float(roots.max()), np.finfo(float).tiny)
    return np.asarray(top * ((roots / top) ** theta.q).sum(axis=1) ** (1.0 / theta.q))


def _iterate(problem: Problem, theta: ThetaState, rate: float, facts: ObscureFacts) -> Iterate:
    share = theta.lam * problem.n * problem.loss.C / theta.q
    return theta.iterate(share, rate, facts)
