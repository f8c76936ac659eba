"""Kernels of the inner product: linear, polynomial and cosine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.errors import KernelError
from mklviz.kernels.families._family import KernelFamily, OneFeature, inner_products, positive
from mklviz.numbers import is_number
from mklviz.typing import Array

# The linear kernel, k(x, z) = x'z.


@dataclass(frozen=True)
class Linear(KernelFamily):
    """The linear kernel.

    Parameters
    ----------
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.

    Examples
    --------
    >>> mv.KernelBank.build(np.eye(3), [mv.Linear(on="each")]).names
    ['linear on x1', 'linear on x2', 'linear on x3']
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


# Polynomial kernels, k(x, z) = (offset + x'z)^p for each degree p.


MOST_PRODUCTS = 8  # up to which degree products are quicker than a power


@dataclass(frozen=True)
class Polynomial(KernelFamily):
    """Polynomial kernels of several degrees.

    Parameters
    ----------
    degrees : sequence of int
        Degrees p >= 1; default 1, 2, 3 (Level method paper, section 4).
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.
    offset : float
        Constant added to the inner product, >= 0 (a negative one would not give a kernel).

    Examples
    --------
    >>> mv.KernelBank.build(np.eye(3), [mv.Polynomial(degrees=[1, 2])]).names
    ['poly 1 on all', 'poly 2 on all']
    """

    name_: ClassVar[str] = "polynomial"
    label: ClassVar[str] = "Polynomial"
    parameter: ClassVar[str] = "degrees"
    degrees: Sequence[float] = (1, 2, 3)
    offset: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        degrees = positive(self.degrees, "Polynomial degrees")
        if any(degree != round(degree) for degree in degrees):
            raise KernelError(f"Polynomial degrees must be whole numbers, but {list(degrees)} was given.")
        if not (is_number(self.offset) and self.offset >= 0):
            raise KernelError(f"The polynomial offset must be a number >= 0, but {self.offset!r:.80} was given.")
        object.__setattr__(self, "degrees", degrees)

    def base(self, left: Array, right: Array) -> Array:
        return inner_products(left, right)

    def profile(self, base: Array, value: float) -> Array:
        factor = np.asarray(self.offset + base)
        if value > MOST_PRODUCTS:
            return np.asarray(factor ** int(value))
        power = factor.copy()
        for _ in range(int(value) - 1):
            power *= factor
        return power

    def diagonal(self, points: Array, value: float) -> Array:
        return self.profile((points**2).sum(1), value)

    def on_one_feature(self, value: float) -> OneFeature:
        return OneFeature("power", self.offset, value)

    def describe(self, value: float) -> str:
        return f"poly {value:g}"


# The cosine kernel, k(x, z) = x'z / (||x|| ||z||); zero where a point is.


@dataclass(frozen=True)
class Cosine(KernelFamily):
    """The cosine kernel.

    Parameters
    ----------
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.

    Examples
    --------
    >>> mv.KernelBank.build(np.eye(3), [mv.Cosine()]).names
    ['cosine on all']
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
