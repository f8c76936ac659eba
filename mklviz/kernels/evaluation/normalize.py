"""Scaling kernels so that their weights can be compared: unit trace, a mean diagonal of one, unit diagonal, or none.

Unit trace divides by trace(K), so that s_k and the objective stay of one size whatever the kernel; a mean diagonal of
one, by trace(K) / n, so that C means the same however many samples there are; unit diagonal divides K_ij by
sqrt(K_ii K_jj), so that every point has length one in feature space. A sample of weight w counts w times, as repeated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import KernelError
from mklviz.typing import Array

NORMALIZATIONS = ("trace", "mean-diagonal", "diagonal", "none")


def check_normalization(normalize: str) -> None:
    """Raise `KernelError` unless `normalize` is known."""
    if not isinstance(normalize, str) or normalize not in NORMALIZATIONS:
        known = ", ".join(f'"{name}"' for name in NORMALIZATIONS[:-1])
        raise KernelError(f'normalize="{normalize}" is not known: use {known} or "none".')


def checked_counts(sample_weight: ArrayLike | None, n: int) -> Array | None:
    """Return how often each of n samples counts, (n,), None where all count once, or raise `KernelError`."""
    if sample_weight is None:
        return None
    counts = np.asarray(sample_weight, dtype=np.float64)
    if counts.shape != (n,) or not (np.isfinite(counts) & (counts >= 0.0)).all() or not counts.any():
        raise KernelError(
            f"sample_weight must hold a finite number for each of the {n} samples, none below zero and some above."
        )
    return counts


def sample_scales(diagonal: Array, normalize: str, name: str, counts: Array | None = None, first: int = 0) -> Array:
    """Return the (n,) factors c for which ``c_i c_j K_ij`` is normalised.

    Sample i counts `counts[i]` times, once by default; the first entry is sample number `first`.

    Raises `KernelError` if the diagonal of the kernel called `name` is zero where it must not be.
    """
    if not np.isfinite(diagonal).all():
        raise KernelError(
            f"The kernel {name} overflows: standardize the features, or lower its degree or raise its width."
        )
    if normalize == "none":
        return np.ones_like(diagonal)
    if normalize != "diagonal":
        trace = float((diagonal if counts is None else counts * diagonal).sum())
        if trace <= 0.0:
            raise KernelError(f"The kernel {name} is zero on every sample and cannot have unit trace: leave it out.")
        total = 1.0 if normalize == "trace" else float(len(diagonal) if counts is None else counts.sum())
        return np.full_like(diagonal, np.sqrt(total) / np.sqrt(trace))
    if (diagonal <= 0.0).any():
        sample = first + int(np.flatnonzero(diagonal <= 0.0)[0])
        raise KernelError(
            f"The kernel {name} is zero on sample {sample} and cannot have unit diagonal:"
            ' leave it out, or take normalize="mean-diagonal".'
        )
    return np.asarray(1.0 / np.sqrt(diagonal))
