"""EasyMKL: weights by how far apart each kernel holds the classes where their mean finds them nearest, then one SVM.

    g = argmin  g'Y ((1 - share) K + share t I) Y g      over g >= 0 with sum one in either class
    d_k  in proportion to  g'Y K_k Y g

K is the mean of all kernels and t the mean of its diagonal, so that the share means the same whatever the kernels'
unit. The program is the least distance between two hulls, which an SVM without bound on its dual variables finds, up to
a factor: the identity keeps the margin from being zero.

Reference: Aiolli, Donini, EasyMKL: a scalable multiple kernel learning algorithm, Neurocomputing 169 (2015), section 3.
"""

from __future__ import annotations

import numpy as np
import param

from mklviz.context import spending
from mklviz.contract import Array
from mklviz.inner.oracle import needs_matrix
from mklviz.inner.svm import InnerSvm
from mklviz.problem import Problem
from mklviz.problem.proving import EPS
from mklviz.solvers._two_stage import TwoStage, TwoStageFacts

EXACT = 1e-9  # violation of the first stage's optimality conditions that is allowed


class EasyMkl(TwoStage):
    """Weights of largest mean margin.

    The step of its only iterate after the start is ``||d - d_0||_1``, at most 2.
    """

    name_ = "easymkl"
    label = "EasyMKL"
    dash = "dotted"
    paper = "Aiolli, Donini, EasyMKL: a scalable multiple kernel learning algorithm, Neurocomputing 169, 2015"
    by = "the distance between the classes in the mean kernel"

    share = param.Number(
        default=0.1,
        bounds=(1e-6, 1.0),
        label="Share of the identity (λ)",
        doc="Near 0 the nearest points of the classes decide, at 1 the means of the classes.",
    )

    def supports(self, problem: Problem) -> str:
        """Return "" for SVMs on the simplex with whole kernel matrices."""
        return super().supports(problem) or needs_matrix(problem, self.label)

    def weigh(self, problem: Problem) -> tuple[Array, TwoStageFacts]:
        """Return the weights and the squared distance; equal weights where no kernel tells the classes apart."""
        signed = nearest_points(problem, self.share)
        pulls, rounding = problem.bank.quad(signed), EPS * problem.n * problem.bank.quad(np.abs(signed))
        pulls = np.where(pulls > rounding, pulls, 0.0)
        total = float(pulls.sum())
        if not total > 0.0:
            return problem.regularizer.start(problem.m), TwoStageFacts(criterion=0.0)
        return np.asarray(pulls / total), TwoStageFacts(criterion=total / problem.m)


@spending("subproblem")
def nearest_points(problem: Problem, share: float) -> Array:
    """Return ``y∘g`` (n,) of the nearest points of both hulls in the mean kernel, `share` of it the identity."""
    n, m = problem.n, problem.m
    kernel = problem.bank.combine(np.full(m, 1.0 / m))
    size = float(np.trace(kernel)) / n or 1.0
    mixed = (1.0 - share) / size * kernel
    mixed[np.diag_indices(n)] += share
    signs = np.where(problem.y > 0, 1.0, -1.0)
    # those of a class sum to two over the squared distance, which is share (1/n+ + 1/n-) at least
    machine = InnerSvm.of_labels(signs, n / share)
    machine.solve(mixed, EXACT)
    dual = np.asarray(machine.b)
    return dual / float(np.maximum(dual, 0.0).sum())
