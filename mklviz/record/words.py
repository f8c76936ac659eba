"""What is said of a run in a few words."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["number", "shares_text"]


def shares_text(shares: Mapping[str, float]) -> str:
    """Return what took the time, largest share first: "SVM 40 %, gradient 35 %"; "" where nobody measured it."""
    by_size = sorted(shares.items(), key=lambda pair: -pair[1])
    named = ((part if part != "svm" else "SVM", f"{100 * share:.0f} %") for part, share in by_size)
    return ", ".join(f"{part} {percent}" for part, percent in named if percent != "0 %")


def number(value: float, form: str) -> str:
    """Format a number; a dash where there is none."""
    return format(value, form) if math.isfinite(value) else "–"
