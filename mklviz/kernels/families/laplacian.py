"""Laplacian kernels, k(x, z) = exp(-||x - z||₁ / w) for each width w."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.families._family import KernelFamily, OneFeature, manhattan_distances, positive, power_of_two
from mklviz.typing import Array


@dataclass(frozen=True)
class Laplacian(KernelFamily):
    """Laplacian kernels of several widths.

    Parameters
    ----------
    widths : sequence of float
        Widths w > 0 in units of the (standardized) features.
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.
    """

    name_: ClassVar[str] = "laplacian"
    label: ClassVar[str] = "Laplacian"
    parameter: ClassVar[str] = "widths"
    widths: Sequence[float] = (0.5, 1.0, 2.0, 4.0, 8.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "widths", positive(self.widths, "Laplacian widths"))

    def values(self) -> tuple[float, ...]:
        return tuple(self.widths)

    def base(self, left: Array, right: Array) -> Array:
        return manhattan_distances(left, right)

    def from_distances(self, distances: Array) -> Array:
        return distances

    def profile(self, base: Array, value: float) -> Array:
        return np.asarray(np.exp(base * (-1.0 / value)))

    def diagonal(self, points: Array, value: float) -> Array:
        return np.ones(len(points))

    def on_one_feature(self, value: float) -> OneFeature:
        return OneFeature("exp size", -1.0 / value)

    def describe(self, value: float) -> str:
        return f"laplace {power_of_two(value)}"
