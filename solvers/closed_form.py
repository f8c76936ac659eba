"""Analytic updates: solve at d, then give every kernel the weight that suits the norm of its share of the function.

    x_k = ||f_k|| = d_k sqrt(s_k(a)),      a from the SVM at d
    d+  = argmin over d of  1/2 sum_k x_k^2 / d_k + r(d)
        = x_k^{2/(p+1)} / (sum x^{2p/(p+1)})^{1/p}   in the lp ball,      x_k / sum x   on the simplex

The objective as a function of (f, d) is convex; the SVM minimises over f, the formula over d, so the value falls at
every step, as far as the SVM is exact, and no step size is needed. A weight of zero makes f_k zero, whose formula is
zero again: zero is absorbing, and a kernel that the optimum leaves out only fades. On the simplex it fades by the
factor sqrt(s_k / max s) a step in the end, so one that is hardly worse than the best takes very long. It grows as
slowly, so a warm start, which knows the kernels of another optimum, could need more steps than equal weights: a kernel
that asks for more weight than it was left with is given some once (`_Revival`).

References: Kloft, Brefeld, Sonnenburg, Zien, lp-norm multiple kernel learning, JMLR 12 (2011), equation 23 and
algorithm 1; Xu, Jin, Yang, King, Lyu, Simple and efficient multiple kernel learning by group lasso, ICML 2010,
for the simplex. The papers stop when the objective changes little; the certified gap says more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import param

from mklviz.contract import Array, Iterate, Solver
from mklviz.problem import Problem, spending
from mklviz.solvers._oracle import SVM_TOLERANCE, SvmOracle, SvmPoint, needs_known_loss, refuse
from mklviz.solvers._words import counted, objective_change, start_sentence

__all__ = ["ClosedForm"]

FINEST = 1e-12  # SVM tolerance below which rounding decides
REPEATED = 1e-15  # a move this small, relative to the weights, is rounding
FADED = 1e-3  # of the weight that s asks for, below which a kernel counts as without
REVIVED = 3.0  # times the mean weight: less grows too slowly, more has to fade again (ionosphere, liver)


class ClosedForm(Solver):
    """Alternate between the SVM and the formula for its weights.

    The step of an iterate is ``||d_{t+1} - d_t||_1``. The facts ``gained`` and ``lost`` count the kernels whose
    weight rose and fell, ``most`` names the one that rose most, and ``fastest_fade`` is the smallest factor by which
    a weight was multiplied.
    """

    name_ = "closed-form"
    label = "Closed form"
    colour = "#8C510A"
    colour_dark = "#C9996B"
    dash = "dashdot"
    marker = "square_pin"
    paper = "Kloft, Brefeld, Sonnenburg, Zien, lp-norm multiple kernel learning, JMLR 2011"

    svm_tolerance = param.Number(
        default=SVM_TOLERANCE,
        bounds=(1e-12, 1e-1),
        label="SVM tolerance",
        doc="Violation of the SVM's optimality conditions allowed at first; tightened when it limits the gap.",
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for every regularizer, with any loss that has an inner solver."""
        return needs_known_loss(problem, self.label)

    def iterates(self, problem: Problem) -> Iterator[Iterate]:
        """Yield the start, then one iterate per update of the weights."""
        refuse(self.supports(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, self.checkpoint)
        point = oracle.begin(self.warm_start)
        revival = _Revival(problem, self.warm_start is not None)
        yield oracle.iterate(point, 0.0)
        while True:
            tolerance = _next_tolerance(problem, point)
            norms = revival.weights(point) * np.sqrt(np.maximum(point.s, 0.0))
            with spending("subproblem"):
                weights = problem.regularizer.weights_from_norms(norms)
            change = weights - point.weights
            step = float(np.abs(change).sum())
            if step <= REPEATED * float(weights.sum()) and tolerance == point.tol:
                end = "The formula returns the weights it was given: they are a fixed point, to rounding."
                yield oracle.iterate(point, 0.0, end=end)
                return
            facts = _facts(problem, point.weights, change)
            point = oracle.solve(weights, tolerance)
            yield oracle.iterate(point, step, **facts)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell who gained and lost, and what the objective did."""
        if before is None:
            return start_sentence(after)
        facts = after.facts
        if "gained" not in facts:
            return f"The formula left the weights where they were. {objective_change(before, after)}"
        gained, lost = (int(float(facts[key])) for key in ("gained", "lost"))
        most = f", {facts['most']} most" if gained else ""
        return (
            f"The formula raised the weight of {counted(gained, 'kernel')}{most}, and lowered that of {lost:,}."
            f" {objective_change(before, after)}"
        )


class _Revival:
    """Weights given back to kernels without, each kernel once: oftener, they would come and go for ever.

    A kernel asks for more where s_k is above the weighted mean of s, which all kernels of an optimum share on the
    simplex and with a linear penalty; elsewhere where s asks for far more than the kernel has.
    """

    def __init__(self, problem: Problem, warm: bool) -> None:
        self._regularizer = problem.regularizer
        self._left = np.full(problem.m, warm)

    def weights(self, point: SvmPoint) -> Array:
        """Return the weights of `point`, those of kernels raised that ask for more."""
        if not self._left.any():
            return point.weights
        held, raised = point.weights, np.full_like(point.weights, REVIVED * point.weights.mean())
        if self._regularizer.determined:
            raised = np.minimum(raised, self._regularizer.weights_from(point.s))
            wanting = self._left & (held < FADED * raised)
        else:
            wanting = self._left & (held < raised) & (point.s * held.sum() > held @ point.s)
        self._left &= ~wanting
        return np.where(wanting, raised, held)


def _next_tolerance(problem: Problem, point: SvmPoint) -> float:
    """Return the tolerance to go on with: a tenth, once the SVM's own error makes up a tenth of the gap."""
    loss = problem.loss.primal(point.scores, problem.y)[0]
    error = 0.5 * float(np.vdot(point.signed, point.scores)) + loss - point.value
    limits = error > 0.1 * (point.primal - point.lower_bound)
    return min(max(0.1 * point.tol, FINEST), point.tol) if limits else point.tol


def _facts(problem: Problem, weights: Array, change: Array) -> dict[str, float | str]:
    held = weights > 0.0
    factors = 1.0 + change[held] / weights[held]
    return {
        "gained": float((change > 0.0).sum()),
        "lost": float((change < 0.0).sum()),
        "most": problem.bank.names[int(change.argmax())],
        "fastest_fade": float(min(factors.min(), 1.0)) if len(factors) else 1.0,
    }
