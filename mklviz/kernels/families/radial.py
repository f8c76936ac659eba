"""Kernels of a distance: Gaussian and Laplacian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.families._family import OneFeature, Widths, manhattan_distances, power_of_two, squared_distances
from mklviz.typing import Array

# Gaussian kernels, k(x, z) = exp(-||x - z||² / (2 w²)) for each width w.


PAPER_WIDTHS = tuple(2.0**exponent for exponent in range(-3, 7))


@dataclass(frozen=True)
class Gaussian(Widths):
    """Gaussian kernels of several widths.

    Parameters
    ----------
    widths : sequence of float
        Widths w > 0 in units of the (standardized) features; default 2⁻³ … 2⁶ (Level method paper, section 4).
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.

    Examples
    --------
    >>> mv.KernelBank.build(np.eye(3), [mv.Gaussian(on="all+each", widths=[0.5])]).names
    ['gauss 2⁻¹ on all', 'gauss 2⁻¹ on x1', 'gauss 2⁻¹ on x2', 'gauss 2⁻¹ on x3']
    """

    name_: ClassVar[str] = "gaussian"
    label: ClassVar[str] = "Gaussian"
    of_distances: ClassVar[bool] = True
    widths: Sequence[float] = PAPER_WIDTHS

    @property
    def streams(self) -> bool:
        """Each width the next one times the same power of the root of two, so that squarings lead from one to all."""
        descending = np.sort(self.widths)[::-1]
        steps = 2.0 * np.log2(descending[:-1] / descending[1:])
        return not len(steps) or bool(steps[0] > 0.5 and np.allclose(steps, round(steps[0]), rtol=0.0, atol=1e-12))

    def base(self, left: Array, right: Array) -> Array:
        return squared_distances(left, right)

    def from_distances(self, distances: Array) -> Array:
        return np.asarray(distances**2)

    def profile(self, base: Array, value: float) -> Array:
        return np.asarray(np.exp(base * (-0.5 / value**2)))

    def on_one_feature(self, value: float) -> OneFeature:
        return OneFeature("exp square", -0.5 / value**2)

    def describe(self, value: float) -> str:
        return f"gauss {power_of_two(value)}"


# Laplacian kernels, k(x, z) = exp(-||x - z||₁ / w) for each width w.


@dataclass(frozen=True)
class Laplacian(Widths):
    """Laplacian kernels of several widths.

    Parameters
    ----------
    widths : sequence of float
        Widths w > 0 in units of the (standardized) features.
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.

    Examples
    --------
    >>> mv.KernelBank.build(np.eye(3), [mv.Laplacian(on=[0, 2], widths=[0.5])]).names
    ['laplace 2⁻¹ on x1, x3']
    """

    name_: ClassVar[str] = "laplacian"
    label: ClassVar[str] = "Laplacian"

    def base(self, left: Array, right: Array) -> Array:
        return manhattan_distances(left, right)

    def on_one_feature(self, value: float) -> OneFeature:
        return OneFeature("exp size", -1.0 / value)

    def describe(self, value: float) -> str:
        return f"laplace {power_of_two(value)}"
