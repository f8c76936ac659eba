"""Kernels between new points and the samples of a bank, scaled as the bank's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mklviz.errors import KernelError
from mklviz.problem._normalize import sample_scales
from mklviz.problem.kernels import KernelFamily

if TYPE_CHECKING:
    from mklviz.problem.bank import KernelBank

__all__ = ["CrossBank"]

Array = NDArray[np.float64]


class CrossBank:
    """The kernels between new points and a bank's samples, computed when asked for."""

    def __init__(self, bank: KernelBank, new: Array) -> None:
        if bank.points is None:
            expected = (len(bank), bank.n_samples)
            if new.ndim != 3 or (new.shape[0], new.shape[2]) != expected:
                raise KernelError(
                    f"This bank holds Gram matrices: new points need an array of shape ({expected[0]}, n_new,"
                    f" {expected[1]}), but {new.shape} was given."
                )
            if bank.normalize == "diagonal":
                raise KernelError("Gram matrices scaled to unit diagonal cannot be extended to new points.")
        elif new.ndim != 2 or new.shape[1] != bank.points.shape[1]:
            raise KernelError(
                f"New points need {bank.points.shape[1]} columns, but an array of shape {new.shape} was given."
            )
        if not np.isfinite(new).all():
            raise KernelError("New points must be finite in every entry: fill in or drop what is missing.")
        self._bank = bank
        self._new = new

    def combine(self, weights: Array) -> Array:
        """Return ``sum_k weights_k K_k(new, samples)``, (n_new, n); only kernels with weight are computed."""
        bank, n_new = self._bank, self._new.shape[-2]
        total = np.zeros((n_new, bank.n_samples))
        shared: tuple[KernelFamily, list[int], Array] | None = None
        for k in np.flatnonzero(weights):
            spec = bank.kernels[k]
            scale = bank._scales[k]
            if spec.family is None or bank.points is None:
                total += weights[k] * scale[0] ** 2 * self._new[k]
                continue
            columns = list(spec.columns)
            # kernels of one family and subset stand side by side
            if shared is None or shared[0] is not spec.family or shared[1] != columns:
                base = spec.family.base(self._new[:, columns], bank.points[:, columns])
                shared = spec.family, columns, base
            block = spec.family.profile(shared[2], spec.value)
            if bank.normalize == "diagonal":
                new_scale = sample_scales(
                    spec.family.diagonal(self._new[:, columns], spec.value), "diagonal", spec.name
                )
            else:
                new_scale = np.full(n_new, scale[0])
            total += weights[k] * new_scale[:, None] * block * scale[None, :]
        return total
