"""Data sets from files, on disk or uploaded: tables as text, from Excel or Parquet, LIBSVM text and NumPy archives."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import PurePath

from mklviz.limits import LIMITS
from mklviz.numbers import is_switch
from mklviz.quoting import named

from ._dataset import DataError, Dataset
from ._file_kind import table_format
from ._read_excel import read_excel
from ._read_npz import read_npz
from ._read_parquet import read_parquet
from ._read_table import read_table
from ._read_text import looks_like_libsvm, read_libsvm, read_rows
from ._source import read_source
from ._table_options import MISSING_CHOICES, Progress, TableOptions

READ = 0.7  # of the time goes to the rows, the rest to what is made of them
FORMATS = {
    ".csv": "table",
    ".tsv": "table",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
}
TABLES = {"excel": read_excel, "parquet": read_parquet, "table": read_rows}


def read_dataset(
    path_or_bytes: str | os.PathLike[str] | bytes,
    name: str | None = None,
    target: str | None = None,
    missing: str | None = None,
    header: bool | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read a data set from a file, or from the bytes of one.

    A table may be text with commas, semicolons or tabs between its columns, an Excel workbook (.xlsx) or a Parquet
    file. A column of words becomes one column for each word; dates, texts and the numbers of rows are set aside. What
    is not said, the table decides: the same file with the same options is the same data set, and its ``notes`` tell
    what was done. LIBSVM text and npz archives, with ``X`` (n, d) and ``y`` (n,), or Gram matrices ``grams`` (m, n, n)
    and ``y``, are read as they are; nothing is ever unpickled. Names such as ``.svm`` or ``.npz`` say what a file is;
    otherwise, and for bytes, the content decides.

    Parameters
    ----------
    path_or_bytes : path or bytes
    name : str, optional
        Name of the data set; the file's name without its suffix if left out.
    target : str, optional
        Column of a table that is predicted; if left out, one called "target", "class", "label" or "y", or else the
        first where it alone holds words, or the last.
    missing : {"leave-out", "fill"}, optional
        What to do with rows of a table in which a value is missing: leave them out, or fill in the median of the
        column, or its most frequent word. If left out, up to a tenth of the rows are left out; if there are more, they
        are filled in. A row without a target is always left out.
    header : bool, optional
        Whether the first row of a table holds the names of the columns; if left out, whether it looks like it.
    progress : callable, optional
        Called with the fraction read; may raise to cancel.

    Raises
    ------
    DataError
        If the file cannot be used; the sentence names the row, column or array at fault, or what the file is instead.
    """
    options = _options(target, missing, header)
    if isinstance(path_or_bytes, bytes):
        return replace(_read(path_or_bytes, name or "data", options, LIMITS.cells, progress), source="")
    data, filename = read_source(path_or_bytes)
    dataset = _read(data, filename, options, LIMITS.gram_cells, progress)
    return replace(dataset, name=name, title=name) if name else dataset


def read_dataset_bytes(
    data: bytes,
    filename: str,
    target: str | None = None,
    missing: str | None = None,
    header: bool | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read a data set from the bytes of a file called `filename`, such as an upload; see `read_dataset`.

    Gram matrices are bounded as tables are; larger ones are read from files on disk.
    """
    return _read(data, filename, _options(target, missing, header), LIMITS.cells, progress)


def _options(target: str | None, missing: str | None, header: bool | None) -> TableOptions:
    if missing not in (None, *MISSING_CHOICES):
        raise DataError(f"missing is {' or '.join(MISSING_CHOICES)}, not {missing!r:.80}.")
    if not (header is None or is_switch(header)):
        raise DataError(f"header must be True or False, but {header!r:.80} was given.")
    return TableOptions(target, missing, None if header is None else bool(header))


def _read(data: bytes, filename: str, options: TableOptions, gram_cells: int, progress: Progress | None) -> Dataset:
    name, report = named(filename), progress or (lambda _fraction: None)
    if not data.strip():
        raise DataError(f"{name} is empty.")
    kind = table_format(data, name) or FORMATS.get(PurePath(filename).suffix.lower()) or _guess(data)
    try:
        if kind in TABLES:
            rows = TABLES[kind](data, name, lambda fraction: report(READ * fraction))
            dataset = read_table(rows, name, options, lambda fraction: report(READ + (1.0 - READ) * fraction))
        elif options != TableOptions():
            raise DataError(f"{name} has no columns with names: target, missing and header are for tables.")
        elif kind == "npz":
            dataset = read_npz(data, name, gram_cells)
        else:
            dataset = read_libsvm(data, name, report)
    except MemoryError:
        raise DataError(f"There is not enough memory to read {name}: leave rows or columns out.") from None
    stem = named(PurePath(filename).stem)
    return replace(dataset, name=stem, title=stem, source=filename if filename == name else "")


def _guess(data: bytes) -> str:
    return "libsvm" if looks_like_libsvm(data) else "table"
