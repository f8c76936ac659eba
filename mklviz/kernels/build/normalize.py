"""Scaling kernels so that their weights can be compared: unit trace, unit diagonal, or none.

Unit trace divides by trace(K), so that s_k and the objective stay of one size whatever the kernel; unit diagonal
divides K_ij by sqrt(K_ii K_jj), so that every point has length one in feature space.
"""

from __future__ import annotations

import numpy as np

from mklviz.errors import KernelError
from mklviz.typing import Array

NORMALIZATIONS = {"trace": "unit trace", "diagonal": "unit diagonal", "none": "none"}


def check_normalization(normalize: str) -> None:
    """Raise `KernelError` unless `normalize` is known."""
    if not isinstance(normalize, str) or normalize not in NORMALIZATIONS:
        raise KernelError(f'normalize="{normalize}" is not known: use "trace", "diagonal" or "none".')


def sample_scales(diagonal: Array, normalize: str, name: str, first: int = 0) -> Array:
    """Return the (n,) factors c for which ``c_i c_j K_ij`` is normalised; the first entry is sample number `first`.

    Raises
    ------
    KernelError
        If the diagonal of the kernel called `name` is zero where it must not be.
    """
    if not np.isfinite(diagonal).all():
        raise KernelError(
            f"The kernel {name} overflows: standardize the features, or lower its degree or raise its width."
        )
    if normalize == "none":
        return np.ones_like(diagonal)
    if normalize == "trace":
        trace = float(diagonal.sum())
        if trace <= 0.0:
            raise KernelError(f"The kernel {name} is zero on every sample and cannot have unit trace: leave it out.")
        return np.full_like(diagonal, 1.0 / np.sqrt(trace))
    if (diagonal <= 0.0).any():
        sample = first + int(np.flatnonzero(diagonal <= 0.0)[0])
        raise KernelError(
            f"The kernel {name} is zero on sample {sample} and cannot have unit diagonal:"
            " leave it out, or normalize by the trace."
        )
    return np.asarray(1.0 / np.sqrt(diagonal))
