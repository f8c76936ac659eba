"""Exponential chi-squared kernels of histograms, k(x, z) = exp(-sum_c (x_c - z_c)² / (|x_c| + |z_c|) / w)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.families._family import KernelFamily, positive, power_of_two
from mklviz.typing import Array


@dataclass(frozen=True)
class ChiSquared(KernelFamily):
    """Exponential chi-squared kernels of several widths; a negative part of a feature is a bin of its own.

    Parameters
    ----------
    widths : sequence of float
        Widths w > 0, in units of the chi-squared distance. For counts and shares, do not standardize the features.
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.
    """

    name_: ClassVar[str] = "chi-squared"
    label: ClassVar[str] = "Chi-squared"
    parameter: ClassVar[str] = "widths"
    widths: Sequence[float] = (0.5, 1.0, 2.0, 4.0, 8.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "widths", positive(self.widths, "Chi-squared widths"))

    def values(self) -> tuple[float, ...]:
        return tuple(self.widths)

    def base(self, left: Array, right: Array) -> Array:
        total = np.zeros((len(left), len(right)))
        for x, z in zip(left.T, right.T, strict=True):
            apart, sizes = np.subtract.outer(x, z), np.add.outer(np.abs(x), np.abs(z))
            total += np.divide(apart**2, sizes, out=np.zeros_like(apart), where=sizes > 0.0)
        return total

    def from_distances(self, distances: Array) -> Array:
        return distances

    def profile(self, base: Array, value: float) -> Array:
        return np.asarray(np.exp(base * (-1.0 / value)))

    def diagonal(self, points: Array, value: float) -> Array:
        return np.ones(len(points))

    def describe(self, value: float) -> str:
        return f"chi² {power_of_two(value)}"
