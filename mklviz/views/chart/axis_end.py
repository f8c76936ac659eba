"""Where a horizontal axis ends, if some runs are so long that the others would be a sliver at its beginning.

    end = FAR * e_j    where e_1 <= ... <= e_k are the ends of the runs, e_(j+1) > FAR * e_j, and j >= k / 2

The shorter ones must have ended: a running one may become long as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

__all__ = ["FAR", "axis_end"]

FAR = 8.0  # times as long: the shorter runs have an eighth of the axis at least


def axis_end(reached: Mapping[str, float], ended: Mapping[str, bool]) -> float:
    """Return where the axis ends.

    `reached`: how far along the axis each run is; `ended`: whether it has ended. inf where the axis has room for
    every run.
    """
    runs = sorted(reached, key=lambda key: reached[key])
    for count, (run, longer) in enumerate(pairwise(runs), start=1):
        if not ended[run]:
            break
        if 2 * count >= len(runs) and reached[longer] > FAR * reached[run] > 0.0:
            return FAR * reached[run]
    return math.inf
