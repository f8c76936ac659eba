"""Rows of a kernel in single precision, of which the least recently used give way where memory is short.

Reference: Chang, Lin, LIBSVM, ACM TIST 2 (2011), section 4.2, which keeps columns of the kernel in the same way.
"""

from __future__ import annotations

import numpy as np

from mklviz.kernels import RowKernel
from mklviz.typing import Indices, Single

__all__ = ["RowCache"]

FEWEST = 256  # rows; with fewer, working sets are so small that solving takes for ever
AT_ONCE = 64  # rows computed together, few enough that their memory is used again and again


class RowCache:
    """The rows of one kernel that were used last.

    `store` (capacity, n) of float32: memory for so many rows; see `capacity`; `computed`: rows computed so far, those
    computed again included.
    """

    def __init__(self, kernel: RowKernel, store: Single) -> None:
        capacity, n = store.shape
        self._kernel, self.store, self.computed = kernel, store, 0
        self._slot_of = np.full(n, -1)
        self._owner = np.full(capacity, -1)
        self._last_use = np.zeros(capacity, np.int64)
        self._clock = 0

    @staticmethod
    def capacity(n: int, max_bytes: int) -> int:
        """Return how many rows of n samples fit into so many bytes: `FEWEST` whatever they are, and no more than n."""
        return min(n, max(max_bytes // (4 * n), FEWEST))

    def __len__(self) -> int:
        """Return how many rows fit."""
        return len(self._owner)

    def fetch(self, which: Indices) -> Indices:
        """Return the slots of the rows `which`, at most as many as fit, all different; missing ones are computed."""
        self._clock += 1
        slots = self._slot_of[which]
        self._last_use[slots[slots >= 0]] = self._clock
        missing = np.flatnonzero(slots < 0)
        if len(missing):
            oldest = np.argsort(self._last_use, kind="stable")[: len(missing)]
            evicted = self._owner[oldest]
            self._slot_of[evicted[evicted >= 0]] = -1
            for start in range(0, len(missing), AT_ONCE):
                some = slice(start, start + AT_ONCE)
                self.store[oldest[some]] = self._kernel.rows(which[missing[some]])
            self._owner[oldest], self._slot_of[which[missing]] = which[missing], oldest
            self._last_use[oldest] = self._clock
            self.computed += len(missing)
            slots[missing] = oldest
        return slots
