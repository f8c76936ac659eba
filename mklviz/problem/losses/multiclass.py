"""Losses of several classes: one hinge for all of them, or one hinge for each against the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.problem.losses._loss import Loss, filled, hinge_face, labels_of, one_hot
from mklviz.problem.losses.binary import Hinge
from mklviz.typing import Array

# Multiclass hinge loss, C sum_i max(0, 1 + max_{k != y_i} f_k(x_i) - f_{y_i}(x_i)), without bias.
#
# Dual variables are a (n, c) with a_{i,y_i} = 0, a >= 0 and sum_k a_ik <= C; dual value is the sum of all a. The signed
# variables B, with f = K_d B and s_k = tr(B'K_k B), are B_ik = -a_ik for k != y_i and B_{i,y_i} = sum_k a_ik.
#
# Reference: Crammer, Singer, On the algorithmic implementation of multiclass kernel-based vector machines, JMLR 2,
# 2001.


@dataclass(frozen=True)
class MulticlassHinge(Loss):
    """Multiclass hinge loss: the score of the right class must exceed every other by a margin of one.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.

    Examples
    --------
    >>> mv.MKLClassifier("gauss:1", loss=mv.MulticlassHinge())
    MKLClassifier(kernels='gauss:1', loss=MulticlassHinge(C=1.0))
    """

    name_: ClassVar[str] = "multiclass-hinge"
    label: ClassVar[str] = "multiclass hinge"
    multiclass: ClassVar[bool] = True
    weighable: ClassVar[bool] = True
    bias: bool = field(default=False, init=False, repr=False, kw_only=True)

    def value(self, decisions: Array, y: Array) -> float:
        """Return C sum_i max(0, 1 + max_{k != y_i} decisions_ik - decisions_{i,y_i}), decisions (n, c)."""
        own = np.take_along_axis(decisions, labels_of(y)[:, None], axis=1)
        short = decisions - own + (1.0 - one_hot(y))  # in this order its own column is zero, however large C is
        return self.total(short.max(axis=1))

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return 0: there is no bias."""
        return 0.0

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        own, cost = one_hot(y) > 0.0, np.reshape(self.cost, (-1, 1))
        return np.where(own, cost, -cost), np.where(own, cost, 0.0), 1

    def full_dual(self, y: Array) -> Array:
        """Return signed dual variables of a that are C / (c - 1) for every class but a sample's own."""
        shape = self.dual_shape(y)
        dual = np.empty(shape)
        dual[:] = np.reshape(self.cost, (-1, 1)) / max(shape[1] - 1, 1)
        dual[np.arange(len(y)), labels_of(y)] = 0.0
        return self.signed(dual, y)

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return the sum of all a."""
        return float(dual.sum())

    def signed(self, dual: Array, y: Array) -> Array:
        """Return B (n, c): minus a, and in each sample's own column the sum that makes its row vanish."""
        signed = -dual
        signed[np.arange(len(y)), labels_of(y)] = dual.sum(axis=1)
        return signed

    def dual_from_signed(self, signed: Array, y: Array) -> Array:
        """Return a (n, c)."""
        dual = 0.0 - signed  # and not -0
        dual[np.arange(len(y)), labels_of(y)] = 0.0
        return dual

    def check_dual(self, dual: Array, y: Array) -> None:
        """Raise `ProblemError` unless `dual` is feasible up to rounding."""
        shaped = dual.shape == self.dual_shape(y) and bool(np.isfinite(dual).all())
        slack = np.broadcast_to(self.slack(dual), y.shape)
        if not (
            shaped
            and (dual >= -slack[:, None]).all()
            and (dual.sum(axis=1) <= self.cost + slack).all()
            and (np.abs(dual[np.arange(len(y)), labels_of(y)]) <= slack).all()
        ):
            raise ProblemError(
                "The dual variables must be an array of samples by classes, not negative, zero at each sample's own"
                " class, and sum to at most C (times its weight, where samples have weights) for each sample."
            )


# One hinge loss per class against the rest, C sum_k sum_i [1 - Y_ik (f_k(x_i) + b_k)]_+, Y_ik = +1 where y_i = k.
#
# All classes share the kernel weights. Dual variables are a (n, c) with 0 <= a <= C and, with biases, sum_i Y_ik a_ik =
# 0 for every k; dual value is the sum of all a, and the signed variables, with f = K_d B, are B = Y∘a.
#
# Reference: Rifkin, Klautau, In defense of one-vs-all classification, JMLR 5 (2004).


@dataclass(frozen=True)
class OneAgainstAllHinge(Loss):
    """Hinge loss of each class against all others, summed over the classes, which share the kernel weights.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    bias : bool, default True
        Whether the function of each class has an intercept.

    Examples
    --------
    >>> mv.MKLClassifier("gauss:1", loss=mv.OneAgainstAllHinge(bias=False))
    MKLClassifier(kernels='gauss:1', loss=OneAgainstAllHinge(C=1.0, bias=False))
    """

    name_: ClassVar[str] = "one-against-all"
    label: ClassVar[str] = "one-against-all hinge"
    multiclass: ClassVar[bool] = True
    by_class: ClassVar[bool] = True
    weighable: ClassVar[bool] = True

    @property
    def machine(self) -> Hinge:
        """The hinge loss of each class."""
        return Hinge(self.C, bias=self.bias).for_samples(self.sample_weight)

    def value(self, decisions: Array, y: Array) -> float:
        """Return C sum_k sum_i [1 - Y_ik decisions_ik]_+, decisions (n, c)."""
        return self.total(np.maximum(1.0 - _signs(y) * decisions, 0.0))

    def best_bias(self, scores: Array, y: Array) -> Array:
        """Return the best bias of every class, (c,)."""
        machine = self.machine
        return np.array([machine.best_bias(*pair) for pair in zip(scores.T, _signs(y).T, strict=True)])

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        cost = np.reshape(self.cost, (-1, 1))
        return *hinge_face(cost, _signs(y), self.null_bias(y)), 0 if self.bias else None

    def full_dual(self, y: Array) -> Array:
        """Return for every class what the hinge loss has."""
        weights = self.sample_weight
        return self.C * np.column_stack([filled(signs > 0.0, self.bias, weights) for signs in _signs(y).T])

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return the sum of all a."""
        return float(dual.sum())

    def signed(self, dual: Array, y: Array) -> Array:
        """Return Y∘a (n, c)."""
        return dual * _signs(y)

    def dual_from_signed(self, signed: Array, y: Array) -> Array:
        """Return a (n, c)."""
        return signed * _signs(y)

    def check_dual(self, dual: Array, y: Array) -> None:
        """Raise `ProblemError` unless every column is feasible for its class, up to rounding."""
        if dual.shape != self.dual_shape(y):
            raise ProblemError("The dual variables must be an array of samples by classes.")
        machine = self.machine
        for column, signs in zip(dual.T, _signs(y).T, strict=True):
            machine.check_dual(column, signs)


def _signs(y: Array) -> Array:
    """Return Y (n, c): +1 in each sample's own column, -1 in all others."""
    return 2.0 * one_hot(y) - 1.0
