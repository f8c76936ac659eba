"""Gram matrices in the memory of the workers of a Dask cluster, some kernels on each.

How many kernels make a shard is decided by their size. Sums over kernels are formed where these are, and added on the
workers in the order of the shards, so that one matrix comes back, with the same bits from any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from mklviz.kernels.storage.cluster import OnWorkers
from mklviz.lazy import cached_property
from mklviz.typing import Array, Indices

SHARD = 50_000_000  # entries of the matrices of a shard
TOGETHER = 8  # sums that are added by one task


class ShardedBlock(OnWorkers):
    """Kernels (m, n, n) in blocks of `length` each, the last of fewer, which stand in futures."""

    label = "on a Dask cluster"

    def __init__(self, client: Any, shards: Sequence[Any], m: int, n: int, length: int) -> None:
        super().__init__(client, shards)
        self.m, self.n, self._length = m, n, length

    @property
    def nbytes(self) -> int:
        """Memory taken here: the sum of all."""
        return 8 * self.n**2

    def add_combined(self, weights: Array, out: Array, fresh: bool = False) -> None:
        """Add ``sum_k weights_k K_k`` to the lower triangle of `out`; shards without weight are left alone."""
        if fresh:
            out[:] = 0.0
        sums = [self._asked(k, _combined, some, self.n) for k, some in self._shares(weights)]
        while len(sums) > 1:
            sums = [self._submitted(_added, *sums[k : k + TOGETHER]) for k in range(0, len(sums), TOGETHER)]
        for future in sums:
            out += self._answer(future)

    def quad(self, v: Array) -> Array:
        return np.concatenate([*self.of_all(methodcaller("quad", v))])

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        return np.concatenate([*self.of_all(attrgetter("largest"))])

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.triangles`."""
        shard, k = divmod(k, self._length)
        return self._at(shard, methodcaller("compensated", k, v))

    def products(self, which: Indices, v: Array) -> Array:
        out = np.empty((len(which), self.n))
        for shard in np.unique(which // self._length).tolist():
            rows = np.flatnonzero(which // self._length == shard)
            out[rows] = self._at(shard, methodcaller("products", which[rows] % self._length, v))
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        asked = [self._asked(k, methodcaller("apply", some, v)) for k, some in self._shares(weights)]
        return np.asarray(sum((self._answer(future) for future in asked), np.zeros(self.n)))

    def only(self, keep: Indices) -> ShardedBlock:
        """Return the kernels on the samples `keep`, ascending."""
        shards = self.submitted(methodcaller("only", keep))
        return ShardedBlock(self._client, shards, self.m, len(keep), self._length)

    def _shares(self, weights: Array) -> Iterator[tuple[int, Array]]:
        """Yield the shards that have weight, with that of their kernels."""
        for k in range(len(self._parts)):
            some = weights[k * self._length : (k + 1) * self._length]
            if some.any():
                yield k, some


def _combined(block: Any, weights: Array, n: int) -> Array:
    out = np.zeros((n, n))
    block.add_combined(weights, out, fresh=True)
    return out


def _added(*sums: Array) -> Array:
    return np.asarray(sum(sums[1:], sums[0]))
