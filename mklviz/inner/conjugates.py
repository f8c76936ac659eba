"""The conjugate h(beta) = sum_i L*(-beta_i) = -D_loss(beta) of a loss as SpicyMKL's Newton steps need it: smooth.

    logistic    C sum u log u + (1 - u) log(1 - u),  u = a/C:  smooth inside its box, and steep at its bounds
    squared     ||beta||^2 / (2C) - y'beta:                    smooth
    others      the box is kept in the limit only, by proximity to the decision values z of the last outer step,
                    h_t(beta) = -min_z L(z) + beta'z + ||z - z_t||^2 / (2g),     z_{t+1} = prox_{gL}(z_t - g beta)
                or, for the hinge loss, by the augmented Lagrangian of 0 <= a <= C with multipliers xi, zeta >= 0.

Where samples have weights, C stands for an array of what each costs.

Reference: Suzuki, Tomioka, SpicyMKL, Machine Learning 85 (2011), sections 3.3 and 3.4, equations 16, 17 and 28 to 33.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import singledispatch

import numpy as np

from mklviz.errors import UnsupportedProblem
from mklviz.problem import EpsilonInsensitive, Hinge, Logistic, Loss, Squared
from mklviz.typing import Array, Flags

# Signed dual variables beta whose sum is zero, as a bias asks: the heavier class is scaled down to the other's sum.


def balanced(signed: Array) -> Array:
    """Return beta (n,) with ``1'beta = 0`` up to rounding: none leaves a box that holds it and zero."""
    positive, negative = float(signed[signed > 0.0].sum()), -float(signed[signed < 0.0].sum())
    if positive > negative:
        return np.where(signed > 0.0, signed * (negative / positive), signed)
    if negative > positive:
        return np.where(signed < 0.0, signed * (positive / negative), signed)
    return signed


def summing(signed: Array, low: Array, high: Array, total: float) -> Array:
    """Return beta (n,), inside its box as it is given, moved towards one end of it so that ``1'beta = total``."""
    return balanced(signed) if total == 0.0 else _moved(signed, low, high, total)


def _moved(signed: Array, low: Array, high: Array, total: float) -> Array:
    """Return beta moved towards `low` or `high`, which lie on both sides of it, so that ``1'beta = total``."""
    end = low if signed.sum() > total else high
    room = float((end - signed).sum())
    return signed + (end - signed) * ((total - float(signed.sum())) / room if room else 0.0)


_INSIDE = 1e-200, 1.0 - 1e-16  # shares of the box whose logarithms and inverses are still numbers
_TO_BOUND = 0.99  # share of the way to a bound that one step may go where the conjugate is steep


class Conjugate(ABC):
    """h, or its smooth stand-in of this outer step.

    `exact`: whether it is h itself, so that no outer step is needed on its account; `steep`: whether its slope has no
    bound near the ends of the box, so that a start must keep away from them.
    """

    exact = True
    steep = False

    @abstractmethod
    def gradient(self, signed: Array) -> Array:
        """Return the gradient at beta, (n,)."""

    @abstractmethod
    def curvature(self, signed: Array) -> Array:
        """Return the diagonal of the Hessian at beta, (n,)."""

    def longest_step(self, signed: Array, move: Array) -> float:
        """Return the largest t <= 1 for which ``beta + t move`` may be asked about."""
        return 1.0

    def begin(self, decisions: Array) -> None:  # noqa: B027
        """Take the multipliers that go with these decision values (n,); a conjugate that is exact has none."""

    def update(self, signed: Array, growth: float) -> None:  # noqa: B027
        """Move the multipliers after an outer step that ended at beta, and make their proximity weaker.

        A conjugate that is exact has none.
        """

    def shrink(self, factor: float) -> None:  # noqa: B027
        """Make the proximity stronger, where there is any."""


class SquaredConjugate(Conjugate):
    """||beta||^2 / (2C) - y'beta."""

    def __init__(self, y: Array, C: float | Array) -> None:
        self.y, self.C = y, C

    def gradient(self, signed: Array) -> Array:
        return signed / self.C - self.y

    def curvature(self, signed: Array) -> Array:
        return np.ones_like(signed) / self.C


class LogisticConjugate(Conjugate):
    """C sum u log u + (1 - u) log(1 - u), u = y∘beta / C."""

    steep = True

    def __init__(self, y: Array, C: float | Array) -> None:
        self.y, self.C = y, C

    def gradient(self, signed: Array) -> Array:
        share = np.clip(self.y * signed / self.C, *_INSIDE)
        return np.asarray(self.y * (np.log(share) - np.log1p(-share)))

    def curvature(self, signed: Array) -> Array:
        share = np.clip(self.y * signed / self.C, *_INSIDE)
        return np.asarray(1.0 / (self.C * share * (1.0 - share)))

    def longest_step(self, signed: Array, move: Array) -> float:
        dual, moved = self.y * signed, self.y * move
        room = np.maximum(np.where(moved > 0.0, self.C - dual, dual), _INSIDE[0] * self.C)
        fastest = float((np.abs(moved) / room).max())
        return min(1.0, _TO_BOUND / fastest) if fastest > 0.0 else 1.0


class BoundedHinge(Conjugate):
    """-1'a with 0 <= a <= C kept by an augmented Lagrangian."""

    exact = False

    def __init__(self, y: Array, C: float | Array, proximity: float) -> None:
        self.y, self.C, self.proximity = y, C, proximity
        self.above = np.zeros_like(y)
        self.below = np.zeros_like(y)

    def begin(self, decisions: Array) -> None:
        room = 1.0 - self.y * decisions
        self.above, self.below = np.maximum(room, 0.0), np.maximum(-room, 0.0)

    def _pressures(self, signed: Array) -> tuple[Array, Array]:
        dual = self.y * signed
        above = np.maximum(self.above + self.proximity * (dual - self.C), 0.0)
        return above, np.maximum(self.below - self.proximity * dual, 0.0)

    def gradient(self, signed: Array) -> Array:
        above, below = self._pressures(signed)
        return self.y * (above - below - 1.0)

    def curvature(self, signed: Array) -> Array:
        above, below = self._pressures(signed)
        return self.proximity * ((above > 0.0).astype(float) + (below > 0.0))

    def update(self, signed: Array, growth: float) -> None:
        self.above, self.below = self._pressures(signed)
        self.proximity *= growth

    def shrink(self, factor: float) -> None:
        self.proximity *= factor


class NearbyDecisions(Conjugate):
    """The conjugate of a loss with kinks, smoothed by proximity to the last decision values z."""

    exact = False

    def __init__(self, y: Array, loss: Loss, proximity: float) -> None:
        self.y, self.loss, self.proximity = y, loss, proximity
        self.decisions = np.zeros_like(y)

    def begin(self, decisions: Array) -> None:
        self.decisions = decisions.copy()

    @abstractmethod
    def _nearby(self, signed: Array) -> tuple[Array, Flags]:
        """Return the decisions ``prox_{gL}(z - g beta)``, and where they stand on no kink of the loss."""

    def gradient(self, signed: Array) -> Array:
        return -self._nearby(signed)[0]

    def curvature(self, signed: Array) -> Array:
        return np.where(self._nearby(signed)[1], self.proximity, 0.0)

    def update(self, signed: Array, growth: float) -> None:
        self.decisions = self._nearby(signed)[0]
        self.proximity *= growth

    def shrink(self, factor: float) -> None:
        self.proximity *= factor


class NearbyMargins(NearbyDecisions):
    """Of the hinge loss."""

    def _nearby(self, signed: Array) -> tuple[Array, Flags]:
        reach = self.proximity * self.loss.cost
        margin = self.y * (self.decisions - self.proximity * signed)
        raised = np.where(margin < 1.0 - reach, margin + reach, np.maximum(margin, 1.0))
        return self.y * raised, (margin >= 1.0) | (margin <= 1.0 - reach)


class NearbyErrors(NearbyDecisions):
    """Of the epsilon-insensitive loss."""

    def __init__(self, y: Array, loss: EpsilonInsensitive, proximity: float) -> None:
        super().__init__(y, loss, proximity)
        self.epsilon = loss.epsilon

    def _nearby(self, signed: Array) -> tuple[Array, Flags]:
        reach = self.proximity * self.loss.cost
        error = self.decisions - self.proximity * signed - self.y
        outside = np.abs(error) - self.epsilon
        shrunk = np.where(outside > reach, np.abs(error) - reach, np.minimum(np.abs(error), self.epsilon))
        return self.y + np.sign(error) * shrunk, (outside <= 0.0) | (outside >= reach)


@singledispatch
def conjugate_of(loss: Loss, y: Array, proximity: float, bounds: bool) -> Conjugate:
    """Return the conjugate of `loss`; ``@conjugate_of.register`` makes that of another loss known.

    `y` (n,): labels or targets; `proximity`: g of the first outer step: how far it may move the decision values, per
    unit of beta; `bounds`: whether the hinge loss's box is kept by the augmented Lagrangian, rather than by proximal
    decision values. Raises `UnsupportedProblem` if the loss is not one of `conjugated_losses`, or derived from one.
    """
    raise UnsupportedProblem(f"SpicyMKL does not know the conjugate of the {loss.label} loss.")


@conjugate_of.register
def _of_hinge(loss: Hinge, y: Array, proximity: float, bounds: bool) -> Conjugate:
    return BoundedHinge(y, loss.cost, proximity) if bounds else NearbyMargins(y, loss, proximity)


@conjugate_of.register
def _of_insensitive(loss: EpsilonInsensitive, y: Array, proximity: float, bounds: bool) -> Conjugate:
    return NearbyErrors(y, loss, proximity)


@conjugate_of.register
def _of_logistic(loss: Logistic, y: Array, proximity: float, bounds: bool) -> Conjugate:
    return LogisticConjugate(y, loss.cost)


@conjugate_of.register
def _of_squared(loss: Squared, y: Array, proximity: float, bounds: bool) -> Conjugate:
    return SquaredConjugate(y, loss.cost)


def conjugated_losses() -> tuple[type[Loss], ...]:
    """Return the losses whose conjugate is known."""
    return tuple(kind for kind in conjugate_of.registry if kind is not object)


def into_box(signed: Array, y: Array, loss: Loss) -> Array:
    """Return the nearest point to beta in its box, with the sum that a bias asks for, mostly 0."""
    ends = [loss.signed(np.broadcast_to(end, y.shape), y) for end in loss.box]
    low, high = np.minimum(*ends), np.maximum(*ends)
    if not loss.bias:
        return np.clip(signed, low, high)
    if not loss.bounded:  # no entry moves further than to subtract the mean takes
        reach = 2.0 * float(np.abs(signed).max())
        low, high = np.maximum(low, -reach), np.minimum(high, reach)
    return onto_balanced_box(signed, low, high, loss.dual_sum(y))


def onto_balanced_box(point: Array, lower: Array, upper: Array, total: float = 0.0) -> Array:
    """Return the nearest point of the box whose entries sum to `total`, as some of it do: clip(point - t) for one t.

    The sum falls with t, in straight pieces between the places where an entry leaves its upper bound or meets its lower
    one. What t rounds away, all of the box where steps are long beside it, is found between the ends of the piece.
    """
    inside = np.clip(point, lower, upper)
    rounded = np.finfo(float).eps * (1.0 + np.log2(len(point))) * float(np.abs(inside).sum())  # of the sum below
    if abs(float(inside.sum()) - total) <= rounded:  # moving by it would take entries off their bounds
        return inside
    leaves, meets = point - upper, point - lower
    places = np.unique(np.concatenate([leaves, meets]))

    def beside(end: int) -> Array:
        """Return point - t in the box: just before a place for the even ends, just after it for the odd ones."""
        t = places[end // 2]
        full, empty = (leaves > t, meets <= t) if end % 2 else (leaves >= t, meets < t)
        return np.clip(np.where(full, upper, np.where(empty, lower, point - t)), lower, upper)

    left, right = 0, 2 * len(places) - 1
    while right - left > 1:
        middle = (left + right) // 2
        left, right = (middle, right) if beside(middle).sum() > total else (left, middle)
    high, low = beside(left), beside(right)
    above, below = float(high.sum()) - total, float(low.sum()) - total
    share = above / (above - below) if above > below else 0.0
    t = places[left // 2] + share * (places[right // 2] - places[left // 2])
    return np.clip(_moved(np.clip(point - t, low, high), low, high, total), low, high)
