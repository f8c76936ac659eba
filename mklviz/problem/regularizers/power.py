"""Penalties that are a power of each kernel weight, or of each block norm; the first power is the linear penalty."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.regularizers._projections import power_prox
from mklviz.problem.regularizers._regularizer import Penalty, nonnegative, positive_number
from mklviz.typing import Array

# A power of each kernel weight, r(d) = amount/p sum_k (unit d_k)^p for d >= 0, however it is parametrised.
#
# r*(u) = amount/p* sum_k (u_k / (amount unit))^{p*},   p* = p/(p-1)
# unit d_k = (u_k / (amount unit))^{1/(p-1)} = (unit x_k^2 / (2 amount))^{1/(p+1)}


# A price per unit of kernel weight, r(d) = price 1'd for d >= 0, however the price is named.
#
# r*(u) = 0 where u_k <= price, infinity elsewhere
# G(x) = sqrt(2 price) sum_k x_k,      d_k = x_k / sqrt(2 price)


class LinearPenalty(Penalty):
    """Weights d >= 0 that cost `price` each."""

    linear: ClassVar[bool] = True
    determined: ClassVar[bool] = False
    sparse: ClassVar[bool] = True

    @property
    @abstractmethod
    def price(self) -> float:
        """What one unit of weight costs."""

    def value(self, weights: Array) -> float:
        """Return price 1'd, infinity where a weight is negative."""
        return self.price * float(weights.sum()) if nonnegative(weights) else float("inf")

    def gradient(self, weights: Array) -> Array:
        """Return the price in every entry."""
        return np.full_like(weights, self.price)

    def prox(self, weights: Array, step: float) -> Array:
        """Return [x - step price]_+."""
        return np.maximum(weights - step * self.price, 0.0)

    def conjugate(self, slopes: Array) -> float:
        """Return 0 where no slope exceeds the price (up to rounding), infinity elsewhere."""
        return 0.0 if slopes.max() <= self.price * (1.0 + 1e-12) else float("inf")

    def dual_scale(self, quad: Array) -> float:
        """Return min(1, sqrt(2 price / max s)): the dual constraint is s_k <= 2 price."""
        largest = float(quad.max())
        return 1.0 if largest <= 2.0 * self.price else float(np.sqrt(2.0 * self.price / largest))

    def weights_from(self, quad: Array) -> Array:
        """Raise `ProblemError`: s says which kernels may have weight, not how much."""
        raise ProblemError(f"With the {self.label} the dual variables do not determine the kernel weights.")

    def weights_from_norms(self, norms: Array) -> Array:
        """Return x / sqrt(2 price)."""
        return norms / np.sqrt(2.0 * self.price)

    def block(self, norms: Array) -> float:
        """Return sqrt(2 price) sum x."""
        return float(np.sqrt(2.0 * self.price)) * float(norms.sum())

    def norm_power(self, m: int) -> float:
        """Return 1."""
        return 1.0

    def norm_slope(self, size: float) -> float:
        """Return sqrt(2 price), whatever the size."""
        return float(np.sqrt(2.0 * self.price))


_LARGEST = 1e100  # a term of the conjugate beyond this is out of all proportion, and squares must not overflow


class SeparablePower(Penalty):
    """Weights d >= 0 each of which costs a power of itself."""

    steep: ClassVar[bool] = True

    @property
    @abstractmethod
    def terms(self) -> tuple[float, float, float]:
        """The power p > 1, the amount, which is p times what a weight of ``1 / unit`` costs, and the unit."""

    def value(self, weights: Array) -> float:
        """Return amount/p sum (unit d)^p, infinity where a weight is negative or the power overflows."""
        p, amount, unit = self.terms
        if not nonnegative(weights):
            return float("inf")
        with np.errstate(over="ignore"):
            return amount / p * float(((unit * np.maximum(weights, 0.0)) ** p).sum())

    def gradient(self, weights: Array) -> Array:
        """Return amount unit (unit d)^{p-1}."""
        p, amount, unit = self.terms
        with np.errstate(over="ignore"):
            return np.asarray(amount * unit * (unit * weights) ** (p - 1.0))

    def prox(self, weights: Array, step: float) -> Array:
        """Return the weights with ``d + step amount unit^p d^{p-1} = x``."""
        p, amount, unit = self.terms
        return power_prox(weights, p, float(np.log(step) + np.log(amount) + p * np.log(unit)))

    def _shares(self, slopes: Array) -> Array:
        _, amount, unit = self.terms
        return np.maximum(slopes, 0.0) / (amount * unit)

    def conjugate(self, slopes: Array) -> float:
        """Return amount/p* sum (u / (amount unit))^{p*} over the positive slopes."""
        p, amount, _ = self.terms
        conjugate_power = p / (p - 1.0)
        with np.errstate(over="ignore"):
            return amount / conjugate_power * float((self._shares(slopes) ** conjugate_power).sum())

    def dual_scale(self, quad: Array) -> float:
        """Return 1 unless the power in the conjugate would overflow, as it may for p near 1."""
        largest = float(self._shares(0.5 * quad).max())
        p = self.terms[0]
        allowed = _LARGEST ** ((p - 1.0) / p)
        return 1.0 if largest <= allowed else float(np.sqrt(allowed / largest))

    def weights_from(self, quad: Array) -> Array:
        """Return the weights at which the gradient of r is s/2."""
        p, _, unit = self.terms
        with np.errstate(over="ignore"):
            return np.asarray(self._shares(0.5 * quad) ** (1.0 / (p - 1.0)) / unit)

    def weights_from_norms(self, norms: Array) -> Array:
        """Return (unit x^2 / (2 amount))^{1/(p+1)} / unit."""
        p, amount, unit = self.terms
        return np.asarray((0.5 * unit / amount * norms**2) ** (1.0 / (p + 1.0)) / unit)

    def block(self, norms: Array) -> float:
        """Return amount (1 + 1/p) sum (unit d)^p at the best weights for these norms."""
        p, amount, unit = self.terms
        best = unit * self.weights_from_norms(norms)
        return amount * (1.0 + 1.0 / p) * float((best**p).sum())


# A power of each kernel weight, r(d) = sigma/p sum_k d_k^p for d >= 0 (generalized MKL, power form).
#
# r*(u) = sigma/p* sum_k (u_k / sigma)^{p*},   p* = p/(p-1);      d_k = (s_k / (2 sigma))^{1/(p-1)}


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

    Examples
    --------
    >>> float(mv.PowerPenalty(p=2.0, sigma=2.0).value(np.array([3.0, 4.0])))
    25.0
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
    def terms(self) -> tuple[float, float, float]:
        """p, sigma and 1."""
        return self.p, self.sigma, 1.0

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


# A power of each block norm, lam/q sum_k ||f_k||^q with 1 < q < 2 (SpicyMKL's lp norm).
#
#     r(d) = lam/(2p) sum_k (lam d_k)^p,   p = q/(2-q);      d_k = ||f_k||^{2/(p+1)} / lam
#     D = D_loss - lam/q' sum_k (sqrt(s_k) / lam)^{q'},   q' = q/(q-1)
#
# Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), section 3.5.


@dataclass(frozen=True)
class BlockPower(SeparablePower):
    """Functions that cost lam/q times a power of their norm.

    Parameters
    ----------
    lam : float
        Price, > 0.
    q : float
        Power of the norms, between 1 and 2; near 1 few kernels have weight, near 2 all have about the same.

    Examples
    --------
    >>> float(mv.BlockPower(lam=3.0, q=1.5).block(np.array([1.0, 0.25])))  # of the norms of two functions
    2.25
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
    def terms(self) -> tuple[float, float, float]:
        """p = q / (2 - q), lam / 2 and lam."""
        return self.q / (2.0 - self.q), 0.5 * self.lam, self.lam

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


# Linear penalty on the kernel weights, r(d) = sigma 1'd for d >= 0 (the l1 form of generalized MKL).


@dataclass(frozen=True)
class L1Penalty(LinearPenalty):
    """Weights d >= 0 that cost sigma each.

    Parameters
    ----------
    sigma : float
        Price of one unit of weight, > 0.

    Examples
    --------
    >>> float(mv.L1Penalty(sigma=2.0).value(np.array([0.25, 0.75])))
    2.0
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


# Block 1-norm, lam sum_k ||f_k|| (SpicyMKL): a linear penalty on the weights, r(d) = lam^2/2 1'd.
#
# Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), section 2; weights d_k = ||f_k|| / lam.


@dataclass(frozen=True)
class BlockL1(LinearPenalty):
    """Functions that cost lam times their norm.

    Parameters
    ----------
    lam : float
        Price of one unit of norm, > 0.

    Examples
    --------
    >>> float(mv.BlockL1(lam=2.0).block(np.array([1.0, 0.5])))  # of the norms of two functions
    3.0
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
