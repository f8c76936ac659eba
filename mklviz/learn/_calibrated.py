"""Probabilities of classes from decision values: a sigmoid for each pair of classes, and the pairs coupled.

The sigmoid of a pair turns the difference of their decision values into the probability of the one where it is one of
the two. The coupled probabilities p minimize ``sum_i sum_j (r_ji p_i - r_ij p_j)^2``, a linear system with sum p = 1.

References: Lin, Lin, Weng, A note on Platt's probabilistic outputs for support vector machines, Machine Learning 68,
2007; Wu, Lin, Weng, Probability estimates for multi-class classification by pairwise coupling, JMLR 5, 2004, (21).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mklviz.typing import Array, Indices

STEPS, SMALL, HALVINGS = 100, 1e-10, 30  # of Newton's method; its gradient per unit of weight; of one step
LEAST = 1e-7  # probability of a class among two: none is certain, so that the coupling has one solution


@dataclass(frozen=True)
class Calibration:
    """A sigmoid for each pair of classes i < j, ``1 / (1 + exp(-(a f + b)))`` for the later one."""

    classes: int
    lines: Array  # (pairs, 2): a and b

    @classmethod
    def of(cls, decisions: Array, codes: Indices, weights: Array) -> Calibration:
        """Fit it to decision values (n,) or (n, c) of samples that were not learned from, their classes and weights."""
        count = 2 if decisions.ndim == 1 else decisions.shape[1]
        lines = []
        for i, j in combinations(range(count), 2):
            pair = (codes == i) | (codes == j)
            lines.append(sigmoid(_difference(decisions, i, j)[pair], codes[pair] == j, weights[pair]))
        return cls(count, np.array(lines))

    def __call__(self, decisions: Array) -> Array:
        """Return the probability of each class at decision values (n,) or (n, c): (n, c)."""
        among = np.zeros((len(decisions), self.classes, self.classes))
        for (i, j), (a, b) in zip(combinations(range(self.classes), 2), self.lines, strict=True):
            among[:, j, i] = np.clip(expit(a * _difference(decisions, i, j) + b), LEAST, 1.0 - LEAST)
            among[:, i, j] = 1.0 - among[:, j, i]
        return coupled(among)


def _difference(decisions: Array, i: int, j: int) -> Array:
    """Return how far the decision is for class j rather than i."""
    return decisions if decisions.ndim == 1 else np.asarray(decisions[:, j] - decisions[:, i])


def sigmoid(decisions: Array, positive: NDArray[np.bool_], weights: Array) -> tuple[float, float]:
    """Return a and b of the most likely ``1 / (1 + exp(-(a f + b)))``, with Platt's targets, which are never certain.

    `decisions`, `positive`, `weights` (n,): f, whether the sample is of the class, and how often it counts.
    """
    yes, no = float(weights[positive].sum()), float(weights[~positive].sum())
    targets = np.where(positive, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    size = float(np.abs(decisions).max()) or 1.0
    design = np.column_stack([decisions / size, np.ones(len(decisions))])

    def cost(line: Array) -> float:
        z = design @ line
        return float(weights @ (np.logaddexp(0.0, z) - targets * z))

    line = np.array([0.0, np.log((yes + 1.0) / (no + 1.0))])
    for _ in range(STEPS):
        p = expit(design @ line)
        slope = design.T @ (weights * (p - targets))
        if np.abs(slope).max() <= SMALL * (yes + no):
            break
        curvature = (design * (weights * p * (1.0 - p))[:, None]).T @ design
        step = np.linalg.solve(curvature + SMALL * np.eye(2), slope)
        here = cost(line)
        length = next(
            (t for t in 0.5 ** np.arange(HALVINGS) if cost(line - t * step) <= here - 1e-4 * t * slope @ step), 0.0
        )
        if not length:
            break
        line = line - length * step
    return float(line[0]) / size, float(line[1])


def coupled(among: Array) -> Array:
    """Return probabilities (n, c) from those among two, ``among[:, i, j]`` of class i among i and j, (n, c, c)."""
    n, c, _ = among.shape
    among = among * (1.0 - np.eye(c))
    turned = among.transpose(0, 2, 1)
    system, right = np.zeros((n, c + 1, c + 1)), np.zeros((n, c + 1, 1))
    system[:, :c, :c] = -turned * among
    system[:, range(c), range(c)] = np.square(turned).sum(axis=2)
    system[:, :c, c] = system[:, c, :c] = right[:, c, 0] = 1.0
    solved = np.maximum(np.linalg.solve(system, right)[:, :c, 0], 0.0)
    return np.asarray(solved / solved.sum(axis=1, keepdims=True))
