"""Parquet files by pyarrow, an extra; texts are kept once each, however often they stand in the table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mklviz.unpacking import parquet_pages

from ._bounds import LONGEST, UNPACKED, check_size, check_unpacked, reading
from ._cells import column
from ._dataset import DataError
from ._frame import unique_names
from ._table_options import FileFacts, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

_DAMAGED = "{} is a damaged Parquet file"
_PREFIXES = 7  # the encoding DELTA_BYTE_ARRAY: a value may be as long as all of its page


def read_parquet(data: bytes, name: str, options: TableOptions, progress: Progress) -> tuple[pd.DataFrame, FileFacts]:
    """Read a table, under the names of its columns."""
    if find_spec("pyarrow") is None:
        raise DataError("This is a Parquet file. Save it as CSV, or install mklviz[parquet].")
    import pandas as pd
    from pyarrow import parquet, types

    with reading(_DAMAGED.format(name)):
        file = parquet.ParquetFile(io.BytesIO(data))
        check_size(name, file.metadata.num_rows, file.metadata.num_columns)
        nested = [field.name for field in file.schema_arrow if types.is_nested(field.type)]
        names = [field.name for field in file.schema_arrow if field.name not in nested]
        if len({*names}) < len(names):
            raise DataError(f"{name} has columns of the same name; give each its own name.")
        texts = _once_each(data, file, names, name)
    with reading(_DAMAGED.format(name)):
        table = parquet.read_table(io.BytesIO(data), columns=names, read_dictionary=texts)
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    progress(1.0)
    for _, cells in frame.select_dtypes(["category"]).items():
        longest = max((len(value) for value in cells.cat.categories if isinstance(value, str | bytes)), default=0)
        if longest > LONGEST:
            raise DataError(f"A cell holds {longest:,} letters; at most {LONGEST:,} are read.")
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    notes = [f"The {column(word)} is left out: it holds lists or tables of their own." for word in nested]
    frame.columns, twice = unique_names(names, name)
    return frame, FileFacts(assumed=(*notes, *twice), dialect="Parquet")


def _once_each(data: bytes, file: Any, names: Sequence[str], name: str) -> list[str]:
    """Return the columns whose texts are kept once each; refuse a file that unpacks to more than is read."""
    unpacked, texts = 0, []
    for k in range(file.metadata.num_columns):
        leaf = file.schema.column(k)
        if leaf.path not in names:
            continue
        unpacked += leaf.length * file.metadata.num_rows  # where all values are as long
        coded = set()
        for group in range(file.metadata.num_row_groups):
            for size, encoding, values in parquet_pages(data, file.metadata.row_group(group).column(k)):
                unpacked += size * (values if encoding == _PREFIXES else 1)
                coded.add(encoding)
        if leaf.physical_type == "BYTE_ARRAY" and _PREFIXES not in coded:  # pyarrow cannot keep those once each
            texts.append(leaf.path)
    check_unpacked(name, unpacked, UNPACKED)
    return texts
