"""What counts as a number where a person gives one: "3", None, True and nan do not; counts, shares, times in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["counted", "duration_text", "is_number", "is_switch", "is_whole", "number_text", "score_text", "share_text"]

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LEAST_SHARE = 1e-8  # that is written in full


def is_number(value: Any) -> bool:
    """Return whether `value` is a finite real number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no double holds
        return False


def is_whole(value: Any) -> bool:
    """Return whether `value` is a whole number, and of a type that says so."""
    return is_number(value) and isinstance(value, (int, np.integer))


def is_switch(value: Any) -> bool:
    """Return whether `value` is True or False."""
    return isinstance(value, (bool, np.bool_))


def number_text(value: float, form: str = ",.6g", unit: str = "") -> str:
    """Return a number as people write it: −4,331.85, 6×10⁻⁵; a dash where there is none."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:{form}}"
    factor, _, exponent = text.partition("e")
    if exponent and not form.endswith("e") and 1.0 <= abs(value) < 1e6:  # rounded to fewer digits than it has
        text = f"{float(text):,.0f}"
    elif exponent:
        power = f"10{str(int(exponent)).translate(RAISED)}"
        text = power if float(factor) == 1.0 else f"{float(factor):g}×{power}"
    return text.replace("-", "−") + unit


def score_text(score: float, what: str) -> str:
    """Return a score as people write it: an accuracy in per cent, R² as it is."""
    return number_text(100 * score, ".1f", " %") if "accuracy" in what.lower() else number_text(score, ".3f")


def counted(number: float, noun: str) -> str:
    """Return "1 step", "3 steps", "1,200 steps"."""
    count = int(number)
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def share_text(share: float, digits: int = 2) -> str:
    """Return a share in per cent, as people write it: "0.0001 %", "4.5 %", "1,200 %", and never in powers of ten."""
    if not math.isfinite(share):
        return "–"
    if 0.0 < abs(share) < LEAST_SHARE:
        return "under 0.000001 %"
    rounded = float(f"{100.0 * share:.{digits}g}")
    if abs(rounded) >= 10.0 ** (digits - 1):
        return number_text(100.0 * share, ",.0f", " %")
    return number_text(rounded, ".10f").rstrip("0").rstrip(".") + " %"


def duration_text(seconds: float) -> str:
    """Return "40 s", "12 min" or "3.5 h"."""
    if seconds < 90.0:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
