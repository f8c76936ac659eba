"""Tables in text files: rows separated by commas, and LIBSVM's sparse ``label index:value ...`` lines."""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np

from mklviz.quoting import quote

from ._bounds import check_size
from ._cells import DECIMAL_COMMA, is_number
from ._dataset import DataError, Dataset
from ._labels import code_labels
from ._table_options import BLOCK, Progress, TableRows

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_COMMAS = "Commas in numbers are read as decimal points."
LIBSVM_LINE = re.compile(r"\S+(\s+\d+:\S+)+\s*(#.*)?")


def read_rows(data: bytes, name: str, progress: Progress) -> TableRows:
    """Read the rows of a table as they stand.

    The columns are separated by commas, semicolons or tabs, whichever the first row has most of; where those are no
    commas, numbers may have decimal commas.
    """
    text, notes = _any_text(data, name)
    separator, numbers = _separator(text), array("q")
    blocks = _blocks(_rows(text, name, separator, numbers), numbers, text.count("\n"), progress)
    return TableRows(blocks, numbers, None, str.strip if separator == "," else partial(_with_point, notes), notes)


def _blocks(
    rows: Iterator[list[str]], numbers: Sequence[int], lines: int, progress: Progress
) -> Iterator[Sequence[Sequence[str]]]:
    while block := list(islice(rows, BLOCK)):
        progress(min(numbers[-1] / max(lines, 1), 1.0))
        yield list(zip(*block, strict=True))


def read_libsvm(data: bytes, name: str, progress: Progress) -> Dataset:
    """Read LIBSVM lines: a label, then ``index:value`` pairs with indices from 1; what is not mentioned is 0."""
    labels, entries = [], []
    lines = decode(data, name).splitlines()
    for number, line in enumerate(lines, 1):
        if number % BLOCK == 1:
            progress(number / len(lines))
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


def _any_text(data: bytes, name: str) -> tuple[str, list[str]]:
    """Text of a table, which older programs on Windows do not write as UTF-8, and a note where it is not."""
    try:
        return decode(data, name), []
    except DataError:
        coding, called = ("utf-16", "UTF-16") if data.startswith(_UTF_16) else ("cp1252", "Windows-1252")
        try:
            text = data.decode(coding)
        except UnicodeDecodeError:
            text = "\0"
        if _CONTROL.search(text):  # no text at all
            raise
    return text, [f"The file is not UTF-8 text: its letters are read as {called}."]


def _separator(text: str) -> str:
    header = next((line for line in io.StringIO(text) if line.strip()), "")
    return max(",;\t", key=header.count)


def _rows(text: str, name: str, separator: str, numbers: array[int]) -> Iterator[list[str]]:
    """Yield rows that are not blank, all as long as the first; add the numbers of their lines in the file."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    width = 0
    try:
        for row in reader:
            if any(map(str.strip, row)):
                numbers.append(reader.line_num)
                width = width or len(row)
                if len(row) != width:
                    raise DataError(f"Row {numbers[-1]} has {len(row)} cells; the first row has {width}.")
                check_size(name, len(numbers) - 1, width)
                yield row
    except csv.Error as error:
        raise DataError(f"Row {reader.line_num} of {name} cannot be read as a table: {error}.") from None


def _with_point(notes: list[str], cell: str) -> str:
    """Return what a cell says, with a decimal point for a decimal comma; note that there was one."""
    text = cell.strip()
    if "," in text and DECIMAL_COMMA.fullmatch(text):
        if _COMMAS not in notes:
            notes.append(_COMMAS)
        return text.replace(",", ".")
    return text


def _number(text: str, number: int, where: str) -> float:
    if not text:
        raise DataError(f"Row {number}, {where}: the cell is empty; fill in missing values or leave the row out.")
    if not is_number(text):
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
