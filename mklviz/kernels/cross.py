"""Kernels between new points and samples of a bank, K_d(x, x_i) = sum_k d_k K_k(x, x_i), scaled as the bank's own.

Only what is asked for is computed: kernels with weight, samples that matter, and so many new points at a time that a
block of the (n_new, n) matrix stays small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mklviz.context.cancelling import checkpoint
from mklviz.errors import KernelError
from mklviz.kernels.evaluation.normalize import sample_scales
from mklviz.typing import Array, Indices

if TYPE_CHECKING:
    from mklviz.kernels.evaluation.specs import KernelSpec
    from mklviz.kernels.storage.streamed import StreamedGaussians

__all__ = ["Cross", "CrossBank", "KernelPart"]

BLOCK = 2**20  # entries of the cross kernel formed at a time, 8 MB; a few such blocks are alive together


@dataclass(frozen=True)
class KernelPart:
    """Some kernels of a bank between any point and some of its samples: what is left of a bank once it has learned.

    It holds the samples it needs and no Gram matrix.

    Attributes
    ----------
    kernels : sequence of KernelSpec
    scales : tuple of (n_part,) arrays
        Each kernel's normalization at each sample.
    points : (n_part, d) array or None
        None for a bank of Gram matrices.
    normalize : "trace", "mean-diagonal", "diagonal" or "none"
    which, samples : arrays of int
        The kernels' and the samples' places in the bank.
    bank_shape : tuple of int
        Number of kernels and of samples of the bank.
    streams : tuple
        For each block of kernels that is computed on the fly: their places in this part, their numbers in the block,
        and the block.
    """

    kernels: Sequence[KernelSpec]
    scales: tuple[Array, ...]
    points: Array | None
    normalize: str
    which: Indices
    samples: Indices
    bank_shape: tuple[int, int]
    streams: tuple[tuple[Indices, Indices, StreamedGaussians], ...] = ()

    def cross(self, X_new: ArrayLike) -> CrossBank:
        """Return the kernels between new points and the part's samples.

        Parameters
        ----------
        X_new : (n_new, d) array
            For a bank of Gram matrices an (m, n_new, n) array of kernel values, of the whole bank or of this part.

        Raises
        ------
        KernelError
            If the array does not fit the bank.
        """
        return CrossBank(self, numbers(X_new, "The array of new points"))


class Cross(ABC):
    """Kernels between new points and samples of a bank, added or multiplied, computed when asked for.

    Attributes
    ----------
    new : array
        The new points, or what a bank without points takes in their place.
    """

    def __init__(self, new: Array) -> None:
        if not np.isfinite(new).all():
            raise KernelError("New points must be finite in every entry: fill in or drop what is missing.")
        self.new = new

    def __len__(self) -> int:
        return self.new.shape[-2]

    @abstractmethod
    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``K_d(new, samples)`` for the new points from `start` to `stop`, (stop - start, n)."""

    def apply(self, weights: Array, signed: Array) -> Array:
        """Return ``K_d(new, samples) signed``, block by block of new points.

        Parameters
        ----------
        weights : (m,) array
        signed : (n,) or (n, c) array

        Returns
        -------
        (n_new,) or (n_new, c) array
        """
        out = np.zeros((len(self), *signed.shape[1:]))
        rows = max(1, BLOCK // max(1, len(signed)))
        for start in range(0, len(self), rows):
            checkpoint()
            stop = min(start + rows, len(self))
            out[start:stop] = self.combine(weights, start, stop) @ signed
        return out


class CrossBank(Cross):
    """The kernels of a sum between new points and samples of a bank.

    Attributes
    ----------
    part : KernelPart
    new : array
        The new points, or their kernel values for a bank of Gram matrices.
    """

    def __init__(self, part: KernelPart, new: Array) -> None:
        super().__init__(new)
        self.part = part
        self._whole = False
        if part.points is None:
            self._whole = self._check_values()
        else:
            check_columns(new, part.points.shape[1])

    def _check_values(self) -> bool:
        """Return whether kernel values were given for the whole bank, not for this part only."""
        part, shape = self.part, self.new.shape
        given = (shape[0], shape[2]) if len(shape) == 3 else None
        needed = (len(part.which), len(part.samples))
        if given not in (part.bank_shape, needed):
            only = "" if needed == part.bank_shape else f", or ({needed[0]}, n_new, {needed[1]}) for the part in use"
            raise KernelError(
                f"This bank holds Gram matrices: new points need an array of shape ({part.bank_shape[0]}, n_new,"
                f" {part.bank_shape[1]}){only}, but {shape} was given."
            )
        if part.normalize == "diagonal":
            raise KernelError("Gram matrices scaled to unit diagonal cannot be extended to new points.")
        return given == part.bank_shape

    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``sum_k weights_k K_k(new, samples)`` for the new points from `start` to `stop`, all by default.

        Parameters
        ----------
        weights : (m,) array
            One weight per kernel of the part; only kernels with weight are computed.

        Returns
        -------
        (stop - start, n) array
        """
        part, stop = self.part, len(self) if stop is None else stop
        total = np.zeros((stop - start, len(part.samples)))
        if not total.size:
            return total
        if part.points is None:
            for k in np.flatnonzero(weights):
                total += (weights[k] * part.scales[k][0] ** 2) * self._values(int(k), start, stop)
            return total
        new, shared, base = self.new[start:stop], None, np.empty(0)
        alone = np.array(weights)
        for places, numbers_in_block, block in part.streams:
            every = np.zeros(len(block))
            every[numbers_in_block] = weights[places]
            total += block.between(every, new, part.points)
            alone[places] = 0.0
        for k in np.flatnonzero(alone):
            spec = part.kernels[int(k)]
            assert spec.family is not None  # kernels on points all come from a family
            columns = list(spec.columns)
            if shared != (id(spec.family), columns):  # kernels of one family and subset stand side by side
                shared, base = (id(spec.family), columns), spec.family.base(new[:, columns], part.points[:, columns])
            values = spec.family.profile(base, spec.value)
            if part.normalize == "diagonal":
                diagonal = spec.family.diagonal(new[:, columns], spec.value)
                own = sample_scales(diagonal, "diagonal", spec.name, first=start)
                total += (weights[k] * own)[:, None] * values * part.scales[k]
            else:
                total += (weights[k] * part.scales[k][0] ** 2) * values
        return total

    def _values(self, k: int, start: int, stop: int) -> Array:
        """The given kernel values of the part's kernel k."""
        if not self._whole:
            return self.new[k, start:stop]
        return self.new[self.part.which[k], start:stop][:, self.part.samples]


def numbers(values: ArrayLike, what: str) -> Array:
    """Return `values` as an array, or say that they are not numbers, or that some are missing."""
    refuse_masked(values, what)
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":  # NumPy would drop imaginary parts and read strings
            raise TypeError(f"not {given.dtype}")
        return np.asarray(given, dtype=np.float64, order="C")
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
