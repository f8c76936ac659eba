"""Outliers by multiple kernel learning: what lies outside a boundary around the samples, as in the one-class SVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from mklviz.errors import ProblemError
from mklviz.kernels import KernelFamily
from mklviz.learn._base import ATTRIBUTES, PARAMETERS, MKLEstimator
from mklviz.problem import Loss, OneClass, Problem
from mklviz.record import Trace
from mklviz.typing import Array

ON_BOUNDARY = 1e-6  # share of rho by which it is lowered, so that rounding makes no sample on it an outlier


@dataclass(eq=False, repr=False)
class MKLOneClass(OutlierMixin, MKLEstimator):
    __doc__ = f"""Detector of outliers that learns the weights of its kernels with itself.

    Parameters
    ----------
    {PARAMETERS}
    nu : float
        At most this share of the samples are outliers, and at least this share are support vectors; above 0, up to 1.

    Attributes
    ----------
    offset_ : float
        rho: samples of a smaller score are outliers.
    {ATTRIBUTES}

    Notes
    -----
    `loss` is the one-class loss. The objective is least for kernels under which all samples look alike, so the weights
    go to the widest of many Gaussians: choose widths that are all narrow enough, or kernels centred to one spread.

    Examples
    --------
    >>> import numpy as np
    >>> import mklviz as mv
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> detector = mv.MKLOneClass("gauss:0.5,1", nu=0.1).fit(X)
    >>> detector.predict([[1.0, 1.0], [9.0, 9.0]]).tolist()
    [1, -1]
    """

    kernels: str | KernelFamily | Sequence[KernelFamily] = "gauss:1@all+each"
    _: KW_ONLY
    nu: float = 0.5

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        """Return X, a target for each sample, and the weights of the samples that have any."""
        X = self._checked(X, ensure_min_samples=2)
        return self._counted(X, np.ones(len(X)), sample_weight)

    def _keep(self, problem: Problem, trace: Trace, notes: tuple[str, ...] = ()) -> None:
        super()._keep(problem, trace, notes)
        self.intercept_ = self.intercept_ + ON_BOUNDARY * np.abs(self.intercept_)
        self._function = replace(self._function, bias=float(self.intercept_[0]))
        self.offset_ = -float(self.intercept_[0])

    def _posed_loss(self, C: float) -> Loss:
        if self.loss == "auto":
            return OneClass(C, self.nu)
        loss = self._loss("one-class", C)
        if not loss.one_class:
            raise ProblemError(f'The {loss.label} loss needs labels: leave loss="auto" and set nu.')
        return loss

    def decision_function(self, X: Any) -> Array:
        """Return the score less `offset_` of points `X`, (n,): negative for outliers."""
        return self._decide(X)

    def score_samples(self, X: Any) -> Array:
        """Return the scores of points `X`, (n,): the learned function, larger where samples are alike."""
        return np.asarray(self._decide(X) + self.offset_)

    def predict(self, X: Any) -> Any:
        """Return +1 for points `X` inside the boundary and -1 for outliers, (n,)."""
        return np.where(self._decide(X) < 0.0, -1, 1)
