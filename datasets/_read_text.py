"""Tables in text files: comma-separated with a header line, and LIBSVM's sparse ``label index:value ...`` lines."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from mklviz.quoting import MOST_NAME, listed, quote

from ._bounds import check_size
from ._dataset import Array, DataError, Dataset
from ._labels import MOST_CLASSES, code_labels

LIBSVM_LINE = re.compile(r"\S+(\s+\d+:\S+)+\s*(#.*)?")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
LABEL_NAMES = {"class", "label", "labels", "target", "y"}

Row = tuple[int, list[str]]


def read_csv(data: bytes, name: str, target: str | None = None) -> Dataset:
    """Read a table with a header; the label is the last column, or the one called `target`.

    The columns are separated by commas, semicolons or tabs, whichever the header has most of; where those are no
    commas, numbers may have decimal commas. Without a `target`, the first column is the label where only it says so:
    it alone holds texts, or is called "class", "label", "target" or "y".
    """
    text = decode(data, name)
    separator = _separator(text)
    rows = _rows(text, name, separator)
    first, header = next(rows, (0, []))
    _check_header(header, first, name)
    body = [(number, _cells(row, number, header)) for number, row in rows]
    if not body:
        raise DataError(f"{name} has a header and no rows below it.")
    check_size(name, len(body), len(header))
    notes = _with_points(body) if separator != "," else ()
    label = _label_column(header, body, target, name)
    features = [j for j in range(len(header)) if j != label]
    X = _table(body, features, header)
    for number, row in body:
        if not row[label]:
            raise DataError(f"Row {number} has no label in column {quote(header[label])}.")
    if label == 0 and target is None:
        notes = (*notes, f"The first column, {quote(header[0])}, is read as the label.")
    labels = code_labels([row[label] for _, row in body], f"column {quote(header[label])}")
    labels = labels._replace(note=" ".join((labels.note, *notes)))
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
    check_size(name, len(labels), width)
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


def _separator(text: str) -> str:
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(",;\t", key=header.count)


def _rows(text: str, name: str, separator: str) -> Iterator[Row]:
    """Rows that are not blank, with the number of their line in the file."""
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
    check_size(name, 1, len(header))
    if all(_is_number(cell) for cell in header):
        raise DataError(f"Row {number} of {name} holds numbers; the first line must be a header with column names.")
    seen: set[str] = set()
    for j, cell in enumerate(header):
        if not cell:
            raise DataError(f"Column {j + 1} of {name} has no name in the header.")
        if len(cell) > MOST_NAME:
            raise DataError(
                f"Column {j + 1} of {name} has a name of {len(cell):,} letters; a name has at most {MOST_NAME}."
            )
        if cell in seen:
            raise DataError(f"Two columns of {name} are called {quote(cell)}; give each its own name.")
        seen.add(cell)


def _cells(row: list[str], number: int, header: list[str]) -> list[str]:
    if len(row) != len(header):
        raise DataError(f"Row {number} has {len(row)} cells; the header has {len(header)} columns.")
    return row


def _with_points(body: list[Row]) -> tuple[str, ...]:
    """Write decimal points for decimal commas; return a note where there were any."""
    comma = False
    for _, row in body:
        for j, cell in enumerate(row):
            if "," in cell and DECIMAL_COMMA.fullmatch(cell):
                row[j], comma = cell.replace(",", "."), True
    return ("Commas in numbers are read as decimal points.",) if comma else ()


def _label_column(header: list[str], body: list[Row], target: str | None, name: str) -> int:
    if target is None:
        return 0 if _label_is_first(header, body) else len(header) - 1
    if target not in header:
        raise DataError(f"{name} has no column {quote(target)} to use as the target; it has {listed(header)}.")
    return header.index(target)


def _label_is_first(header: list[str], body: list[Row]) -> bool:
    """Whether the first column is the label: it alone is called so, or it alone holds the names of classes."""
    first, last = ({row[j] for _, row in body} for j in (0, -1))
    if not all(map(_is_number, last)):
        return False
    if header[0].lower() in LABEL_NAMES and header[-1].lower() not in LABEL_NAMES:
        return True
    if "" in first or any(_is_number(text) or DECIMAL_COMMA.fullmatch(text) for text in first):
        return False
    return 1 < len(first) <= max(MOST_CLASSES, len(body) // 2)


def _table(body: list[Row], features: Sequence[int], header: list[str]) -> Array:
    """Return the columns `features` as numbers, or say which cell is none."""
    X = np.empty((len(body), len(features)))
    for i, (number, row) in enumerate(body):
        try:
            X[i] = [float(row[j]) for j in features]
        except ValueError:
            _refuse(row, number, features, header)
        if not np.isfinite(X[i]).all() or any("_" in row[j] for j in features):
            _refuse(row, number, features, header)
    return X


def _refuse(row: list[str], number: int, features: Sequence[int], header: list[str]) -> None:
    """Say which cell of a row is no finite number."""
    for j in features:
        where = f"column {quote(header[j])}"
        if "," in row[j] and _is_number(row[j].replace(",", ".", 1)):
            raise DataError(
                f"Row {number}, {where}: {quote(row[j])} has a comma; write a decimal point, or separate the columns by"
                " semicolons and leave the commas."
            )
        if row[j] and not _is_number(row[j]):
            raise DataError(
                f"Row {number}, {where}: {quote(row[j])} is not a number; if these are the labels, make this the last"
                " column, or name it as the target."
            )
        _number(row[j], number, where)


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
        raise DataError(f"Row {number}, {where}: {quote(text)} is not a number.")
    value = float(text)
    if not math.isfinite(value):
        raise DataError(f"Row {number}, {where}: {quote(text)} is not a finite number.")
    return value


def _pairs(words: list[str], number: int) -> dict[int, float]:
    pairs: dict[int, float] = {}
    for word in words:
        index, colon, value = word.partition(":")
        if not colon or not (index.isascii() and index.isdigit()):
            raise DataError(f"Row {number}: {quote(word)} is not index:value, with an index from 1.")
        if int(index[:12]) < 1:
            raise DataError(f"Row {number}: index 0 in {quote(word)}; LIBSVM counts columns from 1.")
        column = int(index[:12])
        if column in pairs:
            raise DataError(f"Row {number} gives index {column} twice.")
        pairs[column] = _number(value, number, f"index {column}")
    return pairs
