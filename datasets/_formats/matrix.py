"""Kernel and distance matrices in text: a row for each sample, whole or one triangle, or sparse in Matrix Market's
format, or distances as PHYLIP writes them; their labels stand in a file of their own.

Names above the columns and before the rows, as pandas writes them, are left out. What has labels beside it is a table.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklviz.limits import LIMITS

from .._cells import is_number
from .._dataset import Array, DataError, Dataset
from .._file_kind import check_shape, reading
from .._grams import FEWEST, mirrored, symmetric, without_labels
from .._header import numbers_columns
from .._table_options import Progress, TableOptions

SUFFIXES = (".mtx",)
OPTIONS = ()

_MARKET = b"%%MatrixMarket"

_NUMBER = r"[+-]?(\d+(,\d*)?|,\d+)(e[+-]?\d+)?"
_DECIMAL_COMMAS = re.compile(rf"([^,;\s]*[;\s]+)?({_NUMBER}[;\s]+)+{_NUMBER}([;\s]+[^,;\s]*)?", re.IGNORECASE)
_COUNT = re.compile(rb"\d{1,9}")
_BETWEEN = re.compile(r"[,;\t ]+")


def looks(data: bytes) -> bool:
    """Whether a text is a matrix that no table is: Matrix Market's, PHYLIP's or a triangle."""
    if data.startswith(_MARKET):
        return True
    start = data[:1_000_000].lstrip()
    if b"\0" in start or not start:
        return False
    top, below = start.partition(b"\n")[0].strip(), data.strip().count(b"\n")
    counted = _COUNT.fullmatch(top) and FEWEST <= int(top) <= below and below % int(top) == 0  # of PHYLIP
    matrix = matrix_in(data)[0] if counted or _triangle(data) else None
    if matrix is None or not FEWEST <= len(matrix) == matrix.shape[1]:
        return False
    return bool(np.isfinite(matrix).all() and np.ptp(matrix) > 0 and symmetric(matrix) is not None)


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Ask for the labels, which stand in another file."""
    matrix, _ = matrix_in(data)
    if matrix is None or (name.endswith(SUFFIXES) and not data.startswith(_MARKET)):
        raise DataError(f"{name} does not begin as a file of Matrix Market does, with {_MARKET.decode()}.")
    raise without_labels(name, len(matrix))


def matrix_in(data: bytes) -> tuple[Array | None, list[str]]:
    """Return the numbers of a text, rows of one length or a triangle, and the names before the rows of a square one.

    None where it holds words. Names are left out of a square one alone: above others they name columns.
    """
    if data.startswith(_MARKET):
        return _market(data), []
    rows = rows_in(data)
    if len({*map(len, rows)}) == 1 and numbers_columns([*zip(*rows, strict=True)]):
        rows = rows[1:]
    body = _without_names(rows)
    matrix = _numbers(body)
    if matrix is not None and len(matrix) == matrix.shape[1]:
        return matrix, [row[0] for row in rows[-len(body) :]] if len(body[-1]) < len(rows[-1]) else []
    return _numbers(rows), []


def _market(data: bytes) -> Array:
    """Return a matrix of Matrix Market, with its zeros."""
    from scipy.io import mminfo, mmread

    with reading("The file cannot be read as Matrix Market's"):
        file: Any = io.BytesIO(data)  # the stubs know paths only
        if b"\0" in data:  # on which scipy ends the process
            raise DataError("The file is damaged: it holds a zero byte.")
        rows, columns, _, _, field, _ = mminfo(file)
        if field == "complex":
            raise DataError("The file holds complex numbers; mklviz reads real ones.")
        check_shape("The file", (rows, columns), LIMITS.gram_cells)
        file.seek(0)
        held: Any = mmread(file)
        return np.asarray(held.toarray() if hasattr(held, "toarray") else held, dtype=np.float64)


def _numbers(rows: Sequence[Sequence[str]]) -> Array | None:
    """Return rows of one length, or a triangle, as an array; None where they hold words or are of other lengths."""
    try:
        numbers = [[*map(float, row)] for row in rows]
    except ValueError:
        return None
    if not numbers:
        return None
    lengths = [len(row) for row in numbers]
    if len(set(lengths)) == 1:
        return np.array(numbers)
    n = len(numbers)
    if lengths == list(range(1, n + 1)):
        return mirrored(np.array([row + [0.0] * (n - len(row)) for row in numbers]))
    fits = lengths == list(range(n, 0, -1))
    return mirrored(np.array([[0.0] * (n - len(row)) + row for row in numbers])) if fits else None


def rows_in(data: bytes) -> list[list[str]]:
    """Return the cells of each line that holds something; those of a file of PHYLIP as a whole matrix."""
    text = data.decode("utf-8-sig", "replace")
    lines = (line.strip().rstrip(",;") for line in text.splitlines() if not line.lstrip().startswith(("#", "%")))
    kept = [line for line in lines if line]
    if kept and _DECIMAL_COMMAS.fullmatch(kept[len(kept) // 2]):
        kept = [line.replace(",", ".") for line in kept]
    rows = [[cell.strip("\"'") for cell in _BETWEEN.split(line)] for line in kept]
    return _phylip(rows) or _of_dist(rows) or rows


def _of_dist(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return names and distances as R shows them, a triangle between all names but the last and all but the first."""
    top, body = (rows[0], rows[1:]) if len(rows) > FEWEST else ((), ())
    if not top or [*top[1:]] != [row[0] for row in body[:-1]] or any(len(row) != k for k, row in enumerate(body, 2)):
        return []
    whole = [[top[0], "0"], *([*row, "0"] for row in body)]
    return [[row[0], *(whole[max(i, j)][min(i, j) + 1] for j in range(len(whole)))] for i, row in enumerate(whole)]


def _phylip(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return names and distances of PHYLIP, which stand below their number, row by row or in a triangle; else none."""
    n = int(rows[0][0]) if len(rows) > FEWEST and _COUNT.fullmatch(rows[0][0].encode()) and len(rows[0]) == 1 else 0
    if not FEWEST <= n < len(rows):
        return []
    body: list[list[str]] = []
    for row in rows[1:]:
        if len(rows) > n + 1 and body and is_number(row[0]):  # the row above goes on
            body[-1] += row
        else:
            body.append([*row])
    if len(body) != n or any(len(row) not in (n + 1, k, k + 1) for k, row in enumerate(body, 1)) or len(body[-1]) < n:
        return []
    body = [[*row, "0"] if len(row) == k else row for k, row in enumerate(body, 1)]  # a triangle without its diagonal
    return [[row[0], *(body[max(i, j)][min(i, j) + 1] for j in range(n))] for i, row in enumerate(body)]


def _triangle(data: bytes) -> bool:
    """Whether the first rows grow or shrink by one cell each."""
    lengths = [len(row) for row in rows_in(data[:20_000].rpartition(b"\n")[0])][:20]
    steps = np.diff(lengths)[1:]  # below the number of samples, too
    return len(steps) > 2 and (bool((steps == 1).all()) or bool((steps == -1).all()))


def _without_names(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the rows without names above and before them."""
    body = list(rows)
    if len(body) > 1 and not body[0][0] and not any(row[0] == "" for row in body[1:]):
        return [row[1:] for row in body[1:]]
    if len(body) > 1 and len(body[0]) > 1 and not any(map(is_number, body[0][1:])):
        body = body[1:]
    first = [row[0] for row in body]
    if len(body) > 1 and not any(map(is_number, first)) and len(set(first)) == len(first):
        body = [row[1:] for row in body]
    return body


def labels_in(data: bytes) -> NDArray[np.str_] | None:
    """Return the texts of a file with one column, without its name; None where it has more."""
    rows = rows_in(data)
    if not rows or {len(row) for row in rows} != {1}:
        return None
    texts = [row[0] for row in rows]
    named = not is_number(texts[0]) and all(map(is_number, texts[1:]))
    called = texts[0].lower() in ("y", "label", "labels", "class", "target") or texts.count(texts[0]) == 1
    return np.array(texts[1:] if named or (called and not is_number(texts[0])) else texts)
