"""A power of each block norm, lam/q sum_k ||f_k||^q with 1 < q < 2 (SpicyMKL's lp norm).

    r(d) = lam/(2p) sum_k (lam d_k)^p,   p = q/(2-q);      d_k = ||f_k||^{2/(p+1)} / lam
    D = D_loss - lam/q' sum_k (sqrt(s_k) / lam)^{q'},   q' = q/(q-1)

Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), section 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.regularizers._power import SeparablePower
from mklviz.problem.regularizers._regularizer import positive_number


@dataclass(frozen=True)
class BlockPower(SeparablePower):
    """Functions that cost lam/q times a power of their norm.

    Parameters
    ----------
    lam : float
        Price, > 0.
    q : float
        Power of the norms, between 1 and 2; near 1 few kernels have weight, near 2 all have about the same.
    """

    name_: ClassVar[str] = "block-power"
    label: ClassVar[str] = "block norm to a power"
    lam: float = 1.0
    q: float = 1.5

    def __post_init__(self) -> None:
        positive_number(self.lam, "lam")
        if not (is_number(self.q) and 1.0 < self.q < 2.0):
            raise ProblemError(
                f"q must lie between 1 and 2, but {self.q!r} was given; q = 1 is the block 1-norm, q = 2 a plain sum."
            )

    @property
    def power(self) -> float:
        """p = q / (2 - q)."""
        return self.q / (2.0 - self.q)

    @property
    def amount(self) -> float:
        """lam / 2."""
        return 0.5 * self.lam

    @property
    def unit(self) -> float:
        """lam."""
        return self.lam

    def norm_power(self, m: int) -> float:
        """Return q."""
        return self.q

    def norm_slope(self, size: float) -> float:
        """Return lam N^{q-1}."""
        return float(self.lam * size ** (self.q - 1.0))

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> BlockPower | None:
        """Return the price slope N^{1-q}, for q between 1 and 2."""
        return cls(slope * size ** (1.0 - q), q) if 1.0 < q < 2.0 else None
