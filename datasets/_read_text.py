"""Tables in text files: comma-separated with a header line, and LIBSVM's sparse ``label index:value ...`` lines."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator

import numpy as np

from ._dataset import DataError, Dataset
from ._labels import code_labels

MOST_CELLS = 50_000_000  # 400 MB as float64
LIBSVM_LINE = re.compile(r"\S+(\s+\d+:\S+)+\s*(#.*)?")

Row = tuple[int, list[str]]


def read_csv(data: bytes, name: str, target: str | None = None) -> Dataset:
    """Read a table with a header; the label is the last column, or the one called `target`.

    The columns are separated by commas, semicolons or tabs, whichever the header has most of.
    """
    rows = _rows(decode(data, name), name)
    first, header = next(rows, (0, []))
    _check_header(header, first, name)
    body = [(number, _cells(row, number, header)) for number, row in rows]
    if not body:
        raise DataError(f"{name} has a header and no rows below it.")
    label = _label_column(header, target, name)
    features = [j for j in range(len(header)) if j != label]
    X = np.array([[_number(row[j], number, f"column {header[j]!r}") for j in features] for number, row in body])
    for number, row in body:
        if not row[label]:
            raise DataError(f"Row {number} has no label in column {header[label]!r}.")
    labels = code_labels([row[label] for _, row in body], f"column {header[label]!r}")
    return labels.dataset(name, X, feature_names=tuple(header[j] for j in features))


def read_libsvm(data: bytes, name: str) -> Dataset:
    """Read LIBSVM lines: a label, then ``index:value`` pairs with indices from 1; what is not mentioned is 0."""
    labels, entries = [], []
    for number, line in enumerate(decode(data, name).splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            _number(words[0], number, "the label")
            labels.append(words[0])
            entries.append(_pairs(words[1:], number))
    if not labels:
        raise DataError(f"{name} is empty; expected lines such as '+1 1:0.5 3:2'.")
    width = max((index for pairs in entries for index in pairs), default=0)
    if not width:
        raise DataError(f"{name} has labels but no index:value pair.")
    if width * len(labels) > MOST_CELLS:
        raise DataError(
            f"{name} would fill {len(labels)} rows of {width} columns; mklviz reads at most {MOST_CELLS:,} numbers."
        )
    X = np.zeros((len(labels), width))
    for i, pairs in enumerate(entries):
        X[i, [index - 1 for index in pairs]] = list(pairs.values())
    return code_labels(labels, "the first column").dataset(name, X)


def looks_like_libsvm(data: bytes) -> bool:
    """Whether the first line with text in it is a LIBSVM line."""
    lines = data[:100_000].decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return LIBSVM_LINE.fullmatch(first.strip()) is not None


def decode(data: bytes, name: str) -> str:
    """Text of a UTF-8 file, without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(f"Row {line} of {name} is not UTF-8 text; save the file as UTF-8.") from None


def _rows(text: str, name: str) -> Iterator[Row]:
    """Rows that are not blank, with the number of their line in the file."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(f"Row {reader.line_num} of {name} cannot be read as a table: {error}.") from None


def _check_header(header: list[str], number: int, name: str) -> None:
    if not header:
        raise DataError(f"{name} is empty; expected a header line with column names, then rows of numbers.")
    if len(header) < 2:
        raise DataError(f"{name} has one column; expected at least one column of numbers and one of labels.")
    if all(_is_number(cell) for cell in header):
        raise DataError(f"Row {number} of {name} holds numbers; the first line must be a header with column names.")
    for j, cell in enumerate(header):
        if not cell:
            raise DataError(f"Column {j + 1} of {name} has no name in the header.")
        if cell in header[:j]:
            raise DataError(f"Two columns of {name} are called {cell!r}; give each its own name.")


def _cells(row: list[str], number: int, header: list[str]) -> list[str]:
    if len(row) != len(header):
        raise DataError(f"Row {number} has {len(row)} cells; the header has {len(header)} columns.")
    return row


def _label_column(header: list[str], target: str | None, name: str) -> int:
    if target is None:
        return len(header) - 1
    if target not in header:
        raise DataError(f"{name} has no column {target!r} to use as the target; it has {', '.join(header)}.")
    return header.index(target)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _number(text: str, number: int, where: str) -> float:
    if not text:
        raise DataError(f"Row {number}, {where}: the cell is empty; fill in missing values or leave the row out.")
    if not _is_number(text):
        raise DataError(f"Row {number}, {where}: {text[:40]!r} is not a number.")
    value = float(text)
    if not math.isfinite(value):
        raise DataError(f"Row {number}, {where}: {text[:40]!r} is not a finite number.")
    return value


def _pairs(words: list[str], number: int) -> dict[int, float]:
    pairs: dict[int, float] = {}
    for word in words:
        index, colon, value = word.partition(":")
        if not colon or not (index.isascii() and index.isdigit()):
            raise DataError(f"Row {number}: {word[:40]!r} is not index:value, with an index from 1.")
        if int(index[:12]) < 1:
            raise DataError(f"Row {number}: index 0 in {word[:40]!r}; LIBSVM counts columns from 1.")
        column = int(index[:12])
        if column in pairs:
            raise DataError(f"Row {number} gives index {column} twice.")
        pairs[column] = _number(value, number, f"index {column}")
    return pairs
