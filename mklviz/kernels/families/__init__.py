"""Kernel families."""

import sys

from mklviz.kernels.families._family import FunctionKernel, KernelFamily
from mklviz.kernels.families.inner_products import Cosine, Linear, Polynomial
from mklviz.kernels.families.radial import ChiSquared, Gaussian, Intersection, Laplacian
from mklviz.plugins import named

__all__ = [
    "ChiSquared",
    "Cosine",
    "FunctionKernel",
    "Gaussian",
    "Intersection",
    "KernelFamily",
    "Laplacian",
    "Linear",
    "Polynomial",
    "kernel_families",
]


def kernel_families() -> dict[str, type[KernelFamily]]:
    """Return every kernel family in this folder and in installed packages, by name."""
    return named(sys.modules[__name__], KernelFamily)
