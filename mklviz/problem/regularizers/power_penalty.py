"""A power of each kernel weight, r(d) = sigma/p sum_k d_k^p for d >= 0 (generalized MKL, power form).

r*(u) = sigma/p* sum_k (u_k / sigma)^{p*},   p* = p/(p-1);      d_k = (s_k / (2 sigma))^{1/(p-1)}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklviz._numbers import is_number
from mklviz.errors import ProblemError
from mklviz.problem.regularizers._power import SeparablePower
from mklviz.problem.regularizers._regularizer import positive_number

__all__ = ["PowerPenalty"]


@dataclass(frozen=True)
class PowerPenalty(SeparablePower):
    """Weights d >= 0 each of which costs sigma/p times its p-th power (row E of the table of formulations).

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
