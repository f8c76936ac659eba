"""Matrices of kernels or distances: those that stay in their files, and those that stand in tables.

Of those in files, too many for memory, only the rows and columns asked for are read; in whatever order that happens,
numbers are those of the files, so that what is computed of them is the same bit for bit as in memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._cells import decimal_sign, is_number, target_name
from ._table_options import DataError

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
LARGE = 2**30  # bytes of all matrices given together, up to which they are read into memory
ENTRIES = 2**22  # read at a time


@dataclass(frozen=True, eq=False, repr=False)
class GramFiles(Sequence[Array]):
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

    def _read(self, place: tuple[Path, int], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
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


def checked(grams: GramFiles) -> Any:
    """Return matrices in files, once all are read and found finite and symmetric; distances, read into memory."""
    distances = 0
    for (file, _), k in zip(grams.places, range(len(grams)), strict=True):
        size, apart, least, n = 0.0, 0.0, 0.0, len(grams.rows)
        diagonal, step = np.empty(n), max(ENTRIES // n, 1)
        for first in range(0, n, step):
            some = slice(first, first + step)
            rows = grams[k, some]
            if not np.isfinite(rows).all():
                i, j = np.argwhere(~np.isfinite(rows))[0]
                raise DataError(f"{file.name} holds {rows[i, j]} between samples {first + i} and {j}.")
            across = rows.T if step >= n else grams[k, :, some].T
            size, least = max(size, float(np.abs(rows).max())), min(least, float(rows.min()))
            apart = max(apart, float(np.abs(rows - across).max()))
            diagonal[some] = rows[:, some].diagonal()
        if apart > UNEQUAL * size:
            raise DataError(f"{file.name} is not symmetric; a kernel matrix that stays in its file must be.")
        distances += size > 0.0 and max(float(np.abs(diagonal).max()), -least) <= 1e-6 * size
    return np.array(list(grams)) if distances == len(grams) else grams


def together(kernels: Sequence[Any]) -> Any:
    """Return kernels (m, n, n) of several files as one stack."""
    if not all(isinstance(each, GramFiles) for each in kernels):
        return np.concatenate([np.array(list(each)) if isinstance(each, GramFiles) else each for each in kernels])
    return replace(kernels[0], places=tuple(place for each in kernels for place in each.places))


# -- symmetric matrices, kernels or distances, alone and in tables


CORNER = 20  # samples that are looked at first
FEWEST = 4  # samples of a matrix that is recognised by being symmetric
UNEQUAL = 1e-3  # of the largest entry: how far entries may be apart that should be equal


def symmetric(matrix: Array) -> Array | None:
    """Return a square matrix that is symmetric but for rounding, whole where it holds one triangle; None for others."""
    size = float(np.abs(matrix).max(initial=0.0))
    if float(np.abs(matrix - matrix.T).max(initial=0.0)) <= UNEQUAL * size:
        return matrix
    if not np.diag(matrix).all() or (np.tril(matrix, -1).any() and np.triu(matrix, 1).any()):
        return None
    return mirrored(matrix)


def mirrored(triangle: Array) -> Array:
    """Return the whole of a symmetric matrix of which one triangle is given."""
    return np.asarray(triangle + triangle.T - np.diag(np.diag(triangle)))


def without_labels(name: str, samples: int) -> DataError:
    """Return what is said of a matrix alone."""
    return DataError(
        f"{name} is a matrix of {samples:,} samples, a kernel or distances, without labels: give them"
        " as a file of their own, together with this one, or beside the matrix as its last column. Where it is a"
        " table instead, say which column is predicted: target."
    )


def matrix_apart(
    frame: pd.DataFrame, target: str | None = None, alone: bool = False
) -> tuple[Array, pd.DataFrame, list[Any]] | None:
    """Return the symmetric matrix in a table, no grid where it is `alone`, what stands beside it, and names of rows."""
    pairs = of_pairs(frame) if target is None and not any(map(target_name, map(str, frame.columns[2:]))) else None
    if pairs is not None and not (alone and any(is_number(name) and float(name) % 1 for name in pairs[1]["sample"])):
        return pairs[0], pairs[1], [*pairs[1]]
    n, width = frame.shape
    for start in range(width - n + 1) if FEWEST <= n <= width <= n + 2 else ():
        cells = frame.iloc[:, start : start + n]
        matrix = None if _of_cells(cells.iloc[:CORNER, :CORNER]) is None else _of_cells(cells)
        beside = frame.drop(columns=cells.columns)
        if matrix is not None and np.ptp(matrix[~np.eye(n, dtype=bool)]) > 0 and target in (None, *beside):
            return matrix, beside, [each for each in beside if each != target and beside[each].map(str).nunique() == n]
    return None


def of_pairs(frame: pd.DataFrame) -> tuple[Array, pd.DataFrame] | None:
    """Return the kernel or the distances in a table of pairs and what stands between them, and the samples' names.

    Every pair stands there once, or as (i, j) and as (j, i), perhaps without those of a sample and itself.
    """
    size = len(frame)
    if frame.shape[1] != 3 or size < FEWEST or (isqrt(size) ** 2 != size and isqrt(8 * size + 1) ** 2 != 8 * size + 1):
        return None
    ends = [frame.iloc[:, k].map(str).tolist() for k in (0, 1)]
    first, second = ends if ends[0][0] not in ends[1] else ends[::-1]  # of an upper triangle, or a lower one
    names = [*dict.fromkeys([*first, *second])]
    n, numbered = len(names), all(map(is_number, names))
    if n < FEWEST or size not in (n * n, n * (n + 1) // 2, n * (n - 1) // 2):
        return None
    place = {name: k for k, name in enumerate(sorted(names, key=float) if numbered else names)}
    matrix = np.full((n, n), np.nan)
    numbers = _numbers(frame.iloc[:, 2])
    if numbers is None or len({*zip(*ends, strict=True)}) < size:
        return None
    matrix[[place[a] for a in ends[0]], [place[b] for b in ends[1]]] = numbers
    whole = _whole(matrix)
    if whole is None or len(np.unique(whole[~np.eye(n, dtype=bool)])) < 3:  # two values are classes
        return None
    diagonal = np.diag(whole)
    kernel = diagonal.min() > 0 and (whole**2 <= 1.001 * np.outer(diagonal, diagonal)).all()
    if not kernel and (diagonal.any() or whole.min() < 0):
        return None
    return whole, type(frame)({"sample": [*place]})


def _of_cells(cells: pd.DataFrame) -> Array | None:
    """Return the numbers of a symmetric matrix one triangle of which may be blank, and a diagonal of zeros."""
    numbers = _numbers(cells.mask(cells == ""))
    return None if numbers is None else _whole(numbers)


def _numbers(cells: Any) -> Array | None:
    """Return the numbers in a frame or a column, which may have decimal commas; None where there are others."""
    try:
        return np.array(cells.astype(float))
    except (OverflowError, TypeError, ValueError):
        commas = [text for text in cells.to_numpy().ravel() if isinstance(text, str) and "," in text]
    return _numbers(cells.replace(",", ".", regex=True)) if decimal_sign(commas) == "," else None


def _whole(numbers: Array) -> Array | None:
    """Return a symmetric matrix of which one triangle may be missing, and a diagonal of zeros; None for others."""
    numbers = np.where(np.isnan(numbers), numbers.T, numbers)
    if np.isnan(np.diag(numbers)).all():
        np.fill_diagonal(numbers, 0.0)
    return symmetric(numbers) if np.isfinite(numbers).all() else None
