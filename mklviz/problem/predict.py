"""What was learned, as a function of new points: f(x) = sum_i beta_i sum_k d_k K_k(x, x_i) + b.

Samples with beta_i = 0 and kernels with d_k = 0 play no part in f, so only the support vectors and the kernels with
weight are kept, and only they are evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import KernelError, ProblemError
from mklviz.kernels.interface import Bank, Cross, Movable, Part, in_order, numbers
from mklviz.kernels.nystrom import NystromCross
from mklviz.problem.losses import Loss
from mklviz.typing import Array


def weighted_noun(bank: Bank) -> str:
    """Return what has a weight, "kernel" or "parameter"."""
    return "parameter" if bank.kind == "parametric" else "kernel"


@dataclass(frozen=True, eq=False)  # arrays compare entry by entry
class Function:
    """The learned function: kernels with weight between any point and the support vectors."""

    part: Part
    weights: Array  # (k,)
    signed: Array  # (s,) or (s, c): signed dual variables of the support vectors
    bias: float | Array  # float or (c,)

    def __call__(self, new: Array) -> Array:
        """Return f at new points, (n_new,) or (n_new, c)."""
        return np.asarray(self.part.cross(new).apply(self.weights, self.signed) + self.bias)

    def split(self, new: Array) -> Array:
        """Return what each kernel of the bank adds to f at new points, (m, n_new) or (m, n_new, c)."""
        cross, part = self.part.cross(new), _placed(self.part)
        out = np.zeros((part.bank_shape[0], len(cross), *self.signed.shape[1:]))
        for k, weight in enumerate(self.weights):
            alone = np.zeros_like(self.weights)
            alone[k] = weight
            out[part.which[k]] = cross.apply(alone, self.signed)
        return out

    def features(self, new: Array) -> Array:
        """Return new points in coordinates whose inner products are the learned kernel, (n_new, r)."""
        cross = self.part.cross(new)
        if not isinstance(cross, NystromCross):
            raise KernelError(
                "Exact and precomputed kernels have no features: let the estimator approximate them by landmarks, as in"
                " MKLClassifier(approximation=Nystrom(100))."
            )
        return cross.features(self.weights)

    def kernel(self, new: Array, others: Array | None) -> Array:
        """Return the learned kernel K_d between new points and others; all samples where kernel values were given."""
        return np.asarray(_placed(self.part).at(others).cross(new).combine(self.weights))


def _placed(part: Part) -> Movable:
    assert isinstance(part, Movable)  # estimators add their kernels
    return part


class Predictor:
    """The function that kernel weights and dual variables define, with the bias at which they do best.

    It holds no Gram matrix and not the bank, so it may be kept, pickled and sent around. Wherever new points are asked
    for, give an (n_new, d) array; for a bank of Gram matrices the kernel values between new points and samples, an
    (m, n_new, n) array or only the rows `kernels` and the columns `support` of it.

    Parameters
    ----------
    bank : Bank
        The kernels on the samples.
    loss : Loss
    y : (n,) array
        The samples' targets.
    weights : (m,) array
        Kernel weights d.
    dual : (n,) array, or (n, c) array for a loss with c classes
        Dual variables a.

    Attributes
    ----------
    support : array of int
        The samples with a dual variable that is not zero, the support vectors.
    kernels : array of int
        The kernels with weight.
    bias : float, or (c,) array

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> best = mv.solve(problem).best
    >>> predictor = problem.predictor(best.weights, best.dual)
    >>> predictor.classes(np.eye(4)).tolist()
    [1.0, 1.0, -1.0, -1.0]
    """

    def __init__(self, bank: Bank, loss: Loss, y: Array, weights: ArrayLike, dual: ArrayLike) -> None:
        d, a = numbers(weights, "The kernel weights"), numbers(dual, "The dual variables")
        expected, m = loss.dual_shape(y), len(bank)
        if d.shape != (m,) or a.shape != expected or not (np.isfinite(d).all() and np.isfinite(a).all()):
            raise ProblemError(
                f"Predictions need {m} kernel weights and dual variables of shape {expected}, finite numbers"
                f" all, but arrays of shape {d.shape} and {a.shape} were given."
            )
        if d.min(initial=0.0) < -1e-9 * np.abs(d).max(initial=0.0):  # rounding may leave less
            k = int(d.argmin())
            raise ProblemError(
                f"The weight of a {weighted_noun(bank)} must not be below zero, but number {k} is {d[k]:g}: give"
                " weights of a solver, such as trace.best.weights."
            )
        signed = loss.signed(a, y)
        used = signed != 0.0
        self.kernels = np.flatnonzero(d)
        self.support = np.flatnonzero(used if used.ndim == 1 else used.any(1))
        self._loss, self._noun = loss.for_samples(None), weighted_noun(bank)
        self._labels = np.unique(y) if loss.multiclass else None  # by column of the decisions
        # losses for regression fit classes as well, by the values -1 and +1
        self._numbers = loss.regression and not np.isin(y, (-1.0, 1.0)).all()
        self.table_columns = getattr(bank, "table_columns", ())  # for `in_order`
        # half a million samples, for which one can stand
        part, own = bank.part(self.kernels, self.support).merged(signed[self.support])
        self.function = Function(part, d[self.kernels], own, loss.primal(bank.apply(d, signed), y)[1])
        self.bias = self.function.bias

    def __repr__(self) -> str:
        m, n = self.function.part.bank_shape
        return f"Predictor({len(self.kernels)} of {m} {self._noun}s, {len(self.support)} of {n} samples)"

    def decision_values(self, X_new: ArrayLike | Cross) -> Array:
        """Return f at new points, (n_new,) or (n_new, c), or raise `KernelError` where they do not fit the bank."""
        return self.function(X_new.new if isinstance(X_new, Cross) else in_order(X_new, self))

    def predict(self, X_new: ArrayLike | Cross) -> Array:
        """Return what the problem's targets would be at new points, (n_new,): classes, or values for regression."""
        return self.decision_values(X_new) if self._loss.regression else self.classes(X_new)

    def classes(self, X_new: ArrayLike | Cross) -> Array:
        """Return the classes of new points, (n_new,), named as in y; numbers as targets raise `ProblemError`."""
        if self._numbers:
            raise ProblemError("The targets are numbers, not the classes -1 and +1: ask for decision values.")
        codes = self._loss.classes(self.decision_values(X_new))
        return codes if self._labels is None else self._labels[codes.astype(np.intp)]

    def probabilities(self, X_new: ArrayLike | Cross) -> Array:
        """Return the probability of class +1 at new points, (n_new,); a loss that models none raises `ProblemError`."""
        return self._loss.probabilities(self.decision_values(X_new))
