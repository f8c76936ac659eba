"""How far two bounds of the optimum are apart:  gap = (P - D) / |P|,  for every loss, regularizer and C.

An objective that the optimum lies far below, such as that of the zero function where C is large, would promise more
than is proved. Where P itself is rounding, no relative gap can be reached, and a run ends as "precision".
"""

from __future__ import annotations

import numpy as np

__all__ = ["relative_gap"]


def relative_gap(upper: float, lower: float) -> float:
    """Return ``(upper - lower) / |upper|``; nan where a bound is nan."""
    return (upper - lower) / max(abs(upper), np.finfo(float).tiny)
