"""From the rows of a table to a data set: which column is predicted, what the others become, what is done where values
are missing. Notes say all that is done, and the same rows with the same options give the same data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from ._bounds import check_size
from ._cells import column, in_quotes
from ._columns import Cells, TableColumn, describe, read_column
from ._dataset import Array, DataError, Dataset
from ._header import column_names, header_is_first
from ._labels import MOST_CLASSES, code_labels
from ._table_options import BLOCK, FILL, LEAVE_OUT, Progress, TableOptions, TableRows, TableSummary

__all__ = ["read_table"]

LABEL_NAMES = ("class", "label", "labels", "target", "y", "outcome", "response")
FEW = 0.1  # up to this share of rows with missing values are left out, more are filled in

Rows = NDArray[np.intp]


def read_table(table: TableRows, name: str, options: TableOptions, progress: Progress) -> Dataset:
    """Return the data set that a table holds, with the summary of what was done to it; `name` is the file's."""
    header, columns = _columns(table, options, name, progress)
    targets = _targets(columns)
    label = next(each for each in columns if each.name == (options.target or targets[0]))
    used = [each for each in columns if each is not label and not each.aside]
    _check_used(columns, label, used, name)
    check_size(name, len(label.codes), sum(len(each.names) for each in used))
    kept = _kept(label, used, options.missing)
    codes, inverse = np.unique(label.codes[kept.rows], return_inverse=True)
    labels = code_labels([label.texts[code] for code in codes], column(label.name), inverse)
    done = (*kept.notes, *_column_notes(columns, label, kept.missing))
    named = table.names is not None
    summary = TableSummary(
        TableOptions(label.name, kept.missing, header), targets, kept.gaps, len(label.codes), named, done
    )
    features = tuple(feature for each in used for feature in each.names)
    dataset = labels.dataset(name, _values(used, kept.rows, progress), feature_names=features)
    assumed = _assumed(label, header, options, table)
    return replace(dataset, notes=(*dataset.notes, *assumed, *done), table=summary)


def _columns(table: TableRows, options: TableOptions, name: str, progress: Progress) -> tuple[bool, list[TableColumn]]:
    """Return whether the first row holds the names of the columns, and the columns."""
    block = next(table.blocks, None)
    if block is None:
        raise DataError(f"{name} is empty; expected a row of column names, then rows of values.")
    if len(block) < 2:
        expected = "expected at least one column to learn from and one to predict."
        raise DataError(" ".join([f"{name} has one column; {expected}", *table.notes]))
    start = [[table.clean(cell) for cell in cells[:BLOCK]] for cells in block]
    named = table.names is not None
    header = named or (header_is_first(start) if options.header is None else options.header)
    given = table.names or [cells[0] for cells in start]
    names = column_names(given, header, name)
    if options.target and options.target not in names:
        raise DataError(f"There is no {column(options.target)}. Columns: {listed(names)}.")
    skipped = int(header and not named)
    cells = [Cells(table.clean) for _ in names]
    for some in chain([[one[skipped:] for one in block]], table.blocks):
        for one, read in zip(cells, some, strict=True):
            one.add(read)
    if not cells[0].codes:
        raise DataError(f"{name} has a header and no rows below it.")
    counted = header and not given[0]  # pandas writes the numbers of rows first, without a name
    lines = table.numbers[skipped:]
    columns = []
    for j, called in enumerate(names):
        columns.append(read_column(called, cells[j], lines, counted and j == 0))
        progress(j / len(names) / 2)
    return header, columns


def _assumed(label: TableColumn, header: bool, options: TableOptions, table: TableRows) -> tuple[str, ...]:
    """Return what was guessed, as sentences."""
    first = "names of columns" if header else "values, as the others do"
    sentence = (
        () if table.names is not None or options.header is not None else (f"The first row is taken to hold {first}.",)
    )
    return (*table.notes, *sentence, *([f"The target is {column(label.name)}."] if options.target is None else ()))


def _column_notes(columns: Sequence[TableColumn], label: TableColumn, missing: str | None) -> Iterator[str]:
    """Yield what became of the columns."""
    for each in columns:
        if each is label:
            continue
        if each.aside:
            yield f"Column {in_quotes(each.name)} is set aside: {each.aside}."
        elif each.kind == "words":
            yield describe(each)
        if not each.aside and each.gaps and missing == FILL:
            values = "1 missing value of {} is" if each.gaps == 1 else f"{each.gaps:,} missing values of {{}} are"
            yield f"{values.format(column(each.name))} filled in by {each.filling()[1]}."


# -- the target


def _targets(columns: Sequence[TableColumn]) -> tuple[str, ...]:
    """Return the columns that can be predicted, the best guess first."""
    able = [each for each in columns if _predictable(each)] or list(columns)
    best = _guess(columns, able)
    return tuple(each.name for each in (best, *(other for other in able if other is not best)))


def _predictable(candidate: TableColumn) -> bool:
    present = len(candidate.codes) - candidate.gaps
    if candidate.kind == "words":
        return 1 < len(candidate.words) <= max(MOST_CLASSES, present // 2)
    return candidate.kind == "numbers" and not candidate.aside


def _guess(columns: Sequence[TableColumn], able: Sequence[TableColumn]) -> TableColumn:
    """Return the column that is called so, else the first where it alone holds words, else the last."""
    called = [each for each in columns if each.name.lower() in LABEL_NAMES and each.kind != "neither"]
    ends = [each for each in (columns[-1], columns[0]) if each in called]
    inner = [each for each in called if each.name.lower() != "y"]  # which may be a coordinate
    if ends or inner:
        return (ends + inner)[0]
    only = columns[0].kind == "words" and columns[-1].kind == "numbers"
    return columns[0] if only and columns[0] in able else able[-1]


def _check_used(columns: Sequence[TableColumn], label: TableColumn, used: Sequence[TableColumn], name: str) -> None:
    if used:
        return
    reasons = [f"{column(each.name)}: {each.aside}" for each in columns if each is not label][:3]
    raise DataError(f"{name} has nothing to predict {column(label.name)} from: {'; '.join(reasons)}.")


# -- missing values


class _Kept(NamedTuple):
    """Rows that are used, what is done where a value is missing, how many rows that concerns, and what to say of it."""

    rows: Rows
    missing: str | None
    gaps: int
    notes: tuple[str, ...]


def _kept(label: TableColumn, used: Sequence[TableColumn], asked: str | None) -> _Kept:
    labelled, total = ~label.missing, len(label.codes)
    if not labelled.any():
        raise DataError(f"Column {in_quotes(label.name)} is empty: choose another target.")
    whole = labelled.copy()
    for each in used:
        whole &= ~each.missing
    gaps = int(labelled.sum() - whole.sum())
    notes = (f"{_counted(label.gaps)} left out, where {column(label.name)} is empty.",) if label.gaps else ()
    if not gaps:
        return _Kept(np.flatnonzero(labelled), None, 0, notes)
    missing = asked or (LEAVE_OUT if gaps <= FEW * total else FILL)
    if missing == FILL:
        return _Kept(np.flatnonzero(labelled), FILL, gaps, notes)
    if not whole.any():
        raise DataError("A value is missing in every row: fill in the missing values instead of leaving rows out.")
    return _Kept(
        np.flatnonzero(whole), LEAVE_OUT, gaps, (*notes, f"{_counted(gaps)} left out, where a value is missing.")
    )


def _counted(rows: int) -> str:
    return "1 row is" if rows == 1 else f"{rows:,} rows are"


def _values(used: Sequence[TableColumn], rows: Rows, progress: Progress) -> Array:
    """Return the numbers that kernels see (n, d), with missing values filled in."""
    X = np.empty((len(rows), sum(len(each.names) for each in used)))
    start = 0
    for k, each in enumerate(used):
        block = each.numbers(rows)
        if each.gaps:
            values, _ = each.filling()
            block = np.where(np.isnan(block), values, block)
        X[:, start : start + block.shape[1]] = block
        start += block.shape[1]
        progress((1.0 + k / len(used)) / 2)
    return X
