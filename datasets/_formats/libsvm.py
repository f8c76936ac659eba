"""LIBSVM and SVMlight text: ``label index:value ...`` lines; precomputed kernels (``-t 4``) begin with ``0:i``.

What is not mentioned is 0. Indices count from 1, or from 0 where one of them is 0, as scikit-learn writes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mklviz.quoting import quote

from .._cells import is_number
from .._dataset import Array, DataError, Dataset
from .._dialect import decode
from .._file_kind import check_size
from .._grams import FEWEST, symmetric
from .._labels import code_labels
from .._table_options import Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".libsvm", ".svm", ".svmlight", ".libsvmdata")
OPTIONS = ()

_LINE = re.compile(r"[^\s:]+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")
_BLOCK = 1000  # lines between two reports

_Pairs = tuple[Sequence[int], Sequence[float]]


def looks(data: bytes) -> bool:
    """Whether one of the first lines is a LIBSVM line, and those before it have a label alone."""
    for line in data[:100_000].decode("utf-8", "replace").splitlines()[:20]:
        text = line.partition("#")[0].strip()
        if _LINE.fullmatch(text):
            return True
        if text and not (is_number(text) and len(text.split()) == 1):
            return False
    return False


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Read LIBSVM lines."""
    labels, rows = _lines(data, name, progress)
    coded = code_labels(labels, "the first column")
    kernel = _precomputed(rows, gram_cells)
    if kernel is not None:
        return coded.dataset(name, np.zeros((len(rows), 0)), grams=kernel[None])
    return coded.dataset(name, _table(rows, name))


def frame_of(data: bytes, name: str, names: Sequence[str], target: str) -> pd.DataFrame:
    """Return new samples with these features, of which the last are left out where they are zero, and their labels."""
    import pandas as pd

    labels, rows = _lines(data, name, lambda _fraction: None)
    X = _table(rows, name)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    return frame.assign(**{each: 0.0 for each in names if each not in frame.columns}, **{target: labels})


def _lines(data: bytes, name: str, progress: Progress) -> tuple[list[str], list[_Pairs]]:
    """Return the label of each line, and its pairs."""
    text = decode(data, name)[0]
    labels, rows = list[str](), list[_Pairs]()
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if number % _BLOCK == 1:
            progress(number / len(lines))
        words = line.partition("#")[0].split()
        if words:
            labels.append(_label(words[0], number))
            rows.append(_pairs(words[1:], number))
    if not labels:
        raise DataError(f"{name} is empty; expected lines such as '+1 1:0.5 3:2'.")
    return labels, rows


def _precomputed(rows: Sequence[_Pairs], gram_cells: int) -> Array | None:
    """Return the kernel of rows that begin with their number, as LIBSVM's -t 4 wants; None where they hold features."""
    n, first = len(rows), 0 if rows[0][1][:1] == [0.0] else 1
    if (
        n < FEWEST
        or n * n > gram_cells
        or any(values[:1] != [k] or columns[0] or max(columns) > n for k, (columns, values) in enumerate(rows, first))
    ):
        return None
    kernel = np.zeros((n, n + 1))
    for i, (columns, values) in enumerate(rows):
        kernel[i, columns] = values
    return symmetric(kernel[:, 1:])


def _table(rows: Sequence[_Pairs], name: str) -> Array:
    named = [columns for columns, _ in rows if len(columns)]
    if not named:
        raise DataError(f"{name} has labels but no index:value pair.")
    first = 0 if min(min(columns) for columns in named) == 0 else 1
    width = max(max(columns) for columns in named) - first + 1
    check_size(name, len(rows), width)
    X = np.zeros((len(rows), width))
    for i, (columns, values) in enumerate(rows):
        X[i, [column - first for column in columns]] = values
    return X


def _label(text: str, number: int) -> str:
    if "," in text:
        raise DataError(f"Row {number} has the labels {quote(text)}: several labels a sample are not read.")
    _number(text, number, "the label")
    return text


def _pairs(words: Sequence[str], number: int) -> _Pairs:
    columns, values, seen = list[int](), list[float](), set[int]()
    for word in words:
        index, colon, value = word.partition(":")
        if index == "qid":
            continue
        if not colon or not (index.isascii() and index.isdigit()):
            raise DataError(f"Row {number}: {quote(word)} is not index:value, with a whole number as index.")
        column = int(index[:12])
        if column in seen:
            raise DataError(f"Row {number} gives index {column} twice.")
        seen.add(column)
        columns.append(column)
        values.append(_number(value, number, f"index {column}"))
    return columns, values


def _number(text: str, number: int, where: str) -> float:
    value = float(text) if is_number(text) else np.nan
    if np.isfinite(value):
        return value
    wrong = f"{quote(text)} is not a {'finite ' * is_number(text)}number"
    lacking = "the value is missing; fill it in or leave the row out"
    raise DataError(f"Row {number}, {where}: {wrong if text else lacking}.")
