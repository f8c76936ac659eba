"""Points spread evenly over a board, labelled by the colour of their square: y = (-1)^(floor x1 + floor x2 + 1)."""

from __future__ import annotations

import numpy as np

from ._dataset import Dataset
from ._info import at_least, generated_info

INFO = generated_info(
    "checkerboard", "Checkerboard", (400, 2), ("dark", "light"), "uniform points labelled by the square they fall in"
)


def load(n: int = 400, squares: int = 4, seed: int = 0) -> Dataset:
    """Draw `n` points on a board of `squares` by `squares`, each square of side 1."""
    at_least(4, n=n)
    at_least(2, squares=squares)
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, squares, (n, 2))
    odd = np.floor(X).sum(axis=1) % 2
    return INFO.dataset(X, np.where(odd, 1.0, -1.0))
