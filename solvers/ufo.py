"""UFO-MKL: stochastic dual averaging on a squared group norm plus a block 1-norm, no SVM and no weight ever stepped.

    theta <- theta - dl(w; x_t, y_t),    v_k = [||theta_k|| - alpha t]_+
    w_k = v_k / (lam t ||theta_k||) (v_k / ||v||_q)^{q-2} theta_k,     q = 2 log m

for the mean loss; C sum l is n C times the mean, so lam and alpha are divided by n C. With c_i the weight of sample i
in theta and every sample drawn once per epoch, ``a_i = C c_i / epochs`` lies in [0, C] after each epoch, and w is
exactly the function that a and the kernel weights ``d = weights_from(s(a))`` define: both bounds are certified. With
several classes theta_k has a column for each, and c_i counts which class came too close to the sample's own. A sample
of weight w counts w times in c, which is the step on w times its loss.

Reference: Orabona, Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011, algorithm 1.
The authors' program adds K_ii, not g^2 K_ii, to ||theta_k||^2 for the logistic loss; here it is g^2 K_ii.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mklviz.context import spending
from mklviz.contract import Iterate, Solver
from mklviz.inner.oracle import refuse
from mklviz.numbers import counted, number_text
from mklviz.problem import Hinge, Logistic, MulticlassHinge, Problem
from mklviz.problem.losses import labels_of
from mklviz.solvers import _ufo as steps
from mklviz.solvers._ufo import EpochFacts, ThetaState, needs_group_norm
from mklviz.solvers._words import objective_change


class Ufo(Solver):
    """Stochastic steps on one sample at a time; one iterate is an epoch, all samples once in random order.

    The paper's rate, log m / (lam t), holds for kernels of unit diagonal (``normalize="diagonal"``); longer samples
    only slow the method down. The step of an iterate is ``1 / (lam t)`` on the scale of the mean loss. No SVM is
    solved, so ``svm_solves`` is 0. The start is the zero function, shown with equal weights.
    """

    name_ = "ufo"
    label = "UFO-MKL"
    stochastic = True
    colour = "#2191CC"
    colour_dark = "#56B4E9"
    dash = "dotted"
    marker = "plus"
    paper = "Orabona, Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011"

    def supports(self, problem: Problem) -> str:
        """Return "" for these losses without bias under a squared group norm plus block 1-norm."""
        return needs_group_norm(problem, (Hinge, Logistic, MulticlassHinge), self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the zero function, then one iterate per epoch, for ever."""
        refuse(self.refusal(problem))
        theta = ThetaState(problem, self.seed)
        yield theta.start(EpochFacts(epochs=0.0, updates=0.0))
        t = epochs = updates = 0
        while True:
            for order in theta.epoch():
                updates += _average(problem, theta, order, t)
                t += len(order)
            epochs += 1
            facts = EpochFacts(epochs=float(epochs), updates=float(updates))
            yield theta.iterate(problem.loss.C / epochs, 1.0 / (theta.lam * t), facts)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell how many samples moved the function, how many kernels are out, and what came of it."""
        if before is None:
            return f"The start is the zero function: objective {number_text(after.objective)}, lower bound 0."
        facts = EpochFacts.of(after)
        moved = int(facts.updates - EpochFacts.of(before).updates)
        out = counted(facts.zero_kernels, "kernel")
        return (
            f"Epoch {facts.epochs:,.0f}, once over {counted(len(after.dual), 'sample')}: {moved:,} of them moved the"
            f" function, and the threshold leaves {out} at exactly zero. {objective_change(before, after)}"
        )


@spending("subproblem")
def _average(problem: Problem, theta: ThetaState, order: NDArray[np.intp], t: int) -> int:
    """Take steps on the samples in `order`, t steps having been taken; returns how many moved theta."""
    prices, state = (theta.lam, theta.alpha, theta.q), (theta.weights, theta.state)
    if problem.loss.multiclass:
        return int(steps.average_classes(theta.K, labels_of(problem.y), order, t, prices, *state))
    return int(steps.average(theta.K, problem.y, order, t, prices, problem.loss.smooth, *state))
