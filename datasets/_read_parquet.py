"""Parquet files by pyarrow, an extra; texts are kept once each, however often they stand in the table."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from mklviz.unpacking import parquet_pages

from ._bounds import LONGEST, UNPACKED, check_size, reading, whole
from ._cells import column
from ._dataset import DataError
from ._table_options import Progress, TableRows

__all__ = ["read_parquet"]

BATCH = 10_000  # rows
_DAMAGED = "{} is a damaged Parquet file"
_PREFIXES = 7  # the encoding DELTA_BYTE_ARRAY: a value may be as long as all of its page


def read_parquet(data: bytes, name: str, progress: Progress) -> TableRows:
    """Read the rows of a table, under the names of its columns."""
    if find_spec("pyarrow") is None:
        raise DataError("This is a Parquet file. Save it as CSV, or install mklviz[parquet].")
    file, names, notes = _opened(data, name)
    rows = file.metadata.num_rows
    return TableRows(_blocks(file, names, name, progress), range(1, rows + 1), names, notes=notes)


def _opened(data: bytes, name: str) -> tuple[Any, list[str], list[str]]:
    """Return the file, the names of its columns, and notes on those that are not read."""
    from pyarrow import parquet, types

    with reading(_DAMAGED.format(name)):
        file = parquet.ParquetFile(io.BytesIO(data))
        check_size(name, file.metadata.num_rows, file.metadata.num_columns)
        nested = [field.name for field in file.schema_arrow if types.is_nested(field.type)]
        names = [field.name for field in file.schema_arrow if field.name not in nested]
        texts = _once_each(data, file, names, name)
        notes = [f"The {column(word)} is left out: it holds lists or tables of their own." for word in nested]
        return parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts), names, notes


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
    if unpacked > UNPACKED:
        raise DataError(f"{name} unpacks to more than {UNPACKED / 1e6:,.0f} MB, which is too much.")
    return texts


def _blocks(file: Any, names: list[str], name: str, progress: Progress) -> Iterator[Sequence[Sequence[str]]]:
    batches = file.iter_batches(batch_size=BATCH, columns=names)
    columns = ([_texts(column) for column in batch.columns] for batch in batches)
    read = 0
    for block in whole(columns, _DAMAGED.format(name)):
        if len(block) != len(names):
            raise DataError(f"{name} has columns of the same name; give each its own name.")
        read += len(block[0]) if block else 0
        progress(read / file.metadata.num_rows)
        yield block


def _texts(column: Any) -> list[str]:
    """Return the values of a column as texts; equal ones are one object."""
    coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    used = coded.indices.unique().drop_null()
    words = map(_text, coded.dictionary.take(used).to_pylist())
    text: dict[int | None, str] = {None: "", **dict(zip(used.to_pylist(), words, strict=True))}
    return [text[code] for code in coded.indices.to_pylist()]


def _text(value: Any) -> str:
    """Return a value as text; that of bytes is what they say, in UTF-8."""
    if isinstance(value, str | bytes) and len(value) > LONGEST:
        raise DataError(f"A cell holds {len(value):,} letters; at most {LONGEST:,} are read.")
    return "" if value is None else value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
