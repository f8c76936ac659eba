"""Kernel families, one file each."""

from mklviz.problem.kernels._family import KernelFamily
from mklviz.problem.kernels.gaussian import Gaussian
from mklviz.problem.kernels.laplacian import Laplacian
from mklviz.problem.kernels.linear import Linear
from mklviz.problem.kernels.polynomial import Polynomial

__all__ = ["Gaussian", "KernelFamily", "Laplacian", "Linear", "Polynomial", "kernel_families"]


def kernel_families() -> dict[str, type[KernelFamily]]:
    """Return every kernel family found in this folder, by name."""
    import sys

    from mklviz.plugins import classes

    found = classes(sys.modules[__name__], KernelFamily)
    return {family.name_: family for family in found}
