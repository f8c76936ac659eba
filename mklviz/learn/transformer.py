"""Columns turned into kernels, n columns for each, and into features whose inner products are the learned kernel.

Steps that follow in a pipeline see a table like any other. ``kernels="precomputed"`` takes one of kernels, the values
between points and training points, for a bank; several such tables, of different columns, are one side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from mklviz.errors import KernelError
from mklviz.kernels import KernelFamily, Nystrom
from mklviz.kernels.evaluation.checks import check_points, feature_labels, read_families, refuse_if_too_large
from mklviz.kernels.interface import dense, refuse_masked
from mklviz.learn._banks import AUTO, POINT, with_names
from mklviz.learn._base import MKLEstimator
from mklviz.learn.classifier import MKLClassifier
from mklviz.problem.predict import Function
from mklviz.typing import Array


class KernelTransformer(TransformerMixin, BaseEstimator):
    """Turn columns into kernels for ``MKLClassifier("precomputed")`` and ``MKLRegressor("precomputed")``.

    In a ``ColumnTransformer`` some columns make some kernels and others make others. Values are those of the kernels as
    they are: the estimator behind scales them. Arrays have no names: with ``set_output(transform="pandas")`` of all
    steps before it, the estimator knows its kernels by theirs.

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
        self.X_fit_ = check_points(validate_data(self, with_names(X), dtype=np.float64, copy=True, accept_sparse="csr"))
        self.kernel_names_ = self._names(getattr(self, "feature_names_in_", None))
        return self

    def _names(self, features: Sequence[str] | None) -> list[str]:
        """Return what the kernels are called if the columns are called so."""
        return [
            f"{family.describe(value)} on {name}"
            for family, name, _ in self._subsets(features)
            for value in family.values()
        ]

    def _subsets(self, features: Sequence[str] | None) -> list[tuple[KernelFamily, str, list[int]]]:
        """Return each family with the names and the columns it is built on."""
        d = self.X_fit_.shape[1]
        names = feature_labels(features, d)
        return [
            (family, name, list(columns))
            for family in read_families(self.kernels)
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
        new = dense(validate_data(self, with_names(X), dtype=np.float64, reset=False, accept_sparse="csr"))
        m, n = len(self.kernel_names_), len(self.X_fit_)
        refuse_if_too_large(m, n, 8 * m * n * len(new))
        out, k = np.empty((len(new), m, n)), 0
        for family, _, columns in self._subsets(getattr(self, "feature_names_in_", None)):
            base = family.base(new[:, columns], self.X_fit_[:, columns])
            for value in family.values():
                out[:, k] = family.profile(base, value)
                k += 1
        return out.reshape(len(new), m * n)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name for every column, the kernel and the training point.

        Parameters
        ----------
        input_features : array of str, optional
            What the columns of X are called, if X had no names of its own; x1, x2, ... by default.
        """
        check_is_fitted(self)
        n, names = len(self.X_fit_), self.kernel_names_
        if input_features is not None:
            names = self._names(_check_feature_names_in(self, input_features).tolist())
        return np.array([f"{name}{POINT}{i}" for name in names for i in range(n)], dtype=object)


class MKLTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn the weights of approximate kernels; turn points into features whose inner products are their weighted sum.

    Whatever is linear may follow, also what learns from another target or from more samples.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor or another, optional
        What learns the weights, by default ``MKLClassifier("gauss@all+each")``; where it says nothing of approximation,
        `Nystrom()`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one, with `weights_` and `kernel_names_`.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X has names of columns.

    Examples
    --------
    >>> data = mv.load_dataset("iris")
    >>> weighed = mv.MKLTransformer(mv.MKLClassifier("gauss:1,4", approximation=mv.Nystrom(20)))
    >>> Z = weighed.fit_transform(data.X, data.y)
    >>> np.allclose(Z @ Z.T, weighed.estimator_.kernel(data.X))
    True
    """

    def __init__(self, estimator: MKLEstimator | None = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MKLTransformer:
        """Learn the weights from samples `X`, as the estimator does.

        Raises
        ------
        KernelError, ProblemError, UnknownName
            With a sentence, if the estimator cannot learn from them, or its kernels are exact.
        """
        self.estimator_ = self._asked()
        if self.estimator_.approximation == AUTO:
            self.estimator_.set_params(approximation=Nystrom())
        self.estimator_.fit(X, y, sample_weight=sample_weight)
        validate_data(self, X, skip_check_array=True)  # keeps the features' number and names
        self._n_features_out = self.estimator_._function.features(np.empty((0, self.n_features_in_))).shape[1]
        return self

    def _asked(self) -> Any:
        if self.estimator is None:
            return MKLClassifier("gauss@all+each")
        if not isinstance(self.estimator, MKLEstimator):
            raise KernelError(f'MKLClassifier("gauss:1,4") and the like learns weights, not {self.estimator!r:.80}.')
        return clone(self.estimator)

    def transform(self, X: Any) -> Array:
        """Return the features of points `X`, (n, r): those of the kernels that have weight."""
        check_is_fitted(self)
        return np.asarray(self.estimator_._at(X, Function.features))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with suppress(KernelError):  # what learns no weights is refused by fit
            inner = get_tags(self._asked())
            tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags
