"""Some kernels of a sum at some of its samples, and their values between new points and these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mklviz.errors import KernelError
from mklviz.kernels.evaluation.checks import sample_scales
from mklviz.kernels.interface import Cross, Part, check_columns, check_values
from mklviz.typing import Array, Indices

if TYPE_CHECKING:
    from mklviz.kernels.evaluation.specs import Given, KernelSpec
    from mklviz.kernels.storage.streamed import StreamedGaussians


class CrossBank(Cross):
    """The kernels of a sum between new points (n_new, d), or their values (m, n_new, n), and samples of a bank.

    These are values of the kernels of the whole bank, or of the part alone.
    """

    part: KernelPart

    def _check(self) -> None:
        if self.part.points is not None:
            check_columns(self.new, self.part.points.shape[1])
        self._whole = self.part.points is None and self._check_values()

    def _check_values(self) -> bool:
        """Return whether kernel values were given for the whole bank, not for this part only."""
        part = self.part
        if part.given is None:
            needed = len(part.which), len(part.samples)
            whole = check_values(self.new, "This bank holds Gram matrices", part.bank_shape, needed)
        else:
            what = "These kernels are made of the matrices given, distances or repaired"
            whole = check_values(self.new, what, part.given.shape, part.given.shape)
        if part.normalize == "diagonal":
            raise KernelError("Gram matrices scaled to unit diagonal cannot be extended to new points.")
        return whole

    def combine(self, weights: Array, start: int = 0, stop: int | None = None) -> Array:
        """Return ``sum_k weights_k K_k(new, samples)``, of kernels with weight alone, for points `start` to `stop`."""
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
        for positions, numbers_in_block, block in part.streams:
            every = np.zeros(len(block))
            every[numbers_in_block] = weights[positions]
            total += block.between(every, new, part.points)
            alone[positions] = 0.0
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
        part, number = self.part, int(self.part.which[k])
        new = self.new[:, start:stop]
        rows = new[number] if part.given is None else part.given.values(new, number)
        return rows[:, part.samples]


@dataclass(frozen=True)
class KernelPart(Part):
    """Some kernels of a bank between any point and some of its samples, without Gram matrices."""

    crosses = CrossBank

    kernels: Sequence[KernelSpec]
    scales: tuple[Array, ...]  # each kernel's normalization at each sample
    points: Array | None  # (n_part, d): none for a bank of Gram matrices
    normalize: str
    which: Indices  # the kernels' places in the bank
    samples: Indices  # the samples'
    bank_shape: tuple[int, int]  # number of kernels and of samples of the bank
    # for each block of kernels that is computed on the fly: their places in this part, their numbers in the block, and
    # the block
    streams: tuple[tuple[Indices, Indices, StreamedGaussians], ...] = ()
    given: Given | None = None  # how kernel values are made of what is given for new points, unless they are given

    def at(self, points: Array | None) -> KernelPart:
        """Return these kernels between any point and others than the bank's samples, or all samples of given ones."""
        if not all(map(len, self.scales)):
            raise KernelError("The model has no support vectors, so no kernel was learned.")
        if points is not None and self.points is not None:
            check_columns(points, self.points.shape[1])
        count = self.bank_shape[1] if points is None else len(points)
        scales = [np.broadcast_to(scale[:1], (count,)) for scale in self.scales]
        if points is not None and self.normalize == "diagonal":
            scales = [
                sample_scales(spec.family.diagonal(points[:, list(spec.columns)], spec.value), "diagonal", spec.name)
                for spec in self.kernels
                if spec.family is not None
            ]
        return replace(self, scales=tuple(scales), points=points, samples=np.arange(count))
