"""ALIGNF: weights whose centred kernel is best aligned with the labels, then one SVM.

    max over d >= 0  <K_d, yy'> / ||K_d||  with centred kernels:  d in proportion to  argmin over v >= 0  v'Mv - 2 v'b
    M_kl = <K_k, K_l>,   b_k = <K_k, yy'> = y'K_k y

The quadratic program is one of nonnegative least squares, for any root of M.

Reference: Cortes, Mohri, Rostamizadeh, Algorithms for learning kernels based on centered alignment, JMLR 13 (2012),
proposition 9.
"""

from __future__ import annotations

import numpy as np

from mklviz.context import checkpoint, spending, uninterrupted
from mklviz.contract import Array
from mklviz.inner.oracle import dense_kernels, needs_memory
from mklviz.lazy import Later
from mklviz.problem import Problem
from mklviz.solvers._two_stage import TwoStage, TwoStageFacts

optimize = Later("scipy.optimize")

LOST = 1e-12  # share of the largest eigenvalue of M below which rounding decides


class Alignf(TwoStage):
    """Weights of largest centred alignment.

    The step of its only iterate after the start is ``||d - d_0||_1``, at most 2.
    """

    name_ = "alignf"
    label = "ALIGNF"
    dash = "dashdot"
    paper = "Cortes, Mohri, Rostamizadeh, Algorithms for learning kernels based on centered alignment, JMLR 13, 2012"
    by = "the alignment of their centred kernel with the labels"

    def supports(self, problem: Problem) -> str:
        """Return "" for SVMs on the simplex with kernels that fit into memory."""
        return super().supports(problem) or needs_memory(problem, self.label)

    def weigh(self, problem: Problem) -> tuple[Array, TwoStageFacts]:
        """Return the weights and their alignment, between 0 and 1; equal weights where no kernel is aligned."""
        products, targets = alignments(dense_kernels(problem), problem.y)
        answer = _nonnegative_least(products, targets)
        total = float(answer.sum())
        if not total > 0.0:
            return problem.regularizer.start(problem.m), TwoStageFacts(criterion=0.0)
        weights = np.asarray(answer / total)
        length = float(np.sqrt(weights @ products @ weights))
        centred = problem.y - problem.y.mean()  # kernels are centred, so labels count by what is left of them
        alignment = float(weights @ targets) / (length * float(centred @ centred))
        return weights, TwoStageFacts(criterion=alignment)


@spending("subproblem")
def alignments(kernels: Array, y: Array) -> tuple[Array, Array]:
    """Return M (m, m) and b (m,) of the kernels (n, n, m), which are overwritten by their centred ones."""
    rows = kernels.mean(axis=0)
    mean = rows.mean(axis=0)
    products = np.zeros((kernels.shape[2], kernels.shape[2]))
    targets = np.zeros(kernels.shape[2])
    for i, row in enumerate(kernels):  # (n, m): the entries of sample i
        checkpoint()
        row -= rows + rows[i] - mean
        products += row.T @ row
        targets += y[i] * (y @ row)
    return products, targets


@spending("subproblem")
def _nonnegative_least(products: Array, targets: Array) -> Array:
    """Return the v >= 0 of least ``v'Mv - 2 v'b``."""
    values, vectors = np.linalg.eigh(products)
    held = values > LOST * max(float(values[-1]), 0.0)
    if not held.any():
        return np.zeros_like(targets)
    roots = np.sqrt(values[held])
    root, aim = roots[:, None] * vectors[:, held].T, vectors[:, held].T @ targets / roots
    return np.asarray(uninterrupted(lambda: optimize.nnls(root, aim, maxiter=30 * len(targets))[0]))
