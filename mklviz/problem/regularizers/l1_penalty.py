"""Linear penalty on the kernel weights, r(d) = sigma 1'd for d >= 0 (the l1 form of generalized MKL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklviz.problem.regularizers._power import LinearPenalty
from mklviz.problem.regularizers._regularizer import positive_number


@dataclass(frozen=True)
class L1Penalty(LinearPenalty):
    """Weights d >= 0 that cost sigma each.

    Parameters
    ----------
    sigma : float
        Price of one unit of weight, > 0.
    """

    name_: ClassVar[str] = "l1-penalty"
    label: ClassVar[str] = "linear penalty"
    price_name: ClassVar[str] = "sigma"
    price_of_weight: ClassVar[bool] = True
    sigma: float = 1.0

    def __post_init__(self) -> None:
        positive_number(self.sigma, "sigma")

    @property
    def price(self) -> float:
        """sigma."""
        return self.sigma

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> L1Penalty | None:
        """Return the price slope^2 / 2, for q = 1."""
        return cls(0.5 * slope**2) if q == 1.0 else None
