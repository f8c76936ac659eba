"""Kernel families, one file each."""

import sys

from mklviz.kernels.families._family import KernelFamily
from mklviz.kernels.families._function import FunctionKernel
from mklviz.kernels.families.chi_squared import ChiSquared
from mklviz.kernels.families.cosine import Cosine
from mklviz.kernels.families.gaussian import Gaussian
from mklviz.kernels.families.intersection import Intersection
from mklviz.kernels.families.laplacian import Laplacian
from mklviz.kernels.families.linear import Linear
from mklviz.kernels.families.polynomial import Polynomial
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
