"""What counts as a number where a person gives one: "3", None, True, nan and 2 + 1j do not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["is_number", "is_switch", "is_whole"]


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
