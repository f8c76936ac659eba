"""Weights of a frame, of which most are zero in many runs: then only the others are written, and where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.contract import Array
from mklviz.record.archive import Arrays
from mklviz.record.keeping import SPARSE

__all__ = ["FrameArrays", "weights_as_columns"]

_VALUES, _PLACES, _ENDS, _COUNT = (f"weights_{what}" for what in ("values", "places", "ends", "count"))


def weights_as_columns(weights: Sequence[Array]) -> dict[str, NDArray[Any]]:
    """Return the weights of some steps as columns: those that are not zero, or all where that takes less room."""
    places = [np.flatnonzero(row.view(np.int64)) for row in weights]  # -0.0 is a number of its own
    if SPARSE * sum(map(len, places)) > sum(map(len, weights)):
        return {"weights": np.array(weights)}
    return {
        _VALUES: np.concatenate([row[at] for row, at in zip(weights, places, strict=True)]),
        _PLACES: np.concatenate(places).astype(np.int32),
        _ENDS: np.cumsum([len(at) for at in places]),
        _COUNT: np.array([len(weights[0])]),
    }


class FrameArrays(Arrays):
    """The arrays of a frame."""

    def rows(self, name: str) -> Iterator[Array]:
        """Yield the rows of one array, also where only what is not zero was written."""
        if name in self:
            yield from super().rows(name)
            return
        values, places, ends = self[_VALUES].astype(np.float64), self[_PLACES], self[_ENDS]
        count, begin = int(self[_COUNT][0]), 0
        for end in ends:
            row = np.zeros(count)
            row[places[begin:end]] = values[begin:end]
            begin = end
            yield row
