"""The linear kernel, k(x, z) = x'z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklviz.kernels.families._family import KernelFamily, OneFeature, inner_products
from mklviz.typing import Array


@dataclass(frozen=True)
class Linear(KernelFamily):
    """The linear kernel.

    Parameters
    ----------
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.
    """

    name_: ClassVar[str] = "linear"
    label: ClassVar[str] = "Linear"

    def base(self, left: Array, right: Array) -> Array:
        return inner_products(left, right)

    def diagonal(self, points: Array, value: float) -> Array:
        return (points**2).sum(1)

    def on_one_feature(self, value: float) -> OneFeature:
        return OneFeature("power", 0.0, 1.0)

    def describe(self, value: float) -> str:
        return "linear"
