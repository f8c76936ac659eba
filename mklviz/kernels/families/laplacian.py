"""Laplacian kernels, k(x, z) = exp(-||x - z||₁ / w) for each width w."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklviz.kernels.families._family import OneFeature, Widths, manhattan_distances, power_of_two
from mklviz.typing import Array


@dataclass(frozen=True)
class Laplacian(Widths):
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

    def base(self, left: Array, right: Array) -> Array:
        return manhattan_distances(left, right)

    def on_one_feature(self, value: float) -> OneFeature:
        return OneFeature("exp size", -1.0 / value)

    def describe(self, value: float) -> str:
        return f"laplace {power_of_two(value)}"
