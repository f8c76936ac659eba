"""Two circles around one centre, radius 1 (-1) and radius 2 (+1), plus noise: no line separates them, a width does."""

from __future__ import annotations

import numpy as np

from ._dataset import Dataset
from ._info import at_least, generated_info, not_negative

INFO = generated_info("rings", "Two rings", (200, 2), ("inner", "outer"), "two circles around one centre with noise")


def load(n: int = 200, noise: float = 0.2, seed: int = 0) -> Dataset:
    """Draw `n` points, half on each circle, with Gaussian noise of standard deviation `noise`."""
    at_least(4, n=n)
    not_negative(noise=noise)
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 2, -1.0, 1.0)
    t = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y < 0, 1.0, 2.0)
    X = radius[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    return INFO.dataset(X + noise * rng.standard_normal((n, 2)), y)
