"""What a loss must offer: its primal value at the best bias, and its share of the dual."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Loss(Protocol):
    """C times a sum of convex losses over the samples, minimised over the bias."""

    name_: ClassVar[str]
    label: ClassVar[str]

    @property
    def C(self) -> float:
        """Weight of the loss."""

    def check_targets(self, y: Array) -> None:
        """Raise `ProblemError` if this loss cannot be used with the targets `y`."""

    def check_dual(self, dual: Array, y: Array) -> None:
        """Raise `ProblemError` if `dual` is not feasible."""

    def primal(self, scores: Array, y: Array) -> tuple[float, float]:
        """Return (min over b of C sum loss(y, scores + b), the minimising bias)."""

    def dual_value(self, dual: Array) -> float:
        """Return the loss's part of the dual objective."""
