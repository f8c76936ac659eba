"""Symmetric matrices, kernels or distances, alone and in tables."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ._cells import decimal_sign, is_number, target_name
from ._dataset import Array, DataError

if TYPE_CHECKING:
    import pandas as pd

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
