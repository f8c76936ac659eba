"""The objective on the straight way between two weight vectors: is there a hill, or are both in one valley?

    W((1 - t) d_a + t d_b),   0 <= t <= 1,   W(d) = J(d) + r(d), with the inner problem solved anew at each t

A convex problem has no hill between two points; a product of kernels may, and then the two ends of two runs are
different minima.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mklviz.contract import Array
from mklviz.errors import ProblemError
from mklviz.inner.oracle import SvmOracle
from mklviz.problem import Problem

__all__ = ["Profile", "objective_profile"]

TOLERANCE = 1e-6  # of the inner problems: a hill is seen from 1e-6 of the objective on
HILL = 1e-4  # rise above the higher end, relative to the objective, that counts as a hill


@dataclass(frozen=True)
class Profile:
    """The objective along a segment."""

    shares: Array  # (points,): t, from 0 at the first weights to 1 at the second
    values: Array  # (points,): W there

    @property
    def rise(self) -> float:
        """How far W rises above the higher end on the way, relative to it; 0 where it does not."""
        higher = max(float(self.values[0]), float(self.values[-1]))
        return max(float(self.values.max()) - higher, 0.0) / max(abs(higher), np.finfo(float).tiny)

    @property
    def hill(self) -> bool:
        """Whether W rises on the way by more than inner problems solved inexactly explain."""
        return self.rise > HILL


def objective_profile(
    problem: Problem,
    weights_a: ArrayLike,
    weights_b: ArrayLike,
    points: int = 41,
    progress: Callable[[float], None] | None = None,
) -> Profile:
    """Return the objective along the segment between two weight vectors.

    Parameters
    ----------
    problem : Problem
        With any loss that has an inner solver, and a regularizer of the kernel weights.
    weights_a, weights_b : (m,) arrays
        Such as the ends of two runs.
    points : int
        How many inner problems to solve, both ends included.
    progress : callable, optional
        Called with the fraction done before each solve; may raise to cancel.

    Raises
    ------
    ProblemError
        If the weights do not fit the problem.
    """
    ends = [np.asarray(weights, dtype=np.float64) for weights in (weights_a, weights_b)]
    if any(end.shape != (problem.m,) or not np.isfinite(end).all() or end.min() < 0.0 for end in ends):
        raise ProblemError(
            f"A profile needs two vectors of {problem.m} kernel weights, finite and not negative, but arrays of shape"
            f" {ends[0].shape} and {ends[1].shape} were given."
        )
    if points < 2:
        raise ProblemError(f"A profile needs at least 2 points, but {points} were asked for.")
    oracle = SvmOracle(problem, TOLERANCE)
    shares, values = np.linspace(0.0, 1.0, points), np.empty(points)
    for i, t in enumerate(shares):
        if progress is not None:
            progress(i / points)
        values[i] = oracle.solve((1.0 - t) * ends[0] + t * ends[1]).primal
    return Profile(shares, values)
