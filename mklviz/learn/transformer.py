"""Columns turned into kernels: a table with n columns for each kernel, its values between points and training points.

Steps that follow in a pipeline see a table like any other, and ``kernels="precomputed"`` takes it for a bank; several
such tables, of different columns, are one when they stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mklviz.kernels import KernelFamily
from mklviz.kernels.build.checks import feature_labels, refuse_if_too_large
from mklviz.kernels.cross import refuse_masked
from mklviz.learn._banks import POINT, families_of
from mklviz.typing import Array

__all__ = ["KernelTransformer"]


class KernelTransformer(TransformerMixin, BaseEstimator):
    """Turn columns into kernels for ``MKLClassifier("precomputed")`` and ``MKLRegressor("precomputed")``.

    In a ``ColumnTransformer`` some columns make some kernels and others make others.

    Parameters
    ----------
    kernels : str, KernelFamily or sequence of KernelFamily
        In words, as in ``"gauss:2^-3...2^6@each poly:1...3"``, or as families, such as ``mv.Gaussian()``.

    Attributes
    ----------
    X_fit_ : (n, d) array
        The training points.
    kernel_names_ : list of str
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X has names of columns.

    Examples
    --------
    >>> import mklviz as mv
    >>> X = mv.load_dataset("iris").X
    >>> mv.KernelTransformer("gauss:1,4@each").fit_transform(X).shape  # 8 kernels of 150 samples
    (150, 1200)
    """

    def __init__(self, kernels: str | KernelFamily | Sequence[KernelFamily] = "gauss@all+each") -> None:
        self.kernels = kernels

    def fit(self, X: Any, y: Any = None) -> KernelTransformer:
        """Keep the training points `X`, a table with a row per sample; `y` plays no part.

        Raises
        ------
        KernelError, UnknownName
            With a sentence, if there are no such kernels on these columns.
        """
        refuse_masked(X, "X")  # scikit-learn drops the mask
        self.X_fit_ = validate_data(self, X, dtype=np.float64, copy=True)
        self.kernel_names_ = [
            f"{family.describe(value)} on {name}" for family, name, _ in self._subsets() for value in family.values()
        ]
        return self

    def _subsets(self) -> list[tuple[KernelFamily, str, list[int]]]:
        """Return each family with the names and the columns it is built on."""
        d = self.X_fit_.shape[1]
        names = feature_labels(getattr(self, "feature_names_in_", None), d)
        return [
            (family, name, list(columns))
            for family in families_of(self.kernels)
            for name, columns in family.subsets(d, names)
        ]

    def transform(self, X: Any) -> Array:
        """Return the kernels between points `X` and the training points, (n_new, m n).

        Raises
        ------
        BankTooLarge
            If they do not fit into memory.
        """
        check_is_fitted(self)
        refuse_masked(X, "X")
        new = validate_data(self, X, dtype=np.float64, reset=False)
        m, n = len(self.kernel_names_), len(self.X_fit_)
        refuse_if_too_large(m, n, 8 * m * n * len(new))
        out, k = np.empty((len(new), m, n)), 0
        for family, _, columns in self._subsets():
            base = family.base(new[:, columns], self.X_fit_[:, columns])
            for value in family.values():
                out[:, k] = family.profile(base, value)
                k += 1
        return out.reshape(len(new), m * n)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name for every column, the kernel and the training point."""
        check_is_fitted(self)
        n = len(self.X_fit_)
        return np.array([f"{name}{POINT}{i}" for name in self.kernel_names_ for i in range(n)], dtype=object)
