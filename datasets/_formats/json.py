"""JSON of a table: records in a list or one a line, rows with or without their columns, or columns by their names."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._cells import is_number, target_name
from .._dataset import DataError, Dataset
from .._dialect import decode
from .._file_kind import check_shape, check_size, reading
from .._frame import dataset_from_frame, unique_names
from .._header import YEAR
from .._table_options import OF_TABLES, FileFacts, Progress, TableOptions, refuse_unused
from ._arrays import NAMES, dataset_of

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".json", ".jsonl", ".ndjson")
OPTIONS = (*OF_TABLES, "encoding")

_STARTS = re.compile(rb'(\xef\xbb\xbf)?\s*(\[\s*[\[{\]]|\{\s*["}])')


def looks(data: bytes) -> bool:
    """Whether a file begins as lists and objects of JSON do."""
    return _STARTS.match(data[:1000]) is not None


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Read a table, or arrays by their names."""
    held, assumed = _held(data, name, options.encoding)
    progress(0.5)
    arrays = _arrays(held, name, gram_cells)
    if arrays is not None:
        refuse_unused(options, ("encoding",), name)
        return dataset_of(arrays, name)
    frame, notes = _frame(held, name, options.target)
    frame, facts = frame.set_axis(range(1, len(frame) + 1)), FileFacts(assumed=(*assumed, *notes), dialect="JSON")
    return dataset_from_frame(frame, options, name, facts, progress)


def arrays_in(data: bytes, name: str, gram_cells: int) -> dict[str, NDArray[Any]] | None:
    """Return the arrays in a file, by their names; None where it holds a table."""
    return _arrays(_held(data, name)[0], name, gram_cells)


def frame_of(data: bytes, name: str, options: TableOptions) -> pd.DataFrame:
    """Return the table in a file, with the keys of its rows as index where it has some."""
    return _frame(_held(data, name, options.encoding)[0], name, options.target)[0]


def _arrays(held: Any, name: str, gram_cells: int) -> dict[str, NDArray[Any]] | None:
    """Return arrays, one a table of numbers at least, and labels; None for columns, some of which hold lists."""
    lists = {key: values for key, values in held.items() if isinstance(values, list)} if isinstance(held, dict) else {}
    if "columns" in lists or not any(values and isinstance(values[0], list) for values in lists.values()):
        return None
    try:
        words = {key for key, values in lists.items() if values and isinstance(values[0], str)}
        arrays = {key: np.array(lists[key], dtype=object if key in words else np.float64) for key in lists}
    except (OverflowError, TypeError, ValueError):  # words, or rows of several lengths
        return None
    if sum(array.ndim == 1 and key not in NAMES for key, array in arrays.items()) > 1:
        return None
    for key, array in arrays.items():
        check_shape(f"{key} of {name}", array.shape, gram_cells)
    return arrays


def _held(data: bytes, name: str, encoding: str | None = None) -> tuple[Any, tuple[str, ...]]:
    """Return what a file holds, and notes."""
    text, _, assumed = decode(data, name, encoding)
    lines = text.strip().splitlines()
    with reading(f"{name} is no JSON that can be read"):
        try:
            held: Any = json.loads(text)
        except ValueError:
            if len(lines) < 2 or not lines[0].rstrip().endswith(("}", "]")):
                raise
            held = [json.loads(line) for line in lines if line.strip()]
    return held, assumed


def _frame(held: Any, name: str, target: str | None = None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    if isinstance(held, dict) and "columns" not in held:
        lists = [each for each in held.values() if isinstance(each, list) and each and isinstance(each[0], dict)]
        held = lists[0] if len(lists) == 1 else held  # beside what is said of them, as pandas' orient="table"
    split = isinstance(held, dict) and {"columns", "data"} <= held.keys()
    rows = held["data"] if split else [*held.values()] if isinstance(held, dict) else held
    kinds = {*map(type, rows)} if isinstance(rows, list) else set()
    if kinds not in ({list}, {dict}):
        raise DataError(f'{name} is JSON without a table: expected a list of records, such as [{{"size": 1.5}}, ...].')
    keys = {key for row in rows if isinstance(row, dict) for key in row}
    shape = len(rows), max(len(keys), *map(len, rows), 1)
    by_rows = not isinstance(held, dict) or split or (kinds == {dict} and _by_rows(held, target))
    check_size(name, *(shape if by_rows else shape[::-1]))
    with reading(f"{name} is no table"):
        columns = held["columns"] if split else None
        called = [*held] if isinstance(held, dict) and not split and by_rows else None
        frame = pd.DataFrame([*rows] if by_rows else held, columns=columns, index=called)
    frame.columns, notes = unique_names([str(key) for key in frame.columns], name)
    if isinstance(held, dict) and kinds == {dict}:
        notes.append(f"Each of its objects is taken to hold a {'row' if by_rows else 'column'}.")
    return frame, tuple(notes)


def _by_rows(held: dict[str, dict[str, Any]], target: str | None) -> bool:
    """Whether objects are rows, as in pandas' orient="index": they hold the target, their keys are numbers, they mix
    words and numbers, or they are more than what each of them holds.

    Years are columns where more rows have names than there are years.
    """
    inner = next(iter(held.values()))
    outside, within = (target in keys if target else any(map(target_name, keys)) for keys in (held, inner))
    if outside != within:
        return within
    rows, columns = (all(map(is_number, keys)) for keys in (held, inner))
    kinds = [{isinstance(cell, str) for cell in each.values() if cell is not None} for each in held.values()]
    mixed = [len(each) > 1 for each in kinds]
    if not any(mixed) and len(set().union(*kinds)) > 1:
        return False  # columns of words beside columns of numbers
    if not columns and not any(mixed) and (not rows or all(map(YEAR.fullmatch, held))):  # which may be either
        return len(held) > len(inner)
    return rows if rows != columns else 2 * sum(mixed) > len(mixed)
