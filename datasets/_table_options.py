"""How a table is read, and what it was made into."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklviz.numbers import is_switch, is_whole

LEAVE_OUT, FILL = "leave-out", "fill"
MISSING_CHOICES = (LEAVE_OUT, FILL)
NOTHING = "nothing"  # for a target: no column is predicted
TASK_CHOICES = ("classes", "numbers")
AVERAGE = "average"
VIEW_CHOICES = (LEAVE_OUT, AVERAGE)
MOST_ABOVE = 200  # rows in which names are looked for

Progress = Callable[[float], object]  # called with the fraction read; what it raises ends the reading
Role = Literal["target", "numbers", "words", "date", "identifier", "text", "nothing"]


class DataError(ValueError):
    """Data that cannot be found, read or used; the message says what was wrong and what to do.

    `columns`: those of a table that was read and cannot be used as it was, one of which may be a better target;
    `heeded`: the options that the file heeds.
    """

    columns: tuple[str, ...] = ()
    heeded: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a table is read; what is None or empty is decided by what the table holds.

    `target`: the column to predict, or "nothing"; `missing`: "leave-out" leaves out the rows in which a value is
    missing, "fill" puts the median of the column there, or its most frequent word; `header`: whether the first row
    holds column names, or the number of the row that does, or of the two that do together; `task`: "classes" or
    "numbers", what the target holds; `leave_out`: columns that are not used; `na`: words that say that a value is
    missing; `sep`, `encoding`, `decimal`, `thousands`: how a text is written; `sheet`: of a workbook; `test`: the
    column that says which rows are tested, or the one of several files that holds them; `missing_view`: "leave-out"
    leaves out the samples that a view lacks, "average" puts the mean of the kernels that have them in place of those
    that have not.
    """

    target: str | None = None
    missing: str | None = None
    header: bool | int | tuple[int, ...] | None = None
    task: str | None = None
    leave_out: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    sheet: str | None = None
    test: str | None = None
    missing_view: str | None = None

    @staticmethod
    def checked(
        target: Any = None, missing: Any = None, header: Any = None, leave_out: Any = (), na: Any = (), **words: Any
    ) -> TableOptions:
        """Return the options, or raise `DataError` with a sentence on the first that is none."""
        for key, choices in (("missing", MISSING_CHOICES), ("task", TASK_CHOICES), ("missing_view", VIEW_CHOICES)):
            value = missing if key == "missing" else words.get(key)
            if value not in (None, *choices):
                raise DataError(f"{key} is {' or '.join(choices)}, not {value!r:.80}.")
        for key, value in (("target", target), *words.items()):
            if not isinstance(value, str | None):
                raise DataError(f"{key} must be a text, but {value!r:.80} was given.")
        if words.get("decimal") not in (None, ".", ","):
            raise DataError(f'decimal is "." or ",", not {words["decimal"]!r:.80}.')
        apart = words.get("thousands")
        if apart not in (None, ".", ",", " ", "'") or (apart is not None and apart == words.get("decimal")):
            raise DataError(f"thousands are set apart by . or , or a blank, not by {apart!r:.80}.")
        words |= {"leave_out": _texts(leave_out), "na": _texts(na)}
        return TableOptions(target=target, missing=missing, header=_header(header), **words)


def _texts(given: Any) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if all(isinstance(text, str) for text in texts):
        return texts
    raise DataError(f"leave_out and na are texts, or lists of them, but {given!r:.80} was given.")


def _header(given: Any) -> bool | int | tuple[int, ...] | None:
    if given is None or is_switch(given):
        return None if given is None else bool(given)
    rows = given if isinstance(given, tuple | list) else (given,)
    if rows and all(is_whole(row) and 1 <= row <= MOST_ABOVE for row in rows):
        return int(rows[0]) if len(rows) == 1 else tuple(int(row) for row in rows)
    raise DataError(
        f"header must be True or False, or the number of a row up to {MOST_ABOVE}, but {given!r:.80} was given."
    )


OF_TABLES = ("target", "missing", "task", "leave_out", "na", "decimal", "thousands", "test")
OF_ARRAYS = tuple({*OF_TABLES} - {"decimal", "thousands"})  # where a single array is a table
OF_KIND: Mapping[str, tuple[str, ...]] = {
    "": (*OF_TABLES, "header", "sep", "encoding"),
    "excel": (*OF_TABLES, "header", "sheet"),
    "parquet": OF_TABLES,
}
_FOR = {"sheet": "workbooks", "header": "texts and workbooks", "missing_view": "several tables of the same samples"}
_FOR |= {"sep": "texts", "encoding": "texts", "decimal": "numbers in texts", "thousands": "numbers in texts"}


def refuse_unused(options: TableOptions, used: Collection[str], name: str) -> None:
    """Raise `DataError` where an option was chosen that a file does not heed; what names its columns has a header."""
    for key, value in vars(options).items():
        if value not in (None, ()) and key not in used and not (key == "header" and value is True and used):
            raise DataError(f"{name} has no use for {key}, which is for {_FOR.get(key, 'tables with named columns')}.")


@dataclass(frozen=True)
class TableSummary:
    """What was made of a table.

    `options`: how it was read, chosen or guessed; `missing` is None where no value is. `targets`: columns that can be
    predicted, the best guess first; `gaps`: rows with a target in which another value is missing; `rows`: all rows;
    `named`: whether the format itself names the columns; `done`: what was done, a sentence each; `dialect`: how the
    file is written, in short; `sheets`: of a workbook; `columns`: their names, what they became, and a few words on it;
    `first`: the first rows as they were read; `tests`: what may say which rows are tested, columns or files; `absent`:
    samples that a view lacks; `spelling`: the units of columns, and "NA" for those in which that is a word;
    `unlabelled`: whether no column is predicted; `heeded`: the options that the file heeds.
    """

    options: TableOptions
    targets: tuple[str, ...]
    gaps: int
    rows: int
    named: bool
    done: tuple[str, ...]
    dialect: str = ""
    sheets: tuple[str, ...] = ()
    columns: tuple[tuple[str, Role, str], ...] = ()
    first: tuple[tuple[str, ...], ...] = ()
    tests: tuple[str, ...] = ()
    absent: int = 0
    spelling: Mapping[str, str] = field(default_factory=dict)
    unlabelled: bool = False
    heeded: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileFacts:
    """What is known of a frame from its file: whether a row of it held names, and whether the format has them.

    `unnamed`: whether its first column had no name; `assumed`: sentences on what was guessed; `dialect`: how the file
    is written; `decimal`: how commas in numbers are meant where none tells; `sheets`: of a workbook; `held_out`: which
    rows came from a file of rows to test; `absent` (rows, views): which rows a view lacks; `tests`: files that may hold
    such rows; `grams`: kernels (m, n, n) of the rows, by their files; `spelling`: that of the table learned from;
    `roles`: what the file itself calls columns, "target", "words", both, or "aside" for no feature.
    """

    header: bool | int | tuple[int, ...] = True
    named: bool = True
    unnamed: bool = False
    assumed: tuple[str, ...] = ()
    dialect: str = ""
    decimal: str = "."
    sheets: tuple[str, ...] = ()
    held_out: NDArray[np.bool_] | None = None
    absent: NDArray[np.bool_] | None = None
    tests: tuple[str, ...] = ()
    grams: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    spelling: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
