"""The histogram intersection kernel, k(x, z) = sum_c min(x_c, z_c)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.families._family import KernelFamily
from mklviz.typing import Array


@dataclass(frozen=True)
class Intersection(KernelFamily):
    """The histogram intersection kernel; a negative part of a feature is a bin of its own.

    Parameters
    ----------
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`. For counts and shares, do not standardize the features.
    """

    name_: ClassVar[str] = "intersection"
    label: ClassVar[str] = "Histogram intersection"

    def base(self, left: Array, right: Array) -> Array:
        total = np.zeros((len(left), len(right)))
        for x, z in zip(left.T, right.T, strict=True):
            total += np.maximum(np.minimum.outer(x, z), 0.0) + np.maximum(np.minimum.outer(-x, -z), 0.0)
        return total

    def diagonal(self, points: Array, value: float) -> Array:
        return np.asarray(np.abs(points).sum(1))

    def describe(self, value: float) -> str:
        return "intersection"
