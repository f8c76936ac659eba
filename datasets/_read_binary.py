"""Tables that are no text: Excel workbooks (.xlsx) by openpyxl, and Parquet files by pyarrow, both extras."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from mklviz.limits import LIMITS
from mklviz.quoting import listed
from mklviz.unpacking import ArchiveMember, parquet_pages

from ._cells import NumberText, column, in_quotes
from ._columns import cell_text
from ._dataset import DataError
from ._file_kind import LONGEST, UNPACKED, check_size, check_unpacked, reading, whole
from ._frame import unique_names
from ._header import SAMPLE, heading, named
from ._table_options import FileFacts, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

MOST_TIMES = 100  # as many bytes as when packed, beside the first two megabytes: tables are packed to a tenth
LONGEST_LEGEND, MANY_TIMES = 50, 5  # rows of a sheet that explains another, which has so many times as many
MOST_BLANK = 10_000  # rows below each other, which end a table
MOST_CELLS = LIMITS.cells // 10  # with those in which nothing stands
MOST_TAGS = 100_000  # of what is neither cells nor their texts, for which openpyxl takes ten times as long
_DAMAGED = "{} is a damaged Excel file"
_CELLS = re.compile(rb"(\xef\xbb\xbf)?(<\?.*?\?>)?\s*<(\w+:)?(worksheet|sst)\b")
_UNREAD = re.compile(r"xl/(calcChain|chart|comments|drawings|externalLinks|pivot|tables)")  # as large as what is read
# a formula without its value, which may be an empty text
_UNKEPT = re.compile(rb'<c\b(?![^<>]*\bt="str")[^<>]*><f\b[^<>]*(/>|>[^<]*</f>)(<v ?/>|<v></v>)?</c>')
_IN_ONE_PIECE = ((b"<!--", b"-->"), (b"<?", b"?>"), (b"<![CDATA[", b"]]>"))


# -- Excel: one sheet, the first that holds a table unless one is asked for
#
# A workbook is a zip archive of XML. It is unpacked here, no further than it says, and handed on without compression
# and without definitions of entities, which could grow beyond all bounds.


def read_excel(data: bytes, name: str, options: TableOptions, progress: Progress) -> tuple[pd.DataFrame, FileFacts]:
    """Read a sheet."""
    if find_spec("openpyxl") is None:
        raise DataError("This is an Excel file. Save it as CSV, or install mklviz[excel].")
    plain = _unpacked(data, name)
    unkept = _UNKEPT.search(plain.getbuffer()) is not None
    book = _opened(plain, name)
    try:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if options.sheet is not None and options.sheet not in sheets:
            raise DataError(f"There is no sheet {in_quotes(options.sheet)} in {name}. Sheets: {listed([*sheets])}.")
        best: tuple[str, pd.DataFrame, list[str]] | None = None
        for title in [options.sheet] if options.sheet is not None else sheets:
            try:
                cells, notes = _rows(sheets[title], name, progress)
            except DataError:
                if best is None or min(best[1].shape) < 2:
                    raise
                continue
            legend = best is not None and best[1].shape[1] <= 3 and MANY_TIMES * len(best[1]) < len(cells)
            if best is None or ((legend or min(best[1].shape) < 2) and min(cells.shape) >= 2):
                best = title, cells, notes
            if len(cells) > LONGEST_LEGEND and cells.shape[1] >= 2:
                break
    finally:
        book.close()
    if best is None or not best[1].size:
        raise DataError(f"{name} is empty; expected a row of column names, then rows of values.")
    title, cells, notes = best
    if len(sheets) > 1:
        notes.insert(0, f"The sheet {in_quotes(title)} is read, of {len(sheets)}.")
    if unkept:
        why = "open the workbook in its program, and save it"
        notes.append(f"The workbook has formulas without kept values, which are read as missing: {why}.")
    rows = heading(cells.iloc[:SAMPLE].to_numpy().tolist(), cells.index[:SAMPLE].tolist(), options.header)
    dialect = f"the sheet {in_quotes(title)}"
    return named(cells, rows, options, name, FileFacts(assumed=tuple(notes), dialect=dialect, sheets=tuple(sheets)))


def _unpacked(data: bytes, name: str) -> io.BytesIO:
    """Return the workbook without compression, and without what is no XML or does not stand in cells."""
    plain, most, tags = io.BytesIO(), min(UNPACKED, 2 * LONGEST + MOST_TIMES * len(data)), {True: 0, False: 0}
    with (
        reading(_DAMAGED.format(name)),
        zipfile.ZipFile(io.BytesIO(data)) as packed,
        zipfile.ZipFile(plain, "w") as written,
    ):
        named = [info for info in packed.infolist() if info.filename.endswith((".xml", ".rels"))]
        parts = [info for info in named if not _UNREAD.match(info.filename)]
        check_unpacked(name, sum(info.file_size for info in parts), most)
        for info in parts:
            with ArchiveMember(packed, info) as member:
                content = member.read()
            if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\x00" in content[:100]:
                raise DataError(f"{name} defines words of its own in {in_quotes(info.filename)}: save it anew.")
            if _longest(content) > LONGEST:
                raise DataError(f"{name} has a text or a tag of more than {LONGEST:,} letters, which is too much.")
            tags[_CELLS.match(content) is not None] += content.count(b"<") - content.count(b"</")
            if tags[True] > 2 * MOST_CELLS or tags[False] > MOST_TAGS:
                raise DataError(f"{name} has more in {in_quotes(info.filename)} than is read: leave some out.")
            written.writestr(info.filename, content)
    plain.seek(0)
    return plain


def _longest(content: bytes) -> int:
    """Return the length of the longest piece of XML that parsers before expat 2.6 read anew with each block of it."""
    longest = max(map(len, content.split(b"<")))
    for opened, closed in _IN_ONE_PIECE:
        end = 0
        while (start := content.find(opened, end)) >= 0:
            end = content.find(closed, start) % (len(content) + 1)  # none: up to the end
            longest = max(longest, end - start)
    return longest


def _opened(plain: io.BytesIO, name: str) -> Any:
    from openpyxl.reader.excel import ExcelReader

    with reading(_DAMAGED.format(name)):
        reader = ExcelReader(plain, read_only=True, data_only=True, keep_links=False)
        reader.read_manifest()
        reader.read_workbook()
        parts = [sheet.target for _, sheet in reader.parser.find_sheets()]
        if len({*parts}) < len(parts):  # each would be read
            raise ValueError("several of its sheets are one")
        reader.read()
        return reader.wb


def _rows(sheet: Any, name: str, progress: Progress) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a sheet as texts, without blank rows and columns, and what is worth knowing of them."""
    import pandas as pd

    cells: list[list[str]] = []
    numbers: list[int] = []
    notes: list[str] = []
    padded = width = blank = 0
    for number, row in enumerate(whole(sheet.iter_rows(values_only=True), _DAMAGED.format(name)), 1):
        if number % SAMPLE == 1:
            progress(min(number / (sheet.max_row or 1), 1.0))
        padded += len(row) + 1
        if blank > MOST_BLANK:
            last = numbers[-1] if numbers else 0
            notes.append(f"Nothing is read below row {last}, under which {MOST_BLANK:,} rows are blank.")
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
    columns = {j: column for j, column in enumerate(zip_longest(*cells, fillvalue="")) if any(column)}
    return pd.DataFrame(columns, index=numbers, dtype=object), notes


def _texts(row: tuple[Any, ...]) -> list[str]:
    """Return the cells up to the last that holds anything."""
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    texts = [
        NumberText(value) if isinstance(value, int | float) and not isinstance(value, bool) else cell_text(value)
        for value in row[:end]
    ]
    return texts if any(texts) else []


# -- Parquet, of which texts are kept once each, however often they stand in the table

_DAMAGED_PARQUET = "{} is a damaged Parquet file"
_PREFIXES = 7  # the encoding DELTA_BYTE_ARRAY: a value may be as long as all of its page


def read_parquet(data: bytes, name: str, options: TableOptions, progress: Progress) -> tuple[pd.DataFrame, FileFacts]:
    """Read a table, under the names of its columns."""
    if find_spec("pyarrow") is None:
        raise DataError("This is a Parquet file. Save it as CSV, or install mklviz[parquet].")
    import pandas as pd
    from pyarrow import BufferReader, parquet, types

    with reading(_DAMAGED_PARQUET.format(name)):
        file = parquet.ParquetFile(BufferReader(data))
        check_size(name, file.metadata.num_rows, file.metadata.num_columns)
        nested = [field.name for field in file.schema_arrow if types.is_nested(field.type)]
        names = [field.name for field in file.schema_arrow if field.name not in nested]
        if len({*names}) < len(names):
            raise DataError(f"{name} has columns of the same name; give each its own name.")
        texts = _once_each(data, file, names, name)
    with reading(_DAMAGED_PARQUET.format(name)):
        # in this thread alone: other threads of pyarrow 26 now and then end the process after a file that is refused
        table = parquet.read_table(
            BufferReader(data), columns=names, read_dictionary=texts, use_threads=False, pre_buffer=False
        )
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True, use_threads=False)
    progress(1.0)
    for _, cells in frame.select_dtypes(["category"]).items():
        longest = max((len(value) for value in cells.cat.categories if isinstance(value, str | bytes)), default=0)
        if longest > LONGEST:
            raise DataError(f"A cell holds {longest:,} letters; at most {LONGEST:,} are read.")
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    notes = [f"The {column(word)} is left out: it holds lists or tables of their own." for word in nested]
    frame.columns, twice = unique_names(names, name)
    kinds = (file.schema_arrow.field(word).type for word in names)
    roles = {called: "words" for called, kind in zip(frame.columns, kinds, strict=True) if types.is_dictionary(kind)}
    return frame, FileFacts(assumed=(*notes, *twice), dialect="Parquet", roles=roles)


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
