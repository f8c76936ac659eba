"""How a trace keeps the weights of a million kernels: in full and bit for bit, where they take the least room.

Where most of many weights are zero, only the others are kept. Otherwise all are kept, in memory up to 128 MB per trace
and then in a temporary file. The last iterate stays as it is.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.contract import Array, Iterate

FEW = 20_000  # kernels whose weights take no room worth saving
SPARSE = 4  # a weight that is not zero takes its place besides its value; fewer than one in so many is worth that
IN_MEMORY = 2**27  # bytes of one trace's dense weights

Kept = Callable[[], Array]


class KeptIterate(Iterate):
    """An iterate that fetches its weights from where they are kept at each access."""

    __slots__ = ("_kept",)
    _kept: Kept | Array

    @property
    def weights(self) -> Array:
        """Kernel weights d, (m,)."""
        return self._kept() if callable(self._kept) else self._kept

    @weights.setter
    def weights(self, value: Kept | Array) -> None:
        object.__setattr__(self, "_kept", value)

    def __reduce__(self) -> tuple[type[Iterate], tuple[Any, ...]]:
        """Pickle sparse weights as they are, and all others in full: another process may not have the file."""
        others = tuple(getattr(self, field.name) for field in fields(Iterate)[1:])
        sparse = isinstance(self._kept, _Sparse)
        return (KeptIterate, (self._kept, *others)) if sparse else (Iterate, (self.weights, *others))


class WeightKeeping:
    """Keeps the weights of one trace."""

    def __init__(self) -> None:
        self._taken = 0
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def keep(self, iterate: Iterate) -> Iterate:
        """Return an equal iterate that takes little memory."""
        weights = iterate.weights
        if len(weights) <= FEW or isinstance(iterate, KeptIterate):
            return iterate
        others = {field.name: getattr(iterate, field.name) for field in fields(Iterate) if field.name != "weights"}
        return KeptIterate(weights=self._kept(weights), **others)  # type: ignore[arg-type]

    def _kept(self, weights: Array) -> Kept:
        indices = np.flatnonzero(weights.view(np.int64))  # -0.0 is a number of its own
        if SPARSE * len(indices) <= len(weights):
            return _Sparse(indices.astype(np.int32), weights[indices], len(weights))
        if self._taken + weights.nbytes > IN_MEMORY:
            try:
                return self._in_file(weights)
            except OSError:
                return lambda: weights  # the disk is full or may not be written to: in memory after all
        self._taken += weights.nbytes
        return lambda: weights

    def _in_file(self, weights: Array) -> Kept:
        with self._lock:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="mklviz-weights-")  # noqa: SIM115, it lives as the trace does
            file = self._file
            start = file.seek(0, 2)
            file.write(weights.data)
            file.flush()

        m = len(weights)

        def read() -> Array:
            out = np.empty(m)
            with self._lock:
                file.seek(start)
                file.readinto(out.data)  # type: ignore[attr-defined]
            return out

        return read


@dataclass(frozen=True)
class _Sparse:
    """The nonzero weights, and their indices."""

    indices: NDArray[np.int32]
    values: Array
    m: int

    def __call__(self) -> Array:
        out = np.zeros(self.m)
        out[self.indices] = self.values
        return out
