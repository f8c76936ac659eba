"""Two half circles reaching into each other: (cos t, sin t) and (1 - cos t, 1/2 - sin t), 0 <= t <= pi, plus noise."""

from __future__ import annotations

import numpy as np

from ._dataset import Dataset
from ._info import at_least, generated_info, not_negative

INFO = generated_info(
    "two_moons", "Two moons", (200, 2), ("upper", "lower"), "two interleaving half circles with noise"
)


def load(n: int = 200, noise: float = 0.15, seed: int = 0) -> Dataset:
    """Draw `n` points, half of each moon, with Gaussian noise of standard deviation `noise`."""
    at_least(4, n=n)
    not_negative(noise=noise)
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 2, -1.0, 1.0)
    t = rng.uniform(0, np.pi, n)
    upper = np.column_stack([np.cos(t), np.sin(t)])
    X = np.where(y[:, None] < 0, upper, [1.0, 0.5] - upper)
    return INFO.dataset(X + noise * rng.standard_normal((n, 2)), y)
