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
        from dask import delayed

        sums = [self.task(k, _combined, some, self.n) for k, some in self._shares(weights)]
        while len(sums) > 1:
            some = (sums[k : k + TOGETHER] for k in range(0, len(sums), TOGETHER))
            sums = [delayed(_added, pure=False)(*each) for each in some]
        for total in self.answers(sums):
            out += total

    def quad(self, v: Array) -> Array:
        return np.concatenate([*self.answers(self.of_all(methodcaller("quad", v)))])

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each kernel's diagonal, (m,)."""
        return np.concatenate([*self.answers(self.of_all(attrgetter("largest")))])

    def compensated(self, k: int, v: Array) -> tuple[float, float]:
        """Return ``v'K_k v`` and ``|v|'|K_k||v|``; see `mklviz.kernels.storage.triangles`."""
        shard, k = divmod(k, self._length)
        [forms] = self.answers([self.task(shard, methodcaller("compensated", k, v))])
        return forms

    def products(self, which: Indices, v: Array) -> Array:
        out = np.empty((len(which), self.n))
        shards = np.unique(which // self._length).tolist()
        rows = [np.flatnonzero(which // self._length == shard) for shard in shards]
        asked = zip(shards, rows, strict=True)
        tasks = [self.task(shard, methodcaller("products", which[some] % self._length, v)) for shard, some in asked]
        for some, products in zip(rows, self.answers(tasks), strict=True):
            out[some] = products
        return out

    def apply(self, weights: Array, v: Array) -> Array:
        """Return ``sum_k weights_k K_k v``."""
        tasks = [self.task(k, methodcaller("apply", some, v)) for k, some in self._shares(weights)]
        return np.asarray(sum(self.answers(tasks), np.zeros(self.n)))

    def only(self, keep: Indices) -> ShardedBlock:
        """Return the kernels on the samples `keep`, ascending."""
        shards = self.begun(self.of_all(methodcaller("only", keep)))
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
