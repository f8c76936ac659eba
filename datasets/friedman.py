"""Friedman's function, y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise; the other features are noise.

Reference: Friedman, Multivariate adaptive regression splines, Annals of Statistics 19 (1991), equation 61.
"""

from __future__ import annotations

import numpy as np

from ._dataset import Dataset
from ._info import at_least, generated_info, not_negative

INFO = generated_info(
    "friedman",
    "Friedman's function",
    (200, 10),
    (),
    "ten uniform features, the first five of which decide the target",
)


def load(n: int = 200, n_features: int = 10, noise: float = 1.0, seed: int = 0) -> Dataset:
    """Draw `n` points, uniform on the unit cube, with Gaussian noise of standard deviation `noise` on the target."""
    at_least(4, n=n)
    at_least(5, n_features=n_features)
    not_negative(noise=noise)
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, n_features))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return INFO.dataset(X, y + noise * rng.standard_normal(n), informative=(0, 1, 2, 3, 4))
