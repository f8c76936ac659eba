"""Whether curves of objectives lie too flat to be told apart.

They do where the second half of the points of most runs fills less than a twentieth of the axis: a method that jumps
far up once has the axis to itself, and all that the others do near the optimum is one line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["squashed"]

FLAT = 0.05  # of the height of the axis
FEWEST = 8  # points of which something can be said


def squashed(curves: Sequence[Sequence[float]]) -> bool:
    """Return whether most of the curves lie flat, drawn on one logarithmic axis."""
    drawn = [[math.log(value) for value in curve if math.isfinite(value) and value > 0.0] for curve in curves]
    every = [height for heights in drawn for height in heights]
    if not every or max(map(len, drawn)) < FEWEST:
        return False
    axis = max(every) - min(every)
    flat = sum(_spread(heights[len(heights) // 2 :]) < FLAT * axis for heights in drawn)
    return 2 * flat > len(drawn)


def _spread(heights: Sequence[float]) -> float:
    return max(heights) - min(heights) if heights else math.inf
