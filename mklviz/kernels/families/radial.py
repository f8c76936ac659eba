"""Kernels of a distance, Gaussian and Laplacian, and of histograms: chi-squared and intersection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.families._family import (
    KernelFamily,
    OneFeature,
    Widths,
    manhattan_distances,
    power_of_two,
    squared_distances,
)
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
    of_differences: ClassVar[bool] = True
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
        scaled = np.asarray(base * (-0.5 / value**2))
        return np.exp(scaled, out=scaled)

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
    of_differences: ClassVar[bool] = True

    def base(self, left: Array, right: Array) -> Array:
        return manhattan_distances(left, right)

    def on_one_feature(self, value: float) -> OneFeature:
        return OneFeature("exp size", -1.0 / value)

    def describe(self, value: float) -> str:
        return f"laplace {power_of_two(value)}"


# Exponential chi-squared kernels of histograms, k(x, z) = exp(-sum_c (x_c - z_c)² / (|x_c| + |z_c|) / w).


@dataclass(frozen=True)
class ChiSquared(Widths):
    """Exponential chi-squared kernels of several widths; a negative part of a feature is a bin of its own.

    Parameters
    ----------
    widths : sequence of float
        Widths w > 0, in units of the chi-squared distance. For counts and shares, do not standardize the features.
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`.

    Examples
    --------
    >>> mv.KernelBank.build(np.eye(3), [mv.ChiSquared(widths=[1.0, 2.0])]).names
    ['chi² 2⁰ on all', 'chi² 2¹ on all']
    """

    name_: ClassVar[str] = "chi-squared"
    label: ClassVar[str] = "Chi-squared"

    def base(self, left: Array, right: Array) -> Array:
        total = np.zeros((len(left), len(right)))
        for x, z in zip(left.T, right.T, strict=True):
            apart, sizes = np.subtract.outer(x, z), np.add.outer(np.abs(x), np.abs(z))
            total += np.divide(apart**2, sizes, out=np.zeros_like(apart), where=sizes > 0.0)
        return total

    def describe(self, value: float) -> str:
        return f"chi² {power_of_two(value)}"


# The histogram intersection kernel, k(x, z) = sum_c min(x_c, z_c).


@dataclass(frozen=True)
class Intersection(KernelFamily):
    """The histogram intersection kernel; a negative part of a feature is a bin of its own.

    Parameters
    ----------
    on : "all", "each", "all+each" or sequence of columns
        See `KernelFamily`. For counts and shares, do not standardize the features.

    Examples
    --------
    >>> mv.KernelBank.build(np.eye(3), [mv.Intersection()]).names
    ['intersection on all']
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
