"""Only k of d features matter: y = sign(sum over those j of g(x_j) - median), every other feature is noise.

The g alternate between x^2, sin(2 x) and |x|^(1/2), each scaled to unit variance, so that one-feature Gaussian
kernels fit them and a linear kernel does not. Of the d per-feature kernels, a solver should keep k.
"""

from __future__ import annotations

import numpy as np

from ._dataset import Array, DataError, Dataset
from ._info import at_least, generated_info

INFO = generated_info(
    "planted",
    "Planted features",
    (200, 10),
    ("below", "above"),
    "independent Gaussian features, a few of which decide the label",
)
SHAPES = (np.square, lambda x: np.sin(2 * x), lambda x: np.sqrt(np.abs(x)))


def load(n: int = 200, n_features: int = 10, informative: int = 3, flip: float = 0.0, seed: int = 0) -> Dataset:
    """Draw `n` points whose label depends on `informative` of `n_features` features.

    Which ones is drawn too and stands in the data set's ``informative``. A share `flip` of the labels is wrong.
    """
    at_least(4, n=n)
    at_least(1, n_features=n_features, informative=informative)
    if informative > n_features:
        raise DataError(f"informative={informative} of n_features={n_features}: there are not that many features.")
    if not 0 <= flip < 0.5:
        raise DataError(f"flip must be a share of wrong labels from 0 to below 0.5, not {flip}.")
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    columns = np.sort(rng.choice(n_features, informative, replace=False))
    score = sum((_standard(SHAPES[i % 3](X[:, j])) for i, j in enumerate(columns)), np.zeros(n))
    y = np.where(score > np.median(score), 1.0, -1.0)
    wrong = rng.choice(n, int(flip * n), replace=False)
    y[wrong] *= -1
    names = ", ".join(f"x{j + 1}" for j in columns)
    truth = (f"The label depends on {names} alone; {len(wrong)} labels are flipped.",)
    return INFO.dataset(X, y, truth, informative=tuple(int(j) for j in columns))


def _standard(values: Array) -> Array:
    standard: Array = (values - values.mean()) / values.std()
    return standard
