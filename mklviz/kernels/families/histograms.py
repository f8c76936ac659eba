"""Kernels of histograms: chi-squared and intersection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklviz.kernels.families._family import KernelFamily, Widths, power_of_two
from mklviz.typing import Array

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
