"""Losses of two classes, hinge and logistic, and of one: the one-class SVM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.lazy import Later
from mklviz.numbers import is_number
from mklviz.problem.losses._loss import Loss, hinge_face, where_slopes_balance
from mklviz.problem.regularizers import Regularizer
from mklviz.typing import Array

# Hinge loss, C sum_i [1 - y_i (f_i + b)]_+, with dual variables 0 <= a <= C, y'a = 0 and dual value 1'a.


@dataclass(frozen=True)
class Hinge(Loss):
    """Hinge loss of the support vector machine.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    bias : bool, default True
        Whether the function has an intercept.

    Examples
    --------
    >>> mv.Hinge(C=10.0).value(np.array([2.0, 0.5]), np.array([1.0, -1.0]))  # 10 (0 + 1.5)
    15.0
    """

    name_: ClassVar[str] = "hinge"
    label: ClassVar[str] = "hinge"
    svm: ClassVar[bool] = True
    weighable: ClassVar[bool] = True

    def value(self, decisions: Array, y: Array) -> float:
        """Return C sum_i [1 - y_i decisions_i]_+."""
        return self.total(np.maximum(1.0 - y * decisions, 0.0))

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return a bias of least loss.

        As a function of b each term bends by one at ``y_i - scores_i``; the slope starts at minus the number of
        positive samples, so the n_plus-th smallest bend is a minimiser. With weights they are what is counted.
        """
        bends, weights = y - scores, self.sample_weight
        if weights is not None:
            return where_slopes_balance(bends, weights, float(weights[y > 0.0].sum()))
        n_plus = int((y > 0).sum())
        lower, upper = np.partition(bends, (n_plus - 1, n_plus))[n_plus - 1 : n_plus + 1]
        return 0.5 * float(lower + upper)  # the loss is flat between the two

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        return *hinge_face(self.cost, y, self.null_bias(y)), 0 if self.bias else None

    def box_program(self, y: Array) -> tuple[Array, Array]:
        """Return y twice: ``y'b`` is 1'a."""
        return np.array(y), np.array(y)

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return 1'a."""
        return float(dual.sum())


# Logistic loss, C sum_i log(1 + exp(-y_i (f_i + b))), with dual variables 0 <= a <= C, y'a = 0 and dual value -C
# sum_i [u log u + (1 - u) log(1 - u)], u = a_i / C.


special = Later("scipy.special")


@dataclass(frozen=True)
class Logistic(Loss):
    """Logistic loss of logistic regression.

    Parameters
    ----------
    C : float
        Weight of the loss, C > 0.
    bias : bool, default True
        Whether the function has an intercept.

    Examples
    --------
    >>> mv.Logistic().probabilities(np.array([0.0, 5.0])).round(3).tolist()  # of class +1
    [0.5, 0.993]
    """

    name_: ClassVar[str] = "logistic"
    label: ClassVar[str] = "logistic"
    smooth: ClassVar[bool] = True
    weighable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        special.load()

    def value(self, decisions: Array, y: Array) -> float:
        """Return C sum_i log(1 + exp(-y_i decisions_i))."""
        return self.total(np.logaddexp(0.0, -y * decisions))

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return the bias at which the two classes' errors balance, by Newton's method inside a shrinking interval.

        The slope of the loss in b is a sum of n sigmoids minus the number of positive samples; replacing all scores
        by the largest (the smallest) gives the ends of the interval. With weights they are what is summed.
        """
        weights = np.ones_like(y) if self.sample_weight is None else self.sample_weight
        pull, plus = weights * y, float(weights[y > 0.0].sum())
        middle = float(np.log(plus / float(weights[y < 0.0].sum())))
        low, high = middle - float(scores.max()), middle - float(scores.min())
        bias = 0.5 * (low + high)
        for _ in range(200):  # bisection alone needs some fifty
            errors = special.expit(-y * (scores + bias))
            slope = -float(pull @ errors)
            low, high = (bias, high) if slope < 0.0 else (low, bias)
            curvature = float((weights * errors) @ (1.0 - errors))
            step = slope / curvature if curvature > 0.0 else np.inf
            wanted = bias - step
            if not low < wanted < high:
                wanted = 0.5 * (low + high)
            if slope == 0.0 or abs(wanted - bias) <= 1e-16 * max(abs(low), abs(high)):
                return bias
            bias = wanted
        return bias

    def null_dual(self, y: Array) -> tuple[Array, Array, int | None]:
        """Return all optimal signed dual variables of the model without kernels, see `Loss`."""
        point = self.cost * y / (1.0 + np.exp(y * self.null_bias(y)))
        return point, point, None

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return the entropy C sum_i -u log u - (1 - u) log(1 - u), u = a / C, which is 0 at both ends."""
        share = np.clip(self.shares(dual), 0.0, 1.0)
        return self.total(special.entr(share) - special.xlog1py(1.0 - share, -share))  # 1 - u cancels where u is small

    def probabilities(self, decisions: Array) -> Array:
        """Return ``1 / (1 + exp(-decisions))``, the probability of class +1 whose logarithm this loss sums."""
        return np.asarray(special.expit(decisions))


# -- One-class SVM, min over rho of C sum_i [rho - f_i]_+ - rho S with S = nu C n: dual variables 0 <= a <= C, 1'a = S.
#
# The decision value is f - rho, so the bias is -rho. The dual value is zero, and so is every objective at most: the
# optimum is minus half the squared norm of the function. With C = 1 numbers are those of scikit-learn's `OneClassSVM`.
#
# Reference: Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Estimating the support of a high-dimensional
# distribution, Neural Computation 13 (2001); for kernel weights Rakotomamonjy, Bach, Canu, Grandvalet, SimpleMKL, JMLR
# 9 (2008), section 3.3.


@dataclass(frozen=True)
class OneClass(Loss):
    """What the one-class SVM pays for samples on the wrong side of its boundary, less what the boundary earns.

    Labels play no part: it learns from all samples that have weight. Kernels under which all samples look alike cost
    least, so kernels should be of one spread: centre them, or choose widths that are all narrow.

    Parameters
    ----------
    C : float
        Upper bound of the dual variables, C > 0.
    nu : float
        At most this share of the samples are outliers, and at least this share are support vectors; 0 < nu <= 1.

    Examples
    --------
    >>> mv.MKLOneClass("gauss:1", loss=mv.OneClass(nu=0.2))
    MKLOneClass(kernels='gauss:1', loss=OneClass(C=1.0, nu=0.2))
    """

    name_: ClassVar[str] = "one-class"
    label: ClassVar[str] = "one-class"
    one_class: ClassVar[bool] = True
    weighable: ClassVar[bool] = True
    nu: float = 0.1
    bias: bool = field(
        default=True, init=False, repr=False, kw_only=True
    )  # minus rho, without which there is no boundary

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_number(self.nu) and 0.0 < self.nu <= 1.0):
            raise ProblemError(f"nu, a share of the samples, must lie above 0 and at most at 1, not be {self.nu!r}.")

    def check_targets(self, y: Array) -> None:
        """Raise `ProblemError` unless `y` holds finite numbers; they are not used."""
        if not np.isfinite(y).all():
            raise ProblemError(
                "The one-class loss uses no labels, but they must be numbers, such as 1 for each sample."
            )

    def check_regularizer(self, regularizer: Regularizer) -> None:
        """Raise `ProblemError` where twice the weights earn and cost twice as much, so that there is no best size."""
        if regularizer.linear:
            raise ProblemError(
                f"With the {regularizer.label} the one-class SVM has no best weights, as all of them times ten earn and"
                " cost ten times as much: choose a constraint, such as the simplex."
            )

    def dual_sum(self, y: Array) -> float:
        """Return S, nu times the largest sum."""
        return self.nu * self.C * (len(y) if self.sample_weight is None else float(self.sample_weight.sum()))

    def signed(self, dual: Array, y: Array) -> Array:
        """Return the dual variables, which are their own signed ones."""
        return dual

    def dual_from_signed(self, signed: Array, y: Array) -> Array:
        """Return the signed variables."""
        return signed

    def value(self, decisions: Array, y: Array) -> float:
        """Return C sum_i [-decisions_i]_+, without what rho earns."""
        return self.total(np.maximum(-decisions, 0.0))

    def best_bias(self, scores: Array, y: Array) -> float:
        """Return -rho: a share nu of the samples, at most, has smaller scores than rho, see `Loss.primal`."""
        weights = np.ones(len(y)) if self.sample_weight is None else self.sample_weight
        return where_slopes_balance(-scores, weights, (1.0 - self.nu) * float(weights.sum()))

    def full_dual(self, y: Array) -> Array:
        """Return a = nu C for every sample."""
        return np.full(len(y), self.nu) * self.cost

    def box_program(self, y: Array) -> tuple[Array, Array]:
        """Return zero and one: there is no linear term."""
        return np.zeros(len(y)), np.ones(len(y))

    def dual_value(self, dual: Array, y: Array) -> float:
        """Return 0."""
        return 0.0
