"""Parquet files by pyarrow, an extra; texts are kept once each, however often they stand in the table."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from mklviz.limits import LIMITS
from mklviz.quoting import MOST_NAME, one_line

from ._bounds import check_size
from ._dataset import DataError
from ._table_options import Progress, TableRows, reported

__all__ = ["read_parquet"]

UNPACKED = 4 * LIMITS.cells  # bytes
BATCH = 1000  # rows


def read_parquet(data: bytes, name: str, progress: Progress) -> TableRows:
    """Read the rows of a table, under the names of its columns."""
    if find_spec("pyarrow") is None:
        raise DataError("This is a Parquet file. Save it as CSV, or install mklviz[parquet].")
    file = _opened(data, name)
    names = [str(column) for column in file.schema_arrow.names]
    cells, numbers = [names], [0]
    for row, number in reported(_rows(file, name), file.metadata.num_rows, progress):
        check_size(name, len(cells), len(names))
        cells.append(row)
        numbers.append(number)
    return TableRows(cells, numbers, named=True)


def _opened(data: bytes, name: str) -> Any:
    from pyarrow import parquet, types

    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        check_size(name, file.metadata.num_rows, file.metadata.num_columns)
        groups = range(file.metadata.num_row_groups)
        if sum(file.metadata.row_group(k).total_byte_size for k in groups) > UNPACKED:
            raise DataError(f"{name} unpacks to more than {UNPACKED / 1e6:,.0f} MB, which is too much.")
        texts = [column.name for column in file.schema_arrow if types.is_string(column.type)]
        return parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts)
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise _damaged(name, error) from None


def _rows(file: Any, name: str) -> Iterator[tuple[list[str], int]]:
    number = 0
    batches = file.iter_batches(batch_size=BATCH)
    while True:
        try:
            batch = next(batches, None)
            columns = [] if batch is None else [_texts(column) for column in batch.columns]
        except MemoryError:
            raise
        except Exception as error:
            raise _damaged(name, error) from None
        if batch is None:
            return
        for row in zip(*columns, strict=True):
            number += 1
            yield list(row), number


def _texts(column: Any) -> list[str]:
    """Return the values of a column as texts; equal texts of a dictionary are one object."""
    if hasattr(column, "dictionary"):
        words = [_text(word) for word in column.dictionary.to_pylist()]
        return ["" if code is None else words[code] for code in column.indices.to_pylist()]
    return [_text(value) for value in column.to_pylist()]


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _damaged(name: str, error: Exception) -> DataError:
    said = one_line(str(error) or type(error).__name__, MOST_NAME).rstrip(".")
    return DataError(f"{name} is a damaged Parquet file: {said}.")
