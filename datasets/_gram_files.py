"""Kernel matrices that stay in their files, as they are too many for memory: one is read at a time, and let go of.

Only the rows and columns asked for are read; in whatever order that happens, numbers are those of the files, so that
what is computed of them is the same bit for bit as in memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table_options import DataError

LARGE = 2**30  # bytes of all matrices given together, up to which they are read into memory


@dataclass(frozen=True, eq=False, repr=False)
class GramFiles(Sequence[NDArray[np.float64]]):
    """Matrices (m, rows, columns) in .npy files, indexed as an array is: ``[k]`` reads, ``[:, rows]`` chooses."""

    places: tuple[tuple[Path, int], ...]  # of each matrix: its file, and which of those in it
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    dtype = np.dtype(np.float64)
    ndim, nbytes = 3, 0

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.places), len(self.rows), len(self.columns)

    @property
    def size(self) -> int:
        return len(self.places) * len(self.rows) * len(self.columns)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        which, rows, columns = (*(index if isinstance(index, tuple) else (index,)), *2 * [slice(None)])[:3]
        if isinstance(which, slice):
            return replace(self, places=self.places[which], rows=self.rows[rows], columns=self.columns[columns])
        return self._read(self.places[which], self.rows[rows], self.columns[columns])

    def _read(self, place: tuple[Path, int], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        (file, which), out = place, np.empty((len(rows), len(columns)))
        try:
            held: Any = mapped(file)  # by its header alone: a map of a file that is cut short would end the process
            turned = held[which].flags.f_contiguous and not held[which].flags.c_contiguous
            along, across, target = (columns, rows, out.T) if turned else (rows, columns, out)
            n, width, least = held.shape[1], held.dtype.itemsize, int(across.min(initial=held.shape[1]))
            if along.max(initial=0) >= n:
                raise IndexError
            count = int(across.max(initial=least - 1)) + 1 - least
            with open(file, "rb", buffering=0) as opened:
                for i, k in enumerate(along.tolist()):
                    opened.seek(held.offset + ((which * n + k) * n + least) * width)
                    target[i] = np.fromfile(opened, held.dtype, count)[across - least]
        except (OSError, EOFError, ValueError, IndexError):
            raise DataError(f"The kernels in {file.name} changed or went away while they were in use.") from None
        return out


def mapped(file: Path) -> NDArray[Any]:
    """Return the matrices (m, n, n) in a file, which are read when they are looked at."""
    array = np.load(file, mmap_mode="r", allow_pickle=False)
    return array if array.ndim == 3 else array[None]


def left_in_files(paths: Sequence[str | os.PathLike[str]]) -> dict[Path, GramFiles]:
    """Return those of some files that hold square matrices, where they are too large together to be read."""
    large = {}
    for path in map(Path, paths):
        if path.suffix.lower() == ".npy":
            try:
                array = mapped(path)
            except Exception:  # whatever a damaged header raises; reading says it
                continue
            m, *sides = array.shape
            beside = m == 1 or array.flags.c_contiguous  # not with the numbers of several matrices in turn
            if array.dtype.kind in "biuf" and beside and len(sides) == 2 and sides[0] == sides[1] > 1:
                every = np.arange(sides[0])
                large[path] = GramFiles(tuple((path.absolute(), k) for k in range(m)), every, every)
    return large if sum(os.path.getsize(path) for path in large) > LARGE else {}


def unless_distances(grams: GramFiles) -> Any:
    """Return kernels as they are, whose entries a bank checks, but distances read: these have zeros on the diagonal."""
    for file, which in grams.places:
        matrix = mapped(file)[which]
        if np.abs(matrix.diagonal()).max() > 1e-6 * np.abs(matrix[0]).max():
            return grams
    return np.array(list(grams))


def together(kernels: Sequence[Any]) -> Any:
    """Return kernels (m, n, n) of several files as one stack."""
    if not all(isinstance(each, GramFiles) for each in kernels):
        return np.concatenate([np.array(list(each)) if isinstance(each, GramFiles) else each for each in kernels])
    return replace(kernels[0], places=tuple(place for each in kernels for place in each.places))
