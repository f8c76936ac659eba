"""A regularizer of your own: r, its gradient and its conjugate, checked against each other before they are used.

(r(d + h v) - r(d - h v)) / 2h = grad r(d)'v       at points and directions inside the domain
r(d) + r*(u) >= d'u,   with equality at u = grad r(d)
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.problem.regularizers._regularizer import Regularizer, nonnegative
from mklviz.typing import Array

_SAMPLES = 12  # pairs of points tried
_STEP = 1e-5  # of the differences, as a share of the way between two points
_CLIMB = 300  # steps uphill, after which the top counts as not found
_AGREEMENT = 1e-5  # relative disagreement that differences and rounding may cause


class CustomRegularizer(Regularizer):
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
    unbounded: ClassVar[bool] = True

    @property
    def determined(self) -> bool:
        """False: a regularizer of your own comes without this formula."""
        return False

    def project(self, weights: Array) -> Array:
        """Return the weights with negative entries set to zero."""
        return np.maximum(weights, 0.0)

    def prox(self, weights: Array, step: float) -> Array:
        """Raise `UnsupportedProblem`: a regularizer of your own comes without this formula."""
        raise UnsupportedProblem(f"The {self.label} comes without a formula for proximal steps.")

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

    def weights_from(self, quad: Array) -> Array:
        """Raise `UnsupportedProblem`: a regularizer of your own comes without this formula."""
        raise UnsupportedProblem(f"The {self.label} comes without a formula for the weights.")

    def weights_from_norms(self, norms: Array) -> Array:
        """Raise `UnsupportedProblem`: a regularizer of your own comes without this formula."""
        raise UnsupportedProblem(f"The {self.label} comes without a formula for the weights.")

    def block(self, norms: Array) -> float:
        """Raise `UnsupportedProblem`: a regularizer of your own comes without a block form."""
        raise UnsupportedProblem(f"The {self.label} comes without a block form.")

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
        """Climb on u'd - r(d); where the top is found, the conjugate must not be higher."""
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
