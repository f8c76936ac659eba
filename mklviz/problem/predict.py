"""What was learned, as a function of new points: f(x) = sum_i beta_i sum_k d_k K_k(x, x_i) + b.

Samples with beta_i = 0 and kernels with d_k = 0 play no part in f, so only the support vectors and the kernels with
weight are kept, and only they are evaluated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import ProblemError
from mklviz.kernels.interface import Bank, Cross, in_order, numbers
from mklviz.problem.losses import Loss
from mklviz.typing import Array


def weighted_noun(bank: Bank) -> str:
    """Return what has a weight, "kernel" or "parameter"."""
    return "parameter" if bank.kind == "parametric" else "kernel"


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
        self.bias = loss.primal(bank.apply(d, signed), y)[1]
        self.kernels = np.flatnonzero(d)
        self.support = np.flatnonzero(used if used.ndim == 1 else used.any(1))
        self._loss, self._noun = loss.for_samples(None), weighted_noun(bank)
        self._labels = np.unique(y) if loss.multiclass else None  # by column of the decisions
        # losses for regression fit classes as well, by the values -1 and +1
        self._numbers = loss.regression and not np.isin(y, (-1.0, 1.0)).all()
        self.table_columns = getattr(bank, "table_columns", ())  # for `in_order`
        # half a million samples, for which one can stand
        self._part, self._signed = bank.part(self.kernels, self.support).merged(signed[self.support])
        self._weights = d[self.kernels]

    def __repr__(self) -> str:
        m, n = self._part.bank_shape
        return f"Predictor({len(self.kernels)} of {m} {self._noun}s, {len(self.support)} of {n} samples)"

    def decision_values(self, X_new: ArrayLike | Cross) -> Array:
        """Return f at new points, (n_new,) or (n_new, c), or raise `KernelError` where they do not fit the bank."""
        cross = self._part.cross(X_new.new if isinstance(X_new, Cross) else in_order(X_new, self))
        return np.asarray(cross.apply(self._weights, self._signed) + self.bias)

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
