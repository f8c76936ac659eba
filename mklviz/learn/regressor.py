"""Numbers by multiple kernel learning: the learned function itself."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin

from mklviz.errors import ProblemError
from mklviz.learn._base import ATTRIBUTES, PARAMETERS, MKLEstimator
from mklviz.problem import Loss
from mklviz.typing import Array


class MKLRegressor(RegressorMixin, MKLEstimator):
    __doc__ = f"""Regressor that learns the weights of its kernels with itself.

    Parameters
    ----------
    {PARAMETERS}

    Attributes
    ----------
    {ATTRIBUTES}

    Notes
    -----
    By default the loss is the squared loss, whose solution is in proportion to y.

    Examples
    --------
    >>> data = mv.load_dataset("iris")
    >>> mv.MKLRegressor("gauss:1").fit(data.X[:, :3], data.X[:, 3]).score(data.X[:, :3], data.X[:, 3]) > 0.9
    True
    """

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        """Return X, y and the weights of the samples that have any."""
        X, y = self._checked(X, y, y_numeric=True, ensure_min_samples=2)
        return self._counted(X, y, sample_weight)

    def _posed_loss(self, C: float) -> Loss:
        loss = self._loss("squared", C)
        if not loss.regression:
            raise ProblemError(f'The {loss.label} loss tells classes apart: choose "squared" or "epsilon-insensitive".')
        return loss

    def predict(self, X: Any) -> Array:
        """Return the values at points `X`, (n,)."""
        return self._decide(X)
