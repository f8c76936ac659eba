"""What a regularizer of the kernel weights must offer, whatever method moves the weights.

    weighted form    min_d  J(d) + r(d),    J(d) = max_beta  D_loss(beta) - 1/2 d's(beta)
    dual             max_beta  D_loss(beta) - r*(s(beta) / 2)
    block form       min_f  G(||f_1||, ..., ||f_m||) + loss,    G(x) = min_d  1/2 sum_k x_k^2 / d_k + r(d)

with f_k = d_k K_k beta, so ||f_k|| = d_k sqrt(s_k). A constraint counts as r = 0 inside and infinity outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.numbers import is_number
from mklviz.problem.regularizers._projections import onto_simplex
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
    determined : bool
        Whether s at the optimum determines the weights, by `weights_from`.
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
    determined: ClassVar[bool] = True
    sparse: ClassVar[bool] = False

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

    def prox(self, weights: Array, step: float) -> Array:
        """Return the minimiser of ``1/2 ||d - weights||^2 + step r(d)``, (m,), for step > 0."""
        self._no_formula("proximal steps")

    def conjugate(self, slopes: Array) -> float:
        """Return sup over d of slopes'd - r(d)."""
        self._no_formula("the conjugate")

    def weights_from(self, quad: Array) -> Array:
        """Return the maximiser d of ``d's/2 - r(d)``, (m,): the optimal weights, given s at the optimum.

        Where it is not unique, the weights are shared equally by the kernels that may have them; a regularizer
        that leaves even their sum open raises `ProblemError`.
        """
        self._no_formula("the weights")

    def weights_from_norms(self, norms: Array) -> Array:
        """Return the minimiser d of ``1/2 sum_k x_k^2 / d_k + r(d)``, (m,), for the norms x_k = ||f_k||."""
        self._no_formula("the weights")

    def block(self, norms: Array) -> float:
        """Return G(x), the block form, for the norms x_k = ||f_k||."""
        self._no_formula("the block form")

    @classmethod
    def lacking(cls) -> list[str]:
        """Return the formulas that the flags of the class promise and that it does not define."""
        promised: dict[str, tuple[str, ...]] = {"proximal": ("prox",), "conjugated": ("conjugate",)}
        promised["closed_form"] = ("weights_from", "weights_from_norms", "block")
        names = [name for flag, formulas in promised.items() if getattr(cls, flag) for name in formulas]
        return [name for name in names if getattr(cls, name) is getattr(Regularizer, name)]

    def _no_formula(self, what: str) -> NoReturn:
        raise UnsupportedProblem(f"The {self.label} comes without a formula for {what}.")

    def dual_scale(self, quad: Array) -> float:
        """Return the largest tau in (0, 1] for which tau * a has a finite bound, given s = quad of a."""
        return 1.0

    def cost(self, weights: Array, quad: Array) -> float:
        """Return what the function with these weights and this s pays, loss aside: ``1/2 d's + r(d)``."""
        return 0.5 * float(weights @ quad) + self.value(weights)

    def norm_power(self, m: int) -> float | None:
        """Return q, where G(x) is a function g(N) of N = ||x||_q for m kernels; None where it is not.

        Such formulations have `equivalents`, by `norm_slope`, `at_norm_slope` and `onto_boundary`.
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


class Constraint(Regularizer):
    """A regularizer that is zero on a set of weights, and infinite elsewhere."""

    def gradient(self, weights: Array) -> Array:
        """Return zero."""
        return np.zeros_like(weights)

    def prox(self, weights: Array, step: float) -> Array:
        """Return the projection."""
        return self.project(weights)


class OnSimplex(Regularizer):
    """A regularizer of weights d >= 0 that sum to one.

    `floor`: the least weight that a projection gives, as a share of 1/m, where the slope of r has no bound at zero.
    """

    floor: ClassVar[float] = 0.0

    def holds(self, weights: Array) -> bool:
        """Return whether weights lie on the simplex, up to rounding."""
        return bool(weights.min() >= -1e-12 and abs(weights.sum() - 1.0) <= 1e-9)

    def project(self, weights: Array) -> Array:
        """Return the nearest point of the simplex with no weight below the least."""
        least, rest = self.floor / len(weights), 1.0 - self.floor
        return least + rest * onto_simplex((weights - least) / rest)

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return (largest slope with weight - smallest slope) / steepest slope of J: all must be equal, none less."""
        size = float(np.abs(gradient).max())
        slopes = gradient + self.gradient(weights)
        held = weights > 2.0 * self.floor / len(weights)
        return float(slopes[held].max() - slopes.min()) / size if size > 0.0 and held.any() else 0.0


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


# A regularizer of your own: r, its gradient and its conjugate, checked against each other before they are used.
#
# (r(d + h v) - r(d - h v)) / 2h = grad r(d)'v       at points and directions inside the domain
# r(d) + r*(u) >= d'u,   with equality at u = grad r(d)

_SAMPLES = 12  # pairs of points tried
_STEP = 1e-5  # of the differences, as a share of the way between two points
_CLIMB = 300  # steps uphill, after which the climb counts as failed
_AGREEMENT = 1e-5  # relative disagreement that differences and rounding may cause


class CustomRegularizer(Penalty):
    """Base class for a convex regularizer r(d) of your own, smooth on d >= 0.

    Define `label`, `value`, `gradient` and `conjugate`; `project` too if the domain is smaller than d >= 0. Posing a
    problem with it compares them numerically and refuses, with the numbers, what does not fit together: a wrong
    conjugate would make a wrong certificate.

    Examples
    --------
    >>> class HalfSquares(CustomRegularizer):
    ...     label = "half squares"
    ...     def value(self, weights):
    ...         return 0.5 * float(weights @ weights)
    ...     def gradient(self, weights):
    ...         return weights
    ...     def conjugate(self, slopes):
    ...         return 0.5 * float(np.sum(np.maximum(slopes, 0.0) ** 2))
    """

    name_: ClassVar[str] = "custom"
    label: ClassVar[str] = "regularizer of your own"
    closed_form: ClassVar[bool] = False
    proximal: ClassVar[bool] = False
    determined: ClassVar[bool] = False

    def dual_scale(self, quad: Array) -> float:
        """Return the largest tau in (0, 1] for which the conjugate is finite, by bisection."""
        if np.isfinite(self.conjugate(0.5 * quad)):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(200):
            middle = 0.5 * (low + high) if low > 0.0 else 0.5 * high
            inside = bool(np.isfinite(self.conjugate(0.5 * middle**2 * quad)))
            low, high = (middle, high) if inside else (low, middle)
            if low > 0.0 and high - low <= 1e-12 * high:
                break
        return low or high

    def kkt_residual(self, weights: Array, gradient: Array) -> float:
        """Return the move of a projected gradient step as long as the largest weight, relative to that weight."""
        slopes = gradient + self.gradient(weights)
        steepest, size = float(np.abs(slopes).max()), float(weights.max())
        if steepest == 0.0:
            return 0.0
        size = size if size > 0.0 else 1.0
        return float(np.abs(self.project(weights - size / steepest * slopes) - weights).max()) / size

    def check(self, m: int) -> None:
        """Raise `ProblemError`, with the numbers, unless value, gradient, conjugate and projection fit together."""
        super().check(m)
        rng = np.random.default_rng(0)
        for trial in range(_SAMPLES):
            size = 10.0 ** (trial % 3 - 1)
            one, other = (self._sample(size * rng.exponential(size=m)) for _ in range(2))
            self._check_projection(size * rng.normal(size=m), one)
            self._check_gradient(one, other)
            self._check_conjugate(0.5 * (one + other), one, size * rng.normal(size=m))
            self._check_maximum(one, np.abs(self.gradient(other)) * rng.exponential(size=m))

    def _sample(self, point: Array) -> Array:
        """Return a point of the domain, and say so if there is none."""
        inside = np.asarray(self.project(point), dtype=np.float64)
        value = self.value(inside) if inside.shape == point.shape else float("nan")
        if not (np.isfinite(value) and nonnegative(inside)):
            raise ProblemError(
                f"The {self.label} is {value!r} at a point its projection returned, {_shown(inside)}: a projection "
                "must return weights that are not negative and at which the value is finite."
            )
        return inside

    def _check_projection(self, point: Array, inside: Array) -> None:
        nearest = self._sample(point)
        size = float(np.abs(point).max() + np.abs(inside).max())
        beyond = float((point - nearest) @ (inside - nearest))
        if beyond > _AGREEMENT * size**2 or np.abs(self.project(inside) - inside).max() > _AGREEMENT * size:
            raise ProblemError(
                f"The projection of the {self.label} does not return the nearest point: {_shown(point)} went to "
                f"{_shown(nearest)}, but {_shown(inside)} or a point on the way there is nearer."
            )

    def _check_gradient(self, one: Array, other: Array) -> None:
        middle, along = 0.5 * (one + other), other - one
        slope = np.asarray(self.gradient(middle), dtype=np.float64)
        if slope.shape != middle.shape or not np.isfinite(slope).all():
            raise ProblemError(f"The gradient of the {self.label} at {_shown(middle)} is {_shown(slope)}.")
        ends = self.value(middle + _STEP * along), self.value(middle - _STEP * along)
        seen, stated = (ends[0] - ends[1]) / (2.0 * _STEP), float(slope @ along)
        rounding = 1e-15 * (abs(ends[0]) + abs(ends[1])) / _STEP
        if not abs(seen - stated) <= _AGREEMENT * (np.abs(slope) @ np.abs(along) + abs(seen)) + rounding:
            raise ProblemError(
                f"The gradient of the {self.label} does not fit its value: at d = {_shown(middle)}, along "
                f"{_shown(along)}, differences give the slope {seen:.6g}, the gradient {stated:.6g}."
            )

    def _check_conjugate(self, point: Array, elsewhere: Array, slopes: Array) -> None:
        value, gradient = self.value(point), np.asarray(self.gradient(point), dtype=np.float64)
        conjugate, product = self.conjugate(gradient), float(point @ gradient)
        size = abs(value) + abs(product) + float(np.abs(point) @ np.abs(gradient))
        if not abs(value + conjugate - product) <= _AGREEMENT * size + 1e-12:
            raise ProblemError(
                f"The conjugate of the {self.label} does not fit: at d = {_shown(point)} and u = the gradient there, "
                f"{_shown(gradient)}, r(d) + r*(u) should be d'u = {product:.6g}, but it is {value + conjugate:.6g}."
            )
        for u in (slopes, gradient):
            least, bound = float(elsewhere @ u) - self.value(elsewhere), self.conjugate(u)
            if not bound >= least - _AGREEMENT * (abs(least) + 1e-7):
                raise ProblemError(
                    f"The conjugate of the {self.label} is too small, or it is not convex: at u = {_shown(u)} it is "
                    f"{bound:.6g}, but d = {_shown(elsewhere)} has d'u - r(d) = {least:.6g}."
                )

    def _check_maximum(self, start: Array, slopes: Array) -> None:
        """Climb on u'd - r(d); at the top the conjugate must not be higher."""
        point, step = start, 1.0
        height = float(slopes @ point) - self.value(point)
        for _ in range(_CLIMB):
            uphill = slopes - self.gradient(point)
            trial = self.project(point + step * uphill)
            move, reached = trial - point, float(slopes @ trial) - self.value(trial)
            if np.abs(move).max() <= 1e-9 * step * (np.abs(slopes).max() + 1e-300):
                break
            if reached >= height + 0.25 / step * float(move @ move):
                point, height, step = trial, reached, 2.0 * step
            else:
                step *= 0.5
        else:
            return
        bound = self.conjugate(slopes)
        if bound - height > 1e-3 * (abs(bound) + abs(float(slopes @ point))):
            raise ProblemError(
                f"The conjugate of the {self.label} is too large for its domain: at u = {_shown(slopes)} it is "
                f"{bound:.6g}, but d'u - r(d) reaches no more than {height:.6g}, at d = {_shown(point)}."
            )


def _shown(values: Array) -> str:
    """Return the first entries as text."""
    flat = np.atleast_1d(values)
    return "(" + ", ".join(f"{value:.4g}" for value in flat[:4]) + (", …)" if len(flat) > 4 else ")")
