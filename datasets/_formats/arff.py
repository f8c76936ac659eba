"""ARFF of Weka, OpenML and MULAN: ``@attribute NAME TYPE`` lines, then ``@data`` with dense or ``{index value}`` rows.

KEEL's dialect (.dat) names the target in ``@outputs`` and writes ranges, ``real [0.0, 1.0]``; missing values are ``?``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from mklviz.quoting import quote

from .._dataset import DataError, Dataset
from .._dialect import decode
from .._file_kind import check_size
from .._frame import dataset_from_frame, unique_names
from .._table_options import OF_TABLES, FileFacts, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".arff",)
OPTIONS = (*OF_TABLES, "encoding")

_STARTS = re.compile(rb"(?:\s|%[^\n]*\n|\xef\xbb\xbf)*@(relation|attribute)\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)
_KINDS = {"numeric": "number", "real": "number", "integer": "number", "string": "text", "date": "text"}
_WEIGHT = re.compile(r",\s*\{\s*[\d.eE+-]+\s*\}\s*$")
_MISSING = ("?", "<null>", "")
MOST_WRONG = 0.1  # of the rows may be of another length: they are left out
_QUOTED = re.compile(r"""\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")""")
_PAIR = re.compile(r"""\s*(\d{1,9})\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,]*)\s*(?:,|$)""")
_COMMA, _BLANK = re.compile(r"(?<!\\),"), re.compile(r"\s+")
_ESCAPED = re.compile(r"\\(.)")


class _ArffColumn(NamedTuple):
    """A column: its name, and its words where they are declared; `kind` is "number", "words" or "text"."""

    name: str
    kind: str
    words: tuple[str, ...] = ()


def looks(data: bytes) -> bool:
    """Whether a file begins with an ARFF header."""
    return _STARTS.match(data[:100_000]) is not None


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Read an ARFF file."""
    frame, roles, notes = frame_of(data, name, progress, options)
    return dataset_from_frame(frame, options, name, FileFacts(assumed=notes, dialect="ARFF", roles=roles), progress)


def frame_of(
    data: bytes, name: str, progress: Progress, options: TableOptions
) -> tuple[pd.DataFrame, dict[str, str], tuple[str, ...]]:
    """Return the table in an ARFF file, what it calls columns, and notes."""
    import pandas as pd

    text, _, assumed = decode(data, name, options.encoding)
    notes = [*assumed]
    lines = text.splitlines()
    attributes, outputs, first = _header(lines, name)
    given = [each.name for each in attributes]
    names, twice = unique_names(given, name)
    check_size(name, len(lines) - first, len(names))
    cells, numbers, problems = _rows(lines, attributes, first, name)
    notes += problems
    progress(0.5)
    if not cells:
        raise DataError(f"{name} has no rows below @data.")
    declared = zip(names, attributes, zip(*cells, strict=True), strict=True)
    columns = {called: _column(each, column) for called, each, column in declared}
    target = next((names[given.index(output)] for output in outputs if output in given), None)
    roles = {called: "words" * (each.kind == "words") for called, each in zip(names, attributes, strict=True)}
    roles |= {} if target is None else {target: f"target {roles[target]}"}
    return pd.DataFrame(columns, index=numbers), roles, (*notes, *twice)


def _column(attribute: _ArffColumn, cells: Sequence[str | None]) -> Any:
    """Return a column as numbers where it is declared so and holds nothing else, else as texts."""
    if attribute.kind == "number":
        with suppress(ValueError):
            return [float("nan") if cell is None else float(cell) for cell in cells]
    return list(cells)


def _header(lines: Sequence[str], name: str) -> tuple[list[_ArffColumn], list[str], int]:
    """Return the columns, which of them are targets, and the line after @data."""
    attributes, outputs = list[_ArffColumn](), list[str]()
    for k, line in enumerate(lines):
        word, _, rest = line.strip().partition(" ")
        if word.lower().startswith("@attribute"):
            attributes.append(_attribute(line.strip(), k + 1, name))
        elif word.lower() in ("@outputs", "@output"):
            outputs = [each.strip().strip("'\"") for each in rest.split(",")]
        elif word.lower().startswith("@data"):
            if not attributes:
                raise DataError(f"{name} has no @attribute line above @data.")
            return attributes, outputs, k + 1
    raise DataError(f"{name} is an ARFF file without @data: its rows are missing.")


def _attribute(line: str, number: int, name: str) -> _ArffColumn:
    match = _ATTRIBUTE.match(line)
    kind = match[2].strip() if match else ""
    if match and kind.startswith("{"):
        words = _dense(kind.strip("{} \t"), ",")
        return _ArffColumn(_bare(match[1]), "words", tuple(map(_bare, filter(None, words))))
    known = re.match(r"[a-z]+", kind.lower())
    if match and known and known[0] in _KINDS:
        return _ArffColumn(_bare(match[1]), _KINDS[known[0]])
    raise DataError(
        f"Row {number} of {name}, {quote(line)}, is not read: an attribute is numeric, integer, real, string, date or a"
        " list of words in braces."
    )


def _bare(text: str) -> str:
    """Return a name or word without its quotes."""
    plain = text.strip()
    quoted = len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "'\""
    return _ESCAPED.sub(r"\1", plain[1:-1]) if quoted else plain


def _rows(
    lines: Sequence[str], attributes: Sequence[_ArffColumn], first: int, name: str
) -> tuple[list[list[str | None]], list[int], list[str]]:
    """Return the cells of each row, None where a value is missing, their lines, and notes."""
    rows, numbers, weighted, width = list[list[str | None]](), list[int](), False, len(attributes)
    wrong = list[str]()
    for number, line in enumerate(lines[first:], first + 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if _WEIGHT.search(text):
            text, weighted = _WEIGHT.sub("", text), True
        cells = list(_sparse(text, attributes, number)) if text.startswith("{") else _dense(text)
        if len(cells) > width:  # a comma at the end, or two where one is meant
            cells = [cell for cell in cells if cell]
        if len(cells) != width:
            wrong.append(f"Row {number} of {name} has {len(cells)} values; the header declares {width} columns.")
            continue
        rows.append([None if cell in _MISSING else cell for cell in cells])
        numbers.append(number)
    if len(wrong) > MOST_WRONG * (len(rows) + len(wrong)):
        raise DataError(wrong[0])
    notes = ["Weights of rows are left out."] if weighted else []
    notes += [f"{len(wrong):,} row{'s are' * (len(wrong) > 1) or ' is'} left out: {wrong[0]}"] if wrong else []
    return rows, numbers, notes


def _dense(text: str, separator: str | None = None) -> list[str]:
    """Return the cells of a row, in which words may stand in single or double quotes."""
    if "'" not in text and '"' not in text and "\\" not in text:
        return [cell.strip() for cell in text.split(separator or ("," if "," in text else None))]
    cells, place = list[str](), 0
    between = _COMMA if separator or "," in text else _BLANK
    while place <= len(text):
        quoted = _QUOTED.match(text, place)
        start = quoted.end() if quoted else place
        match = between.search(text, start)
        end, place = match.span() if match else (len(text), len(text) + 1)
        cells.append((_bare(quoted[0]) if quoted else "") + _ESCAPED.sub(r"\1", text[start:end].strip()))
    return cells


def _sparse(text: str, attributes: Sequence[_ArffColumn], number: int) -> Iterator[str]:
    cells: dict[int, str] = {}
    inner, place = text.strip("{} \t"), 0
    while place < len(inner):
        pair = _PAIR.match(inner, place)
        if not (pair and int(pair[1]) < len(attributes)):
            wrong, last = inner[place:].partition(",")[0].strip(), len(attributes) - 1
            raise DataError(f"Row {number}: {quote(wrong)} is not index and value, with an index from 0 to {last}.")
        cells[int(pair[1])] = _bare(pair[2])
        place = pair.end()
    for j, attribute in enumerate(attributes):  # what is left out is zero, or the first word
        yield cells.get(j, attribute.words[0] if attribute.words else "0")
