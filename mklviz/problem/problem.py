"""The problem, and its referee: P(d, a) >= optimum >= D(a) for every d >= 0 and every feasible a.

    min_d max_beta  D_loss(beta) - 1/2 beta'(sum_k d_k K_k) beta + r(d)

    P(d, beta) = 1/2 d's(beta) + min_b C sum_i l(y_i, (K_d beta)_i + b) + r(d),      s_k(beta) = beta'K_k beta
    D(beta)    = D_loss(beta) - r*(s(beta) / 2)

beta are signed dual variables, one per sample: ``y∘a`` with 0 <= a <= C for classification, where D_loss is 1'a with
the hinge loss. With c classes beta is (n, c) and s_k(beta) = tr(beta'K_k beta). P is the value of the primal at the
function that d and beta define, D that of the dual at beta: both hold however inexactly a solver solved its inner
problems. `Problem.gap` is (P - D) / |P| (`mklviz.problem.proving`). Where a formulation prices the norms
||f_k|| = d_k sqrt(s_k) and not the weights, P pays that price instead of 1/2 d's + r(d).

Where samples have weights w, C w_i stands for C in the loss of sample i.

Where K_d is not linear in d, as a product of kernels or a kernel with other parameters, beta'K_d beta stands for d's.
P(d, beta) is then an upper bound of the optimum as before, but D bounds nothing, for the problem is not convex: the
lower bound and the gap are nan. They are as well where r* is not known, as of a price of the kernel itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import ProblemError, UnsupportedProblem
from mklviz.kernels.evaluation.checks import checked_weights
from mklviz.kernels.interface import Bank, Cross, numbers, refuse_masked
from mklviz.lazy import cached_property, words
from mklviz.problem.losses import Hinge, Loss
from mklviz.problem.predict import Predictor, weighted_noun
from mklviz.problem.proving import optimize, prove, relative_gap
from mklviz.problem.regularizers import Regularizer, Simplex
from mklviz.quoting import fact_table
from mklviz.typing import Array


@dataclass(frozen=True)
class Problem:
    """A kernel bank, labels, a loss and a regularizer of the kernel weights.

    Parameters
    ----------
    bank : KernelBank, ProductBank or ParametricBank
        m kernels on n samples, to be added or multiplied, or a kernel of m parameters.
    y : (n,) array
        Labels, -1 or +1; class numbers for the multiclass losses, such as 0, 1, 2, or 1, 3, 7 (predictions are named
        alike, and the k-th smallest is column k of the dual variables); or real targets for regression.
    loss : Loss
        Such as ``Hinge(C=100.0)``, or in words, "hinge:C=100"; C is 1 where nothing is said.
    regularizer : Regularizer
        Such as ``Simplex()``, or in words, "lp-ball:p=2".
    sample_weight : (n,) array or float, optional
        How much each sample counts: C times its weight takes the place of C in its loss, as if there were so many of
        it. Zero leaves a sample out. It is None where all are 1.

    Raises
    ------
    ProblemError
        If the labels do not fit the bank or the loss, the regularizer not the kernels, or the weights of the samples
        not the samples.
    UnsupportedProblem
        If the loss knows no weights of samples.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0), regularizer=mv.LpBall(2.0))
    >>> problem.m, problem.n
    (182, 135)
    """

    bank: Bank
    y: Array
    loss: Loss = field(default_factory=Hinge)
    regularizer: Regularizer = field(default_factory=Simplex)
    sample_weight: Array | None = None

    def __post_init__(self) -> None:
        if isinstance(self.loss, str):
            object.__setattr__(self, "loss", words.read_loss(self.loss))
        if isinstance(self.regularizer, str):
            object.__setattr__(self, "regularizer", words.read_regularizer(self.regularizer))
        for part, kind, example in (
            (self.loss, Loss, "loss, such as Hinge(C=10.0)"),
            (self.regularizer, Regularizer, "regularizer, such as Simplex()"),
        ):
            if not isinstance(part, kind):
                raise ProblemError(f"A problem takes a {example}, but {part!r} was given.")
        if not hasattr(self.bank, "n_samples"):
            raise ProblemError(f"A problem takes a bank of kernels, as KernelBank.build makes, not {self.bank!r:.60}.")
        if self.y is None:
            raise ProblemError("y is None: a problem takes a number for each sample, numpy.ones(n) where none is used.")
        refuse_masked(self.y, "y")
        try:
            y = np.array(numbers(self.y, "y")).reshape(-1)
        except ProblemError:
            raise ProblemError("Labels and targets must be numbers, but y holds something else.") from None
        if len(y) != self.bank.n_samples:
            raise ProblemError(f"The bank has {self.bank.n_samples} samples, but y has {len(y)} labels.")
        self.loss.check_targets(y)
        self.regularizer.check(self.m)
        self.loss.check_regularizer(self.regularizer)
        if not (self.bank.convex or self.regularizer.weighted):
            what = "a product of kernels" if self.bank.kind == "product" else "a kernel with parameters"
            raise ProblemError(
                f"The {self.regularizer.label} prices the norm of each kernel's own function, but {what} has only one"
                " function: choose a regularizer of the kernel weights, such as the linear penalty."
            )
        object.__setattr__(self, "regularizer", self.regularizer.for_bank(self.bank))
        weights = checked_weights(self.sample_weight, len(y))
        if weights is not None:
            check_weighted(self.loss, y, weights)
        object.__setattr__(self, "sample_weight", weights)
        object.__setattr__(self, "loss", self.loss.for_samples(weights))
        if self.regularizer.steep:
            optimize.load()
        y.setflags(write=False)
        object.__setattr__(self, "y", y)

    def _repr_html_(self) -> str:
        rows = [
            _weighted(self),
            ("samples", f"{self.n:,}{self._targets()}"),
            ("loss", f"{self.loss.label}, C = {self.loss.C:g}{self.of_weights}"),
            ("kernel weights", self.regularizer.label),
        ]
        return fact_table("Multiple kernel learning problem", rows)

    def _targets(self) -> str:
        """Say what the targets are, after the number of samples."""
        if self.loss.regression:
            return f", targets from {self.y.min():g} to {self.y.max():g}"
        if self.loss.one_class:
            return ", without labels"
        if self.loss.multiclass:
            return f" of {len(np.unique(self.y)):,} classes"
        positive = int((self.y > 0).sum())
        return f", of which {positive:,} are +1 and {self.n - positive:,} are -1"

    @property
    def of_weights(self) -> str:
        """What to say of the weights of the samples behind C, "" where they have none."""
        weights = self.sample_weight
        return "" if weights is None else f" times the weight of each sample, {weights.min():g} to {weights.max():g}"

    @property
    def m(self) -> int:
        """Number of kernels."""
        return len(self.bank)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.bank.n_samples

    @property
    def convex(self) -> bool:
        """Whether the problem is convex in d and has a lower bound, as where kernels are added; see `no_bound`."""
        return self.bank.convex and self.regularizer.conjugated

    @property
    def noun(self) -> str:
        """What has a weight, "kernel" or "parameter"."""
        return weighted_noun(self.bank)

    @property
    def no_bound(self) -> str:
        """Why there is no lower bound, a sentence; "" where there is one."""
        if self.convex:
            return ""
        if self.bank.convex:
            return f"The {self.regularizer.label} has no known dual: there is no lower bound, hence no gap."
        what = "A product of kernels" if self.bank.kind == "product" else "A problem in the parameters of a kernel"
        return f"{what} is not convex: there is no lower bound, hence no gap."

    @cached_property
    def zero_objective(self) -> float:
        """What the zero function costs: the loss of the best bias alone."""
        return self.loss.primal(np.zeros(self.loss.dual_shape(self.y)), self.y)[0]

    def objective(self, weights: Array, dual: Array) -> float:
        """Return P(weights, dual), an upper bound of the optimum; infinity outside r's domain.

        Parameters
        ----------
        weights : (m,) array
            Kernel weights d.
        dual : (n,) array, or (n, c) with c classes
            Dual variables a; they define the function ``f = K_d beta``.

        Raises
        ------
        ProblemError
            If the weights or the dual variables are not so many finite numbers.
        """
        weights, dual = self.arrays(weights, dual)
        if self.regularizer.weighted and self.regularizer.value(weights) == np.inf:
            return float("inf")  # where not even K_d need be finite
        signed = self.loss.signed(dual, self.y)
        scores = self.bank.apply(weights, signed)
        quad = None if self.regularizer.weighted else self.bank.quad(signed)
        return self.primal(weights, scores, float(np.vdot(signed, scores)), quad)

    def arrays(self, weights: ArrayLike, dual: ArrayLike) -> tuple[Array, Array]:
        """Return weights and dual variables as arrays, or say what is wrong with them."""
        shapes = {"weights": (self.m,), "dual variables": self.loss.dual_shape(self.y)}
        arrays = []
        for given, (what, shape) in zip((weights, dual), shapes.items(), strict=True):
            array = numbers(given, f"The {what}")
            if array.shape != shape or not np.isfinite(array).all():
                had = f"an array of shape {array.shape}" if array.shape != shape else "nan or inf among them"
                raise ProblemError(f"The {what} must be finite numbers in an array of shape {shape}, not {had}.")
            arrays.append(array)
        return arrays[0], arrays[1]

    def primal(self, weights: Array, scores: Array, squared_norm: float, quad: Array | None = None) -> float:
        """Return P from the scores ``K_d beta`` and the squared norm ``d's`` of the function.

        A regularizer that is not `weighted` needs s (m,) itself, as `quad`.
        """
        loss = self.loss.primal(scores, self.y)[0]
        if self.regularizer.weighted:
            return 0.5 * squared_norm + loss + self.regularizer.value(weights)
        if quad is None:
            raise ProblemError(f"The price of the {self.regularizer.label} needs the norms: give quad.")
        return loss + self.regularizer.cost(weights, quad)

    def lower_bound(self, dual: Array, quad: Array | None = None) -> float:
        """Return D(dual), a lower bound of the optimum; nan where the problem is not convex and has none.

        Where r's conjugate is finite only for small a, the dual point is scaled down first, and where it is steep, to
        the share of the highest bound. Where rounding in s(a) could matter, it is computed with compensated products,
        see `mklviz.problem.proving`.

        Parameters
        ----------
        dual : (n,) array, or (n, c) with c classes
            Feasible dual variables a.
        quad : (m,) array, optional
            s(a), where the caller knows it.

        Raises
        ------
        ProblemError
            If `dual` is not feasible.
        """
        dual = numbers(dual, "The dual variables")
        self.loss.check_dual(dual, self.y)
        if not self.convex:
            return float("nan")
        bound = prove(self, dual, quad).bound
        if self.zero_objective > 0.0 or self.loss.dual_sum(self.y):
            return bound
        nothing = np.zeros_like(dual)  # proves that the zero function, which costs nothing, is optimal
        return max(bound, self.loss.dual_value(nothing, self.y) - self.regularizer.conjugate(np.zeros(self.m)))

    def gap(self, weights: Array, dual: Array) -> float:
        """Return the relative certified duality gap ``(P - D) / |P|``; nan where the problem is not convex, infinity
        outside r's domain."""
        objective, bound = self.objective(weights, dual), self.lower_bound(dual)
        return objective if np.isinf(objective) else relative_gap(objective, bound)

    def predictor(self, weights: ArrayLike, dual: ArrayLike) -> Predictor:
        """Return the function that weights (m,) and dual variables (n,) define, to be asked about new points."""
        return Predictor(self.bank, self.loss, self.y, weights, dual)

    def decision_values(self, weights: Array, dual: Array, cross: Cross) -> Array:
        """Return ``K_d(new, samples) beta + b`` for the points of `cross`, (n_new,): its sign is the class, or the
        value is the prediction; with c classes (n_new, c), of which the largest is the class."""
        return self.predictor(weights, dual).decision_values(cross)


def _weighted(problem: Problem) -> tuple[str, str]:
    """Say what has weights, and how many there are."""
    if problem.bank.kind == "parametric":
        return "parameters", f"{problem.m:,}, of a kernel"
    return "kernels", f"{problem.m:,}" if problem.bank.kind == "sum" else f"{problem.m:,}, multiplied"


def balanced_classes(y: Array) -> Array:
    """Return the weights of samples of classes `y`, (n,), that give all classes the same in sum, and n in all."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    weights: Array = (len(y) / (len(counts) * counts))[codes]
    return weights


def check_weighted(loss: Loss, y: Array, weights: Array) -> None:
    """Raise `ProblemError` unless a problem can be posed with these weights (n,) of samples with targets `y`."""
    if not loss.weighable:
        raise UnsupportedProblem(f"The {loss.label} loss knows no weights of samples: leave sample_weight out.")
    counted = y[weights > 0.0]
    missing = np.setdiff1d(y, counted)
    if loss.multiclass and len(missing):
        raise ProblemError(f"All samples of class {missing[0]:g} have weight zero: give some weight, or leave all out.")
    try:
        loss.check_targets(counted)
    except ProblemError as error:
        raise ProblemError(f"Only samples of weight above zero count. {error}") from None
