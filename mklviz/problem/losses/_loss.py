"""What a loss must offer: its value at the best bias, and its share of the dual.

    primal    C sum_i l(y_i, f_i + b), minimised over the bias b where there is one
    dual      -C sum_i l*(-beta_i / C)   over signed variables beta with 1'beta = 0 where there is a bias

At the optimum ``f = K_d beta`` and ``beta_i = -C l'(y_i, f_i + b)``. For classification the dual variables that are
shown are ``a = y∘beta``, which lie in [0, C]; for regression they are beta itself. With several classes decisions, dual
and signed variables are (n, c) arrays, a column per class. Where samples have weights w, C w_i takes the place of C.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.kernels.interface import Access
from mklviz.numbers import is_number, is_switch
from mklviz.problem.regularizers import Regularizer
from mklviz.typing import Array, Flags

ON_KINK = 1e-9  # distance from a kink, relative to the largest residual, below which a sample stands on it
LEAST_C, MOST_C = 1e-30, 1e30  # beyond, squares and products of what is computed may overflow
FEASIBLE = 1e-9  # share of its own bound by which a dual variable may leave it, of their sizes by which the sum is off
SUMMED = 1e-15  # share of the largest dual variable that is rounding of its sums
MOST = 1e50  # of a target: solvers compute with powers of it
LEAST = 1e-50  # between targets, likewise
SAME = 1e-12  # difference of sums of weights, relative to all, that rounding may make


@dataclass(frozen=True)
class Loss(ABC):
    """C times a sum of convex losses over the samples.

    Parameters
    ----------
    C : float
        Weight of the loss, from 1e-30 to 1e30.
    bias : bool, default True
        Whether the function has an intercept; without one the dual variables need not balance.

    Attributes
    ----------
    name_, label : str
        Registry key, and the name people use.
    regression : bool
        Whether the targets are real numbers rather than classes.
    multiclass : bool
        Whether the targets are class numbers, such as 0, 1, ..., c-1, rather than -1 and +1.
    one_class : bool
        Whether it learns from samples of one class, without labels.
    by_class : bool
        Whether the problem at fixed weights falls apart into one for each class.
    svm : bool
        Whether the dual is that of the support vector machine, 1'a over 0 <= a <= C (with y'a = 0 where there is a
        bias), which some methods are made for.
    smooth : bool
        Whether the loss has no kink, so that the inner problem is one for Newton's method.
    weighable : bool
        Whether samples may have weights: its formulae then ask for `cost`, `total` and `shares` in place of C.
    inner_methods : mapping
        For each `access` of a bank, what solves the problem at fixed weights: a callable that takes the loss and the
        targets and returns a `mklviz.inner.Inner`; empty where `mklviz.inner` has the methods.
    sample_weight : (n,) array or None
        The weights, on the loss that a problem with weights has; see `for_samples`.
    """

    name_: ClassVar[str] = ""
    label: ClassVar[str] = ""
    regression: ClassVar[bool] = False
    multiclass: ClassVar[bool] = False
    one_class: ClassVar[bool] = False
    by_class: ClassVar[bool] = False
    svm: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    weighable: ClassVar[bool] = False
    inner_methods: ClassVar[Mapping[Access, Callable[[Any, Array], Any]]] = {}
    sample_weight: ClassVar[Array | None] = None  # no parameter: it belongs to the samples, as the targets do
    C: float = 1.0
    bias: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if not (is_number(self.C) and self.C > 0):
            raise ProblemError(f"C must be a positive number, but {self.C!r} was given.")
        if not LEAST_C <= self.C <= MOST_C:
            raise ProblemError(f"C must lie between {LEAST_C:g} and {MOST_C:g}, but {self.C!r} was given.")
        if not is_switch(self.bias):
            raise ProblemError(f"bias must be True or False, but {self.bias!r} was given.")

    def for_samples(self, weights: Array | None) -> Self:
        """Return this loss for samples of these weights, (n,) or None where all count alike."""
        made = copy(self)
        object.__setattr__(made, "sample_weight", weights)
        return made

    @property
    def cost(self) -> float | Array:
        """What an error costs: C, or C w (n,) where samples have weights."""
        return self.C if self.sample_weight is None else self.C * self.sample_weight

    @property
    def top(self) -> float:
        """The largest cost, which the dual variables are measured by."""
        return self.C if self.sample_weight is None else self.C * float(self.sample_weight.max())

    def slack(self, dual: Array) -> float | Array:
        """Return how far dual variables may leave their bounds, a number or (n,): by rounding of what is at hand.

        A large C is no excuse for what is small beside it, nor is a heavy sample for a light one.
        """
        largest = float(np.abs(dual).max(initial=0.0))
        return FEASIBLE * np.minimum(self.cost, largest) + SUMMED * largest

    def total(self, values: Array) -> float:
        """Return C times the sum of `values`, (n,) or (n, c), each sample's times its weight."""
        return self.C * float((values if self.sample_weight is None else self.sample_weight @ values).sum())

    def shares(self, dual: Array) -> Array:
        """Return dual variables, (n,) or (n, c), over what an error costs; 0 for samples without weight."""
        if self.sample_weight is None:
            return dual / self.C
        cost = np.reshape(self.cost, (-1,) + (1,) * (dual.ndim - 1))
        return np.divide(dual, cost, out=np.zeros_like(dual), where=cost > 0.0)

    @property
    def box(self) -> tuple[float | Array, float | Array]:
        """Bounds of every dual variable, two numbers for all or (n,) arrays."""
        return 0.0, self.cost

    @property
    def bounded(self) -> bool:
        """Whether the box has finite sides."""
        return bool(np.isfinite(self.box[1]).all())

    def check_targets(self, y: Array) -> None:
        """Raise `ProblemError` if this loss cannot be used with the targets `y`: numbers, class numbers or signs."""
        check = check_numbers if self.regression else check_labels if self.multiclass else check_classes
        check(y, self.label)

    def check_regularizer(self, regularizer: Regularizer) -> None:  # noqa: B027
        """Raise `ProblemError` if there is no optimum with this regularizer of the kernel weights."""

    def dual_sum(self, y: Array) -> float:
        """Return what the signed dual variables sum to where there is a bias."""
        return 0.0

    def dual_shape(self, y: Array) -> tuple[int, ...]:
        """Return the shape of the dual variables: (n,), or (n, c) with c classes."""
        return (len(y), int(labels_of(y).max()) + 1) if self.multiclass else y.shape

    @abstractmethod
    def value(self, decisions: Array, y: Array) -> float:
        """Return C sum_i l(y_i, decisions_i)."""

    @abstractmethod
    def best_bias(self, scores: Array, y: Array) -> float | Array:
        """Return a minimiser b of ``value(scores + b, y) + S b``, where signed dual variables sum to S, mostly 0."""

    @abstractmethod
    def dual_value(self, dual: Array, y: Array) -> float:
        """Return the loss's part of the dual objective, ``-C sum l*(-beta / C)``."""

    def signed(self, dual: Array, y: Array) -> Array:
        """Return the signed variables beta, with ``f = K_d beta``."""
        return dual if self.regression else dual * y

    def dual_from_signed(self, signed: Array, y: Array) -> Array:
        """Return the dual variables that belong to beta."""
        return signed if self.regression else signed * y

    def check_dual(self, dual: Array, y: Array) -> None:
        """Raise `ProblemError` unless `dual` is feasible up to rounding."""
        low, high = self.box
        shaped = dual.shape == y.shape and bool(np.isfinite(dual).all())
        slack = self.slack(dual)
        inside = shaped and bool((dual >= low - slack).all()) and bool((dual <= high + slack).all())
        sizes = np.abs(dual) if inside else np.zeros(1)
        off = FEASIBLE * float(sizes.sum()) + SUMMED * len(y) * float(sizes.max())
        total = self.dual_sum(y)
        if not inside or (self.bias and abs(self.signed(dual, y).sum() - total) > off):
            C, zero = ("C", "") if self.sample_weight is None else ("C w", ", zero where the weight is")
            lie = f"lie in [{f'-{C}' if np.min(low) < 0 else '0'}, {C}]" if self.bounded else f"be finite numbers{zero}"
            balance = "sum to zero" if self.regression else "balance the classes (y'a = 0)"
            balance = f"sum to {total:g}" if total else balance
            raise ProblemError(f"The dual variables must {lie}{f' and {balance}' if self.bias else ''}.")

    def primal(self, scores: Array, y: Array) -> tuple[float, float | Array]:
        """Return the loss at the best bias, and that bias (zero where there is none; one per class or one in all)."""
        bias = self.best_bias(scores, y) if self.bias else 0.0
        return self.value(scores + bias, y) + self.dual_sum(y) * float(np.sum(bias)), bias

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels: a face of the dual's box.

        Returns
        -------
        lower, upper : (n,) or (n, c) arrays
            Between which they lie.
        axis : int or None
            Along which their sums vanish besides.

        Raises
        ------
        UnsupportedProblem
            If the loss does not say; `lambda_max` then refuses.
        """
        raise UnsupportedProblem(f"The model without kernels is not known for the {self.label} loss.")

    def null_face(self, lower: Array, upper: Array, y: Array) -> tuple[Loss, Array]:
        """Return a loss with this C, and targets for it, whose `null_dual` is the face between `lower` and `upper`.

        These are those at C = 1. What is not free in the face must be a distance of 1 or more from its kink; hinge
        losses are so as they are.
        """
        return self, y

    def full_dual(self, y: Array) -> Array:
        """Return signed dual variables, (n,) or (n, c), that fill their box as far as the bias allows.

        With losses for numbers they are in proportion to the targets, such as those of the function zero.
        """
        if self.regression:
            return np.asarray(self.cost * self.centred(y))
        return self.C * filled(y > 0.0, self.bias, self.sample_weight)

    def centred(self, y: Array) -> Array:
        """Return targets without their mean where there is a bias; rounding of a large one leaves another."""
        for _ in range(2 if self.bias else 0):
            y = y - np.average(y, weights=self.sample_weight)
        return y

    def box_program(self, y: Array) -> tuple[Array, Array]:
        """Return linear terms and signs of the variables b of the dual, where it is a quadratic program over a box.

        Each lies between 0 and its sample's `cost`, or minus that and 0 where its sign is -1; beta is b, or where
        there are twice as many as samples, the sum of the first half and the second. Other losses raise
        `UnsupportedProblem`.
        """
        raise UnsupportedProblem(f"The dual of the {self.label} loss is no quadratic program over a box.")

    def null_bias(self, y: Array) -> float | Array:
        """Return the bias of the model without kernels, zero where there is none."""
        return self.best_bias(np.zeros(self.dual_shape(y)), y) if self.bias else 0.0

    def classes(self, decisions: Array) -> Array:
        """Return the classes that decision values tell: +1 above zero and else -1, or the first column of the largest.

        Zero counts as -1, as it does everywhere in scikit-learn.
        """
        if self.multiclass:
            return decisions.argmax(axis=1).astype(np.float64)
        return np.where(decisions > 0.0, 1.0, -1.0)

    def probabilities(self, decisions: Array) -> Array:
        """Return the probability of class +1 at decision values (n_new,), or raise `ProblemError`."""
        raise ProblemError(f"The {self.label} loss models no probabilities: use the logistic loss, or decision values.")


def check_classes(y: Array, loss: str) -> None:
    """Raise `ProblemError` unless `y` holds -1 and +1, both of them."""
    labels = np.unique(y)
    if not np.isin(labels, (-1.0, 1.0)).all():
        shown = ", ".join(f"{value:g}" for value in labels[:4])
        raise ProblemError(
            f"The {loss} loss needs labels -1 and +1, but y holds {shown}{', …' if len(labels) > 4 else ''}."
        )
    if len(labels) < 2:
        raise ProblemError(f"All labels are {labels[0]:+g}: the {loss} loss needs samples of both classes.")


def check_numbers(y: Array, loss: str) -> None:
    """Raise `ProblemError` unless `y` holds finite numbers, not all equal."""
    if not np.isfinite(y).all():
        raise ProblemError(f"The {loss} loss needs finite targets, but {int((~np.isfinite(y)).sum())} are nan or inf.")
    if (y == y[0]).all():
        raise ProblemError(f"All targets are {y[0]:g}: there is nothing for the {loss} loss to fit.")
    if np.abs(y).max() > MOST or np.ptp(y) < LEAST:
        reach = f"reach {np.abs(y).max():.2g} and differ by {np.ptp(y):.2g}"
        raise ProblemError(f"Targets {reach}, whose squares are hardly numbers: use another unit.")


def filled(positive: Flags, balanced: bool, weights: Array | None = None) -> Array:
    """Return +1 and -1 (n,), or plus and minus the weights; the larger class is scaled down where both must sum to the
    same."""
    sizes = np.ones(len(positive)) if weights is None else weights
    signed = np.where(positive, sizes, -sizes)
    if not balanced:
        return signed
    sums = float(sizes[positive].sum()), float(sizes[~positive].sum())
    scales = [min(sums) / own if own > 0.0 else 0.0 for own in sums]
    return signed * np.where(positive, *scales)


def where_slopes_balance(bends: Array, steps: Array, total: float) -> float:
    """Return a minimiser of a convex function of slope -total at the left, whose slope rises by a step at each bend.

    Where it is flat at its minimum, that is the middle.
    """
    order = np.argsort(bends)
    slopes = np.cumsum(steps[order])
    near = SAME * float(slopes[-1])
    lower = int(np.searchsorted(slopes, total - near))
    upper = int(np.searchsorted(slopes, total + near, side="right"))
    last = len(bends) - 1
    return 0.5 * float(bends[order[min(lower, last)]] + bends[order[min(upper, last)]])


def hinge_face(cost: float | Array, signs: Array, bias: float | Array) -> tuple[Array, Array]:
    """Return the bounds of the optimal signed dual variables of hinge losses at the decision values `bias` alone."""
    beyond = 1.0 - signs * bias
    ends = np.where(beyond > ON_KINK, cost, 0.0), np.where(beyond >= -ON_KINK, cost, 0.0)
    return np.where(signs > 0.0, ends[0], -ends[1]), np.where(signs > 0.0, ends[1], -ends[0])


# Labels of several classes are whole numbers in any numbering: the k-th smallest is column k of the decisions.

_MOST_CLASSES = 10_000  # beyond it the labels are something else, such as the numbers of the samples


def check_labels(y: Array, loss: str) -> None:
    """Raise `ProblemError` unless `y` holds class numbers, at least two different ones."""
    wrong = np.flatnonzero(~np.isfinite(y) | (y != np.rint(y)))
    if len(wrong):
        raise ProblemError(
            f"The {loss} loss needs classes given by whole numbers such as 0, 1, 2, …, but the label of sample"
            f" {wrong[0]} is {y[wrong[0]]:g}."
        )
    different = len(np.unique(y))
    if different < 2:
        raise ProblemError(f"All labels are {y[0]:g}: the {loss} loss needs samples of at least two classes.")
    if different > _MOST_CLASSES:
        raise ProblemError(
            f"y holds {different:,} different labels, and the {loss} loss needs classes, {_MOST_CLASSES:,} at most."
        )


def labels_of(y: Array) -> NDArray[np.intp]:
    """Return the labels as column numbers, (n,)."""
    if y.min() == 0.0 and y.max() < len(y):
        columns = y.astype(np.intp)
        if np.bincount(columns).all():  # numbered as they are, as most are: no need to sort
            return columns
    return np.searchsorted(np.unique(y), y)


def one_hot(y: Array) -> Array:
    """Return the (n, c) array with ones at the samples' own classes."""
    columns = labels_of(y)
    hot = np.zeros((len(y), int(columns.max()) + 1))
    hot[np.arange(len(y)), columns] = 1.0
    return hot
