"""Hinge loss, C sum_i [1 - y_i (f_i + b)]_+, with dual variables 0 <= a <= C, y'a = 0 and dual value 1'a."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mklviz.errors import ProblemError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hinge:
    """Hinge loss of the support vector machine.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    """

    name_: ClassVar[str] = "hinge"
    label: ClassVar[str] = "hinge"
    C: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.C) and self.C > 0):
            raise ProblemError(f"C must be a positive number, but {self.C!r} was given.")

    def check_targets(self, y: Array) -> None:
        """Raise `ProblemError` unless `y` holds -1 and +1, both of them."""
        found = np.unique(y)
        if not np.isin(found, (-1.0, 1.0)).all():
            shown = ", ".join(f"{value:g}" for value in found[:4])
            raise ProblemError(
                f"The hinge loss needs labels -1 and +1, but y holds {shown}{', …' if len(found) > 4 else ''}."
            )
        if len(found) < 2:
            raise ProblemError(f"All labels are {found[0]:+g}: the hinge loss needs samples of both classes.")

    def check_dual(self, dual: Array, y: Array) -> None:
        """Raise `ProblemError` unless ``0 <= dual <= C`` and ``y'dual = 0`` up to rounding."""
        slack = 1e-9 * self.C
        inside = dual.shape == y.shape and dual.min() >= -slack and dual.max() <= self.C + slack  # false for nan
        if not inside or abs(y @ dual) > slack * len(y):
            raise ProblemError("The dual variables must lie in [0, C] and balance the classes (y'a = 0).")

    def primal(self, scores: Array, y: Array) -> tuple[float, float]:
        """Return the loss at the best bias, and that bias.

        As a function of b each term bends by one at ``y_i - scores_i``; the slope starts at minus the number of
        positive samples, so the n_plus-th smallest bend is a minimiser.
        """
        bends = y - scores
        n_plus = int((y > 0).sum())
        lower, upper = np.partition(bends, (n_plus - 1, n_plus))[n_plus - 1 : n_plus + 1]
        bias = 0.5 * float(lower + upper)  # the loss is flat between the two
        return self.C * float(np.maximum(1.0 - y * (scores + bias), 0.0).sum()), bias

    def dual_value(self, dual: Array) -> float:
        """Return 1'a."""
        return float(dual.sum())
