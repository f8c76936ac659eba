"""How far two bounds of the optimum are apart.

    gap = (P - D) / max(|P|, least_scale)

P(0), the objective of the zero function, is the size of the loss that everything starts from: an objective below a
millionth of it counts as a millionth, so that an optimum of zero can be certified.
"""

from __future__ import annotations

import numpy as np

__all__ = ["LEAST_SHARE", "relative_gap"]

LEAST_SHARE = 1e-6  # of the objective of the zero function, below which gaps are relative to that share


def relative_gap(upper: float, lower: float, least_scale: float = 0.0) -> float:
    """Return ``(upper - lower) / max(|upper|, least_scale)``; nan where a bound is nan."""
    return (upper - lower) / max(abs(upper), least_scale, np.finfo(float).tiny)
