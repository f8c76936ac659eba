"""What a regularizer of the kernel weights must offer, whatever method moves the weights.

    weighted form    min_d  J(d) + r(d),    J(d) = max_beta  D_loss(beta) - 1/2 d's(beta)
    dual             max_beta  D_loss(beta) - r*(s(beta) / 2)
    block form       min_f  G(||f_1||, ..., ||f_m||) + loss,    G(x) = min_d  1/2 sum_k x_k^2 / d_k + r(d)

with f_k = d_k K_k beta, so ||f_k|| = d_k sqrt(s_k). A constraint counts as r = 0 inside and infinity outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.typing import Array

if TYPE_CHECKING:
    from mklviz.kernels.interface import Bank


class Regularizer(ABC):
    """A convex function r of the kernel weights d >= 0.

    Attributes
    ----------
    name_, label : str
        Registry key, and the name people use.
    smooth : bool
        Whether methods can follow the gradient of J + r with `value`, `gradient` and `project`.
    weighted : bool
        Whether the problem is charged the weighted form ``1/2 d's + r(d)``; if not, `cost` needs s itself.
    closed_form : bool
        Whether `weights_from_norms` and `block` exist.
    proximal : bool
        Whether `prox` exists.
    conjugated : bool
        Whether `conjugate` exists, and with it a lower bound where kernels are added.
    steep : bool
        Whether r* may be so steep that a share of a has a far higher bound than a itself.
    price_name : str
        The parameter that is a price large values of which leave no kernel any weight; "" where there is none.
    price_of_weight : bool
        Whether that price is per unit of weight, rather than of the norm of a function.
    unbounded : bool
        Whether the weights' size is left to the problem, so that it goes with the units of kernels and targets; where
        it is not, r says how large they are, as a constraint does.
    on_simplex : bool
        Whether it is the constraint that the weights sum to one, and nothing else.
    linear : bool
        Whether r(d) = price 1'd, with a `price`.
    sparse : bool
        Whether it is made to leave kernels without any weight, whatever its parameters.
    """

    name_: ClassVar[str] = ""
    label: ClassVar[str] = ""
    smooth: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    closed_form: ClassVar[bool] = True
    proximal: ClassVar[bool] = True
    conjugated: ClassVar[bool] = True
    steep: ClassVar[bool] = False
    price_name: ClassVar[str] = ""
    price_of_weight: ClassVar[bool] = False
    unbounded: ClassVar[bool] = False
    on_simplex: ClassVar[bool] = False
    linear: ClassVar[bool] = False
    sparse: ClassVar[bool] = False

    @property
    def determined(self) -> bool:
        """Whether s at the optimum determines the weights, by `weights_from`."""
        return True

    def check(self, m: int) -> None:
        """Raise `ProblemError` if this regularizer cannot be used with m kernels."""
        if m < 1:
            raise ProblemError("A problem needs at least one kernel.")

    def for_bank(self, bank: Bank) -> Regularizer:
        """Return this regularizer for the kernels of `bank`: itself, unless r depends on K_d."""
        return self

    def start(self, m: int) -> Array:
        """Return equal weights (m,), 1/m each: where solvers start, up to the size of those that are `unbounded`."""
        return np.full(m, 1.0 / m)

    @abstractmethod
    def value(self, weights: Array) -> float:
        """Return r(d), infinity outside its domain."""

    @abstractmethod
    def gradient(self, weights: Array) -> Array:
        """Return the gradient of r inside its domain, (m,)."""

    @abstractmethod
    def project(self, weights: Array) -> Array:
        """Return the nearest point of r's domain, (m,)."""

    @abstractmethod
    def prox(self, weights: Array, step: float) -> Array:
        """Return the minimiser of ``1/2 ||d - weights||^2 + step r(d)``, (m,), for step > 0.

        For a constraint that is the projection.
        """

    @abstractmethod
    def conjugate(self, slopes: Array) -> float:
        """Return sup over d of slopes'd - r(d)."""

    @abstractmethod
    def weights_from(self, quad: Array) -> Array:
        """Return the maximiser d of ``d's/2 - r(d)``, (m,): the optimal weights, given s at the optimum.

        Where it is not unique, the weights are shared equally by the kernels that may have them; a regularizer
        that leaves even their sum open raises `ProblemError`.
        """

    @abstractmethod
    def weights_from_norms(self, norms: Array) -> Array:
        """Return the minimiser d of ``1/2 sum_k x_k^2 / d_k + r(d)``, (m,), for the norms x_k = ||f_k||."""

    @abstractmethod
    def block(self, norms: Array) -> float:
        """Return G(x), the block form, for the norms x_k = ||f_k||."""

    def dual_scale(self, quad: Array) -> float:
        """Return the largest tau in (0, 1] for which tau * a has a finite bound, given s = quad of a."""
        return 1.0

    def cost(self, weights: Array, quad: Array) -> float:
        """Return what the function with these weights and this s pays, loss aside: ``1/2 d's + r(d)``."""
        return 0.5 * float(weights @ quad) + self.value(weights)

    def norm_power(self, m: int) -> float | None:
        """Return q, where G(x) is a function g(N) of N = ||x||_q for m kernels; None where it is not.

        Such formulations have `equivalents`, found by `norm_slope`, `at_norm_slope` and `onto_boundary`.
        """
        return None

    def norm_slope(self, size: float) -> float:
        """Return g'(N) at N = `size`; for a constraint, where g(N) = N^2 / 2, that is N."""
        return size

    @classmethod
    def at_norm_slope(cls, q: float, slope: float, size: float) -> Regularizer | None:
        """Return the regularizer of this class with g'(N) = `slope` at N = ||x||_q = `size`, for q >= 1.

        A constraint has no parameter to choose but q's. None where the class has none for that q.
        """
        return None

    def onto_boundary(self, weights: Array) -> Array:
        """Return weights in proportion on the boundary of the constraint, if there is one: where an optimum's lie."""
        return weights

    @abstractmethod
    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return how far J + r is from optimal at d, given the gradient of J: 0 at the optimum, relative."""


class Penalty(Regularizer):
    """A regularizer that is finite for all weights d >= 0 and differentiable there."""

    unbounded: ClassVar[bool] = True

    def project(self, weights: Array) -> Array:
        """Return the weights with negative entries set to zero."""
        return np.maximum(weights, 0.0)

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return the largest violation of ``grad J + grad r = 0`` (>= 0 where d is zero), relative to grad r."""
        prices = self.gradient(weights)
        slopes = gradient + prices
        size = float(np.abs(prices).max()) or float(np.abs(gradient).max()) or 1.0
        return float(np.where(weights > 0, np.abs(slopes), np.maximum(-slopes, 0.0)).max()) / size


def nonnegative(weights: Array) -> bool:
    """Return whether all weights are numbers that are not negative, up to rounding."""
    return bool(weights.min() >= -1e-12)  # false for nan


def norm(values: Array, p: float) -> float:
    """Return ||values||_p of values >= 0, for any p >= 1 and any size: powers are taken relative to the maximum."""
    top = float(values.max())
    if not 0.0 < top < np.inf:
        return top
    if np.isinf(p):
        return top
    return top * float(((values / top) ** p).sum()) ** (1.0 / p)


def positive_number(value: float, name: str) -> None:
    """Raise `ProblemError` unless `value` is a positive finite number."""
    if not (is_number(value) and value > 0):
        raise ProblemError(f"{name} must be a positive number, but {value!r} was given.")
