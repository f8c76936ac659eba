"""Kernel families, one file each."""

from mklviz.kernels.families._family import KernelFamily
from mklviz.kernels.families.gaussian import Gaussian
from mklviz.kernels.families.laplacian import Laplacian
from mklviz.kernels.families.linear import Linear
from mklviz.kernels.families.polynomial import Polynomial

__all__ = ["Gaussian", "KernelFamily", "Laplacian", "Linear", "Polynomial", "kernel_families"]


def kernel_families() -> dict[str, type[KernelFamily]]:
    """Return every kernel family found in this folder, by name."""
    import sys

    from mklviz.plugins import classes

    found = classes(sys.modules[__name__], KernelFamily)
    return {family.name_: family for family in found}
