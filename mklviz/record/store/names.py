"""Names of a million kernels, which take longer to write than many a step: only the heaviest kernels keep theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from mklviz.record.keeping import FEW
from mklviz.record.trace import Trace

__all__ = ["FewNames", "heaviest_names", "names_in_full"]

KEPT = 200  # names of a frame, where not all are kept


class FewNames(Sequence[str]):
    """Names of `count` kernels of which only some are known; the others go by their numbers, from 1."""

    def __init__(self, count: int, known: Mapping[int, str]) -> None:
        self._count, self._known = count, known

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[k] for k in range(self._count)[index]]
        k = range(self._count)[index]
        return self._known.get(k) or f"kernel {k + 1:,}"


def names_in_full(trace: Trace) -> bool:
    """Return whether all names are kept."""
    return len(trace.kernel_names) <= FEW


def heaviest_names(trace: Trace, at: int) -> dict[str, str]:
    """Return the names of the heaviest kernels at one step by their indices, as JSON has them."""
    weights = trace[at].weights
    count = min(KEPT, len(weights), len(trace.kernel_names))
    heaviest: Any = np.argpartition(-weights, count - 1)[:count] if count else ()
    return {str(k): trace.kernel_names[int(k)] for k in heaviest}
