"""A power of each kernel weight, r(d) = sigma/p sum_k d_k^p for d >= 0 (generalized MKL, power form).

r*(u) = sigma/p* sum_k (u_k / sigma)^{p*},   p* = p/(p-1);      d_k = (s_k / (2 sigma))^{1/(p-1)}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.regularizers._power import SeparablePower
from mklviz.problem.regularizers._regularizer import positive_number

_LARGEST_LOG = 600.0  # of a price; e^700 is no number any more


@dataclass(frozen=True)
class PowerPenalty(SeparablePower):
    """Weights d >= 0 each of which costs sigma/p times its p-th power.

    Parameters
    ----------
    p : float
        Power, > 1; near 1 few kernels have weight.
    sigma : float
        Price, > 0.
    """

    name_: ClassVar[str] = "power-penalty"
    label: ClassVar[str] = "power penalty"
    p: float = 2.0
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not (is_number(self.p) and self.p > 1):
            raise ProblemError(f"p must be a number above 1, but {self.p!r} was given; p = 1 is the linear penalty.")
        positive_number(self.sigma, "sigma")

    @property
    def power(self) -> float:
        """p."""
        return self.p

    @property
    def amount(self) -> float:
        """sigma."""
        return self.sigma

    @property
    def unit(self) -> float:
        """1."""
        return 1.0

    def norm_power(self, m: int) -> float:
        """Return q = 2p/(p+1)."""
        return 2.0 * self.p / (self.p + 1.0)

    def norm_slope(self, size: float) -> float:
        """Return (2 sigma)^{1/(p+1)} N^{q-1}."""
        p = self.p
        return float((2.0 * self.sigma) ** (1.0 / (p + 1.0)) * size ** ((p - 1.0) / (p + 1.0)))

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> PowerPenalty | None:
        """Return the penalty with p = q/(2-q), for q between 1 and 2 and a sigma that is still a number."""
        if not 1.0 < q < 2.0:
            return None
        p = q / (2.0 - q)
        log_sigma = (p + 1.0) * float(np.log(slope * size ** (1.0 - q))) - float(np.log(2.0))
        return cls(p, float(np.exp(log_sigma))) if abs(log_sigma) < _LARGEST_LOG else None
