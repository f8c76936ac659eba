"""The learned kernel, K_d(x, z) = sum_k d_k K_k(x, z), for other methods: an SVM, kernel PCA, a Gaussian process."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from mklviz.errors import ProblemError
from mklviz.kernels.evaluation.checks import check_points
from mklviz.kernels.interface import in_order
from mklviz.learn._banks import kernel_values
from mklviz.problem.predict import Function
from mklviz.typing import Array

ROWS = 256  # points whose kernel with themselves is read off a matrix at a time


class LearnedKernel(Kernel):
    """What an estimator's `kernel` is: a function of two tables of points, with no parameters left to learn.

    Called with one table it takes it twice. An estimator of precomputed kernels takes kernel values between new and
    training points, as its `predict` does, and gives those of the learned kernel. `names`: of the columns, None where
    they had none; those of a DataFrame are compared with them.
    """

    def __init__(self, function: Function, names: tuple[str, ...] | None = None) -> None:
        self.function, self.names = function, names

    @property
    def table_columns(self) -> tuple[tuple[str, ...], ...]:
        """Return the names that `in_order` compares; what an earlier release has pickled knows them, too."""
        return () if self.names is None else (self.names,)

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return the kernel between the rows of `X` and those of `Y`, and its gradient in no parameters if asked."""
        shape = self.function.part.bank_shape
        if getattr(self.function.part, "points", X) is None:
            K = self.function.kernel(kernel_values(np.asarray(X, dtype=np.float64), shape[1]), None)
        else:
            left = self._points(X)
            K = self.function.kernel(left, left if Y is None else self._points(Y))
        return (K, np.empty((*K.shape, 0))) if eval_gradient else K

    def _points(self, X: Any) -> Array:
        """Return points as an array; methods that take kernels give arrays, which have no names to compare."""
        return check_points(in_order(X, self))

    def diag(self, X: Any) -> Array:
        """Return the kernel of each row of `X` with itself."""
        if getattr(self.function.part, "points", X) is None:
            raise ProblemError("Kernel values do not tell the kernel of a new point with itself.")
        X = self._points(X)
        return np.concatenate([np.diag(self(X[start : start + ROWS])) for start in range(0, len(X), ROWS)])

    def is_stationary(self) -> bool:
        """Return whether it depends on differences of points alone; that is not promised."""
        return False

    def __repr__(self) -> str:
        return f"LearnedKernel({len(self.function.weights)} kernels)"
