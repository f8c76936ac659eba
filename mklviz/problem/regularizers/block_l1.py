"""Block 1-norm, lam sum_k ||f_k|| (SpicyMKL): a linear penalty on the weights, r(d) = lam^2/2 1'd.

Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), section 2; weights d_k = ||f_k|| / lam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklviz.problem.regularizers._power import LinearPenalty
from mklviz.problem.regularizers._regularizer import positive_number


@dataclass(frozen=True)
class BlockL1(LinearPenalty):
    """Functions that cost lam times their norm.

    Parameters
    ----------
    lam : float
        Price of one unit of norm, > 0.
    """

    name_: ClassVar[str] = "block-l1"
    label: ClassVar[str] = "block ℓ₁-norm"
    price_name: ClassVar[str] = "lam"
    lam: float = 1.0

    def __post_init__(self) -> None:
        positive_number(self.lam, "lam")

    @property
    def price(self) -> float:
        """lam^2 / 2."""
        return 0.5 * self.lam**2

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> BlockL1 | None:
        """Return the price of that slope, for q = 1."""
        return cls(slope) if q == 1.0 else None
