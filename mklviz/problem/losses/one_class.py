"""One-class SVM, min over rho of C sum_i [rho - f_i]_+ - rho S with S = nu C n: dual variables 0 <= a <= C, 1'a = S.

The decision value is f - rho, so the bias is -rho. The dual value is zero, and so is every objective at most: the
optimum is minus half the squared norm of the function. With C = 1 numbers are those of scikit-learn's `OneClassSVM`.

Reference: Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Estimating the support of a high-dimensional distribution,
Neural Computation 13 (2001); for kernel weights Rakotomamonjy, Bach, Canu, Grandvalet, SimpleMKL, JMLR 9 (2008),
section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mklviz.errors import ProblemError
from mklviz.numbers import is_number
from mklviz.problem.losses._loss import Loss, where_slopes_balance
from mklviz.problem.regularizers import Regularizer
from mklviz.typing import Array


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
