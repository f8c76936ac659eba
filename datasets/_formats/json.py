"""JSON of a table: records in a list or one a line, rows with or without their columns, or columns by their names."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .._bounds import check_size, reading
from .._dataset import DataError, Dataset
from .._dialect import decode
from .._frame import dataset_from_frame, unique_names
from .._table_options import OF_TABLES, Found, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".json", ".jsonl", ".ndjson")
OPTIONS = (*OF_TABLES, "encoding")

_STARTS = re.compile(rb'(\xef\xbb\xbf)?\s*(\[\s*[\[{\]]|\{\s*["}])')


def looks(data: bytes) -> bool:
    """Whether a file begins as lists and objects of JSON do."""
    return _STARTS.match(data[:1000]) is not None


def read(data: bytes, name: str, options: TableOptions, progress: Progress, gram_cells: int) -> Dataset:
    """Read a table."""
    frame, _, notes = frame_of(data, name, progress, options.encoding)
    return dataset_from_frame(frame, options, name, Found(assumed=notes, dialect="JSON"), progress)


def frame_of(
    data: bytes, name: str, progress: Progress, encoding: str | None = None
) -> tuple[pd.DataFrame, None, tuple[str, ...]]:
    """Return the table in a file, and notes."""
    import pandas as pd

    text, _, told = decode(data, name, encoding)
    lines = text.strip().splitlines()
    with reading(f"{name} is no JSON that can be read"):
        try:
            held: Any = json.loads(text)
        except ValueError:
            if len(lines) < 2 or not lines[0].rstrip().endswith(("}", "]")):
                raise
            held = [json.loads(line) for line in lines if line.strip()]
    progress(0.5)
    if isinstance(held, dict) and "columns" not in held:
        lists = [each for each in held.values() if isinstance(each, list) and each and isinstance(each[0], dict)]
        held = lists[0] if len(lists) == 1 else held  # beside what is said of them, as pandas' orient="table"
    split = isinstance(held, dict) and {"columns", "data"} <= held.keys()
    rows = held["data"] if split else [*held.values()] if isinstance(held, dict) else held
    kinds = {*map(type, rows)} if isinstance(rows, list) else set()
    if kinds not in ({list}, {dict}):
        raise DataError(f'{name} is JSON without a table: expected a list of records, such as [{{"size": 1.5}}, ...].')
    keys = {key for row in rows if isinstance(row, dict) for key in row}
    check_size(name, len(rows), max(len(keys), *map(len, rows), 1))
    with reading(f"{name} is no table"):
        frame = pd.DataFrame(rows, columns=held["columns"]) if split else pd.DataFrame(held)
    frame.columns, notes = unique_names([str(key) for key in frame.columns], name)
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    return frame, None, (*told, *notes)
