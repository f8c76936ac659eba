"""The cosine kernel, k(x, z) = x'z / (||x|| ||z||); zero where a point is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.families._family import KernelFamily, inner_products
from mklviz.typing import Array


@dataclass(frozen=True)
class Cosine(KernelFamily):
    """The cosine kernel.

    Parameters
    ----------
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.
    """

    name_: ClassVar[str] = "cosine"
    label: ClassVar[str] = "Cosine"

    def base(self, left: Array, right: Array) -> Array:
        return inner_products(_unit(left), _unit(right))

    def diagonal(self, points: Array, value: float) -> Array:
        return np.asarray(points.any(axis=1), dtype=np.float64)

    def describe(self, value: float) -> str:
        return "cosine"


def _unit(points: Array) -> Array:
    """Return points divided by their lengths; a point at zero stays there."""
    lengths = np.sqrt((points**2).sum(1, keepdims=True))
    return np.asarray(points / np.where(lengths > 0.0, lengths, 1.0))
