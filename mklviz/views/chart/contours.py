"""Levels of a contour mark: they lie closer together near the lowest height, as squares do."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.plotting.contour import contour_data

from mklviz.typing import Array
from mklviz.views.chart.description import ContourMark, Table
from mklviz.views.look.shades import mixed

__all__ = ["contour_bands", "contour_levels"]


def contour_levels(heights: Array, count: int) -> Array:
    """Return the ends of so many bands, (count + 1,), from the lowest height to the highest."""
    low, high = float(heights.min()), float(heights.max())
    room = max(high - low, 1e-9 * max(abs(high), 1.0))
    return low + room * np.linspace(0.0, 1.0, count + 1) ** 2


def contour_bands(mark: ContourMark, table: Table) -> dict[str, list[Any]]:
    """Return the polygons between the levels of a mesh, and their shades; none where there is no mesh."""
    x, y, z = (np.asarray(table[column]) for column in (mark.x, mark.y, mark.z))
    if not z.size:
        return {"xs": [], "ys": [], "fill": []}
    levels = contour_levels(z, mark.levels)
    rounding = 1e-6 * (levels[-1] - levels[0])
    levels[0], levels[-1] = levels[0] - rounding, levels[-1] + rounding
    bands = contour_data(x, y, z, levels, want_line=False).fill_data
    shares = np.linspace(0.0, 1.0, len(bands.xs)).tolist()
    return {"xs": bands.xs, "ys": bands.ys, "fill": [mixed(mark.low, mark.high, share) for share in shares]}
