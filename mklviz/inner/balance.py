"""Signed dual variables beta whose sum is zero, as a bias asks: the heavier class is scaled down to the other's sum."""

from __future__ import annotations

import numpy as np

from mklviz.typing import Array

__all__ = ["balanced"]


def balanced(signed: Array) -> Array:
    """Return beta (n,) with ``1'beta = 0`` up to rounding: none leaves a box that holds it and zero."""
    positive, negative = float(signed[signed > 0.0].sum()), -float(signed[signed < 0.0].sum())
    if positive > negative:
        return np.where(signed > 0.0, signed * (negative / positive), signed)
    if negative > positive:
        return np.where(signed < 0.0, signed * (positive / negative), signed)
    return signed
