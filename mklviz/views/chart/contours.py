"""Levels of a contour mark: they lie closer together near the lowest height, as squares do."""

from __future__ import annotations

import numpy as np

from mklviz.typing import Array

__all__ = ["contour_levels"]


def contour_levels(heights: Array, count: int) -> Array:
    """Return the ends of so many bands, (count + 1,), from the lowest height to the highest."""
    low, high = float(heights.min()), float(heights.max())
    room = max(high - low, 1e-9 * max(abs(high), 1.0))
    return low + room * np.linspace(0.0, 1.0, count + 1) ** 2
