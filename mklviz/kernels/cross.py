"""Kernels between new points and samples of a bank, K_d(x, x_i) = sum_k d_k K_k(x, x_i), scaled as the bank's own.

Only what is asked for is computed: kernels with weight, samples that matter, and so many new points at a time that a
block of the (n_new, n) matrix stays small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context.cancelling import checkpoint
from mklviz.errors import KernelError
from mklviz.typing import Array

BLOCK = 2**20  # entries of the cross kernel formed at a time, 8 MB; a few such blocks are alive together


class Cross(ABC):
    """Kernels between points `new` and samples of a bank, added or multiplied, computed when asked for."""

    def __init__(self, new: Array) -> None:
        if not np.isfinite(new).all():
            raise KernelError("New points must be finite in every entry: fill in or drop missing values.")
        self.new = new

    def __len__(self) -> int:
        return self.new.shape[-2]

    @abstractmethod
    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``K_d(new, samples)`` for the new points from `start` to `stop`, (stop - start, n)."""

    def apply(self, weights: Array, signed: Array) -> Array:
        """Return ``K_d(new, samples) signed``, like signed (n,) or (n, c), block by block of new points."""
        out = np.zeros((len(self), *signed.shape[1:]))
        rows = max(1, BLOCK // max(1, len(signed)))
        for start in range(0, len(self), rows):
            checkpoint()
            stop = min(start + rows, len(self))
            out[start:stop] = self.combine(weights, start, stop) @ signed
        return out


def numbers(values: ArrayLike, what: str) -> Array:
    """Return `values` as an array, or say that they are not numbers, or that some are missing."""
    refuse_masked(values, what)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":  # NumPy would drop imaginary parts and read strings
            raise TypeError(f"not {array.dtype}")
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise KernelError(f"{what} must hold numbers only, in rows of one length ({error}).") from None


def refuse_masked(values: object, what: str) -> None:
    """Raise `KernelError` if `values` is an array with masked entries: what is beneath the mask must not count."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        raise KernelError(
            f"{what} has {count:,} masked {'entry' if count == 1 else 'entries'}, whose values are missing: fill them"
            " in, or leave out the samples or features they belong to."
        )


def check_columns(new: Array, width: int) -> None:
    """Raise `KernelError` unless `new` is an (n_new, width) array."""
    if new.ndim != 2 or new.shape[1] != width:
        raise KernelError(f"New points need {width} columns, but an array of shape {new.shape} was given.")
