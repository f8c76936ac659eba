"""Excel workbooks (.xlsx) by openpyxl, an extra: the first sheet that holds anything.

A workbook is a zip archive of XML. It is unpacked here, no further than it says, and handed on without compression and
without definitions of entities, which could grow beyond all bounds.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from mklviz.limits import LIMITS
from mklviz.quoting import MOST_NAME, one_line
from mklviz.unpacking import ArchiveMember

from ._bounds import check_size
from ._cells import in_quotes
from ._dataset import DataError
from ._table_options import Progress, TableRows, reported

__all__ = ["read_excel"]

UNPACKED = 4 * LIMITS.cells  # bytes
MOST_BLANK = 10_000  # rows below each other, which end a table
MOST_CELLS = LIMITS.cells // 10  # with those in which nothing stands


def read_excel(data: bytes, name: str, progress: Progress) -> TableRows:
    """Read the rows of the first sheet that holds anything."""
    if find_spec("openpyxl") is None:
        raise DataError("This is an Excel file. Save it as CSV, or install mklviz[excel].")
    book = _opened(_unpacked(data, name), name)
    try:
        for sheet in book.worksheets:
            table = _rows(sheet, name, progress)
            if table.cells:
                several = len(book.worksheets) > 1
                said = f"The sheet {in_quotes(sheet.title)} is read, of {len(book.worksheets)}."
                return replace(table, notes=(said, *table.notes)) if several else table
    finally:
        book.close()
    raise DataError(f"{name} is empty; expected a row of column names, then rows of values.")


def _unpacked(data: bytes, name: str) -> io.BytesIO:
    """Return the workbook without compression, and without what is no XML."""
    plain = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed, zipfile.ZipFile(plain, "w") as written:
            parts = [info for info in packed.infolist() if info.filename.endswith((".xml", ".rels"))]
            if sum(info.file_size for info in parts) > UNPACKED:
                raise DataError(f"{name} unpacks to more than {UNPACKED / 1e6:,.0f} MB, which is too much.")
            for info in parts:
                with ArchiveMember(packed, info) as member:
                    content = member.read()
                if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\x00" in content[:100]:
                    raise DataError(f"{name} defines words of its own in {in_quotes(info.filename)}: save it anew.")
                written.writestr(info.filename, content)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # unpackers have errors of their own: whichever it is, the archive is damaged
        raise _damaged(name, error) from None
    plain.seek(0)
    return plain


def _opened(plain: io.BytesIO, name: str) -> Any:
    import openpyxl

    try:
        return openpyxl.load_workbook(plain, read_only=True, data_only=True, keep_links=False)
    except MemoryError:
        raise
    except Exception as error:
        raise _damaged(name, error) from None


def _rows(sheet: Any, name: str, progress: Progress) -> TableRows:
    cells: list[list[str]] = []
    numbers: list[int] = []
    notes: tuple[str, ...] = ()
    padded = width = blank = 0
    for row, number in reported(_values(sheet, name), sheet.max_row or 1, progress):
        padded += len(row) + 1
        if blank > MOST_BLANK:
            last = numbers[-1] if numbers else 0
            notes = (f"Nothing is read below row {last}, under which {MOST_BLANK:,} rows are blank.",)
            break
        if padded > MOST_CELLS:
            raise DataError(f"{name} has cells far from the others: save what stands together as a file of its own.")
        texts = _texts(row)
        blank = 0 if texts else blank + 1
        width = max(width, len(texts))
        check_size(name, len(cells), width)
        if texts:
            cells.append(texts)
            numbers.append(number)
    filled = [texts + [""] * (width - len(texts)) for texts in cells]
    used = [j for j in range(width) if any(texts[j] for texts in filled)]
    return TableRows([[texts[j] for j in used] for texts in filled], numbers, notes=notes)


def _values(sheet: Any, name: str) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield the rows of a sheet; those that nothing stands in are there as well."""
    rows = sheet.iter_rows(values_only=True)
    number = 0
    while True:
        number += 1
        try:
            row = next(rows, None)
        except MemoryError:
            raise
        except Exception as error:
            raise _damaged(name, error) from None
        if row is None:
            return
        yield row, number


def _texts(row: tuple[Any, ...]) -> list[str]:
    """Return the cells up to the last that holds anything."""
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    texts = ["" if value is None else str(value).strip().removesuffix(" 00:00:00") for value in row[:end]]
    return texts if any(texts) else []


def _damaged(name: str, error: Exception) -> DataError:
    said = one_line(str(error) or type(error).__name__, MOST_NAME).rstrip(".")
    return DataError(f"{name} is a damaged Excel file: {said}.")
