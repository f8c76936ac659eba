"""Semi-infinite linear programming: go where the cutting planes so far promise the lowest objective.

    d_{t+1} = argmin over the simplex of  max_{j<=t} c_j'd,        c_j = 1'a_j - s(a_j)/2  from the SVM at d_j

Nothing ties d_{t+1} to d_t, and the minimum of a linear program lies in a vertex: with few cuts the model is far too
low away from the points visited, so the weights jump to and fro between vertices. That is the method's oscillation.

Reference: Sonnenburg, Rätsch, Schäfer, Schölkopf, Large Scale Multiple Kernel Learning, JMLR 7 (2006), section 2.3,
algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import param

from mklviz.contract import End, Facts, Iterate, Solver
from mklviz.errors import SolverError
from mklviz.inner.oracle import SvmOracle, needs_known_loss, refuse, tolerance_option
from mklviz.numbers import counted, number_text, share_text
from mklviz.problem import Problem
from mklviz.problem.proving import relative_gap
from mklviz.solvers._cutting_plane import CuttingPlaneModel
from mklviz.solvers._words import needs_simplex, next_tolerance, start_sentence


@dataclass(frozen=True, kw_only=True)
class SilpFacts(Facts):
    """What is known of a step: the linear program that led to the iterate."""

    # its cuts, and those that bind
    cuts: float = math.nan
    binding_cuts: float = math.nan
    lp_value: float = math.nan  # its minimum: what the model promised, and a lower bound of the optimum
    moved: float = math.nan  # share of the weight that changed kernels, half the step
    # relative gap of the best objective so far and the model's minimum once it knows the iterate's own cut, which the
    # averaged dual variables certify
    model_gap: float = math.nan


class Silp(Solver):
    """Cutting planes and a linear program.

    The step of an iterate is ``||d_{t+1} - d_t||_1``, at most 2.
    """

    name_ = "silp"
    label = "SILP"
    colour = "#D55E00"
    colour_dark = "#E8762B"
    dash = "dashed"
    marker = "triangle"
    paper = "Sonnenburg, Rätsch, Schäfer, Schölkopf, Large Scale Multiple Kernel Learning, JMLR 2006"

    svm_tolerance = tolerance_option(" at first; tightened when it limits the model.")
    purge = param.Boolean(
        default=False,
        label="Purge idle cuts",
        doc="Delete cuts that do not bind once there are many, as shogun does; bounds stay valid, steps may differ.",
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for kernel weights on the simplex, whatever the loss."""
        return needs_simplex(problem, self.label) or needs_known_loss(problem, self.label)

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start, then one vertex of the linear program per step."""
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, self.svm_tolerance, rounding=True)
        model = CuttingPlaneModel(problem.m, purge=self.purge)
        oracle.proof = lambda _: model.proof
        point, upper, step = oracle.begin(start), np.inf, 0.0
        facts = SilpFacts()
        while True:
            model.learn(point)
            upper = min(upper, point.primal)
            try:
                vertex = model.minimize()
            except SolverError as error:
                yield oracle.iterate(point, step, facts)
                yield oracle.iterate(point, 0.0, SilpFacts(cuts=float(len(model))), End(str(error)))
                return
            model_gap = relative_gap(upper, vertex.theta)
            yield oracle.iterate(point, step, replace(facts, model_gap=model_gap))
            step = float(np.abs(vertex.weights - point.weights).sum())
            tolerance = next_tolerance(point, upper - vertex.theta)
            facts = SilpFacts(
                cuts=float(len(model)),
                binding_cuts=float(np.sum(vertex.multipliers > 0.0)),
                lp_value=vertex.theta,
                moved=0.5 * step,
            )
            if step == 0.0 and tolerance == point.tol:
                end = End("The linear program returned the same weights, where its model is as exact as it can tell.")
                yield oracle.iterate(point, 0.0, replace(facts, model_gap=model_gap), end)
                return
            point = oracle.solve(vertex.weights, tolerance)

    def narrate(self, before: Iterate | None, after: Iterate) -> str:
        """Tell how far the linear program jumped and whether its promise held."""
        if before is None:
            return start_sentence(after)
        facts = SilpFacts.of(after)
        if math.isnan(facts.lp_value):
            return f"The linear program over {counted(facts.cuts, 'cut')} failed, so the weights stay."
        cuts = "its one cut" if facts.cuts == 1.0 else f"its {counted(facts.cuts, 'cut')}"
        promised, moved, true = facts.lp_value, facts.moved, number_text(after.objective)
        text = f"Moved {share_text(moved)} of the weight{' at once' if moved >= 0.5 else ''}, to the lowest point of"
        text += f" {cuts}. The cuts promise the objective {number_text(promised)} there;"
        if after.objective - promised <= 1e-2 * abs(after.objective):
            return f"{text} the true one, {true}, is close."
        higher = after.objective > before.objective
        return f"{text} the true one is {true}{f', higher than the {number_text(before.objective)} before' * higher}."
