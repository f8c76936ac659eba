"""Data sets from files, on disk or uploaded: tables as text, from Excel or Parquet, LIBSVM text and NumPy archives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from mklviz.limits import LIMITS
from mklviz.quoting import named

from ._bounds import reason_of
from ._dataset import DataError, Dataset
from ._file_kind import table_format, unpacked
from ._frame import dataset_from_frame
from ._read_excel import read_excel
from ._read_npz import read_npz
from ._read_parquet import read_parquet
from ._read_text import looks_like_libsvm, read_libsvm, read_text
from ._source import read_source
from ._table_options import Found, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

READ = 0.7  # of the time goes to the rows, the rest to what is made of them
FORMATS = {
    ".csv": "table",
    ".tsv": "table",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
}
TABLES = {"excel": read_excel, "parquet": read_parquet, "table": read_text}


def read_dataset(
    path_or_bytes: str | os.PathLike[str] | bytes,
    name: str | None = None,
    target: str | None = None,
    missing: str | None = None,
    header: bool | int | Sequence[int] | None = None,
    progress: Progress | None = None,
    *,
    task: str | None = None,
    leave_out: str | Sequence[str] = (),
    na: str | Sequence[str] = (),
    sep: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | None = None,
) -> Dataset:
    """Read a data set from a file, or from the bytes of one.

    A table may be text with commas, semicolons, tabs, bars or blanks between its columns, an Excel workbook (.xlsx) or
    a Parquet file, and packed as .gz, .bz2, .xz or .zip. A column of words becomes one column for each word; dates,
    texts and the numbers of rows are set aside. What is not said, the table decides: the same file with the same
    options is the same data set, and its ``notes`` tell what was done. LIBSVM text and npz archives, with ``X`` (n, d)
    and ``y`` (n,), or Gram matrices ``grams`` (m, n, n) and ``y``, are read as they are; nothing is ever unpickled.
    Names such as ``.svm`` or ``.npz`` say what a file is; otherwise, and for bytes, the content decides.

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
    header : bool, int or two of them, optional
        Whether the first row of a table holds the names of the columns, or the number of the row that does, counted
        from 1, or of the two that do together; if left out, whether it looks like it.
    task : {"classes", "numbers"}, optional
        What the target holds; if left out, up to 20 different whole numbers are classes, and more where they count
        from 0 or 1 and each stands there often.
    leave_out : str or list of str, optional
        Columns that are not used.
    na : str or list of str, optional
        Words that say that a value is missing, besides the usual ones such as "NA", "?" and "None".
    sep, encoding, decimal, thousands : str, optional
        How a text is written: the sign between columns, or its name, such as "tabs"; "utf-8", "cp1252" and so on;
        "." or ","; what stands between thousands. If left out, they are found out.
    sheet : str, optional
        Sheet of a workbook; if left out, the first that holds a table.
    progress : callable, optional
        Called with the fraction read; may raise to cancel.

    Raises
    ------
    DataError
        If the file cannot be used; the sentence names the row, column or array at fault, or what the file is instead.
    """
    options = TableOptions.checked(
        target, missing, header, leave_out, na,
        task=task, sep=sep, encoding=encoding, decimal=decimal, thousands=thousands, sheet=sheet,
    )  # fmt: skip
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
    header: bool | int | Sequence[int] | None = None,
    progress: Progress | None = None,
    **words: Any,
) -> Dataset:
    """Read a data set from the bytes of a file called `filename`, such as an upload; see `read_dataset`.

    Gram matrices are bounded as tables are; larger ones are read from files on disk.
    """
    return _read(data, filename, TableOptions.checked(target, missing, header, **words), LIMITS.cells, progress)


def _read(data: bytes, filename: str, options: TableOptions, gram_cells: int, progress: Progress | None) -> Dataset:
    name, report = named(filename), progress or (lambda _fraction: None)
    try:
        content, inner, kind = _opened(data, name)
        if kind in TABLES:
            frame, found = TABLES[kind](content, name, options, lambda fraction: report(READ * fraction))
            dataset = dataset_from_frame(
                frame, options, name, found, lambda fraction: report(READ + (1.0 - READ) * fraction)
            )
        elif options != TableOptions():
            raise DataError(f"{name} has no columns with names: target, missing and header are for tables.")
        elif kind == "npz":
            dataset = read_npz(content, name, gram_cells)
        else:
            dataset = read_libsvm(content, name, report)
    except ImportError as error:
        raise DataError(f"Tables are read by pandas, which cannot be imported here: {reason_of(error)}.") from None
    except MemoryError:
        raise DataError(f"There is not enough memory to read {name}: leave rows or columns out.") from None
    stem = named(PurePath(inner).stem)
    return replace(dataset, name=stem, title=stem, source=filename if filename == name else "")


def _opened(data: bytes, name: str) -> tuple[bytes, str, str]:
    """Return what a file holds, unpacked, under its name, and what kind it is."""
    if not data.strip():
        raise DataError(f"{name} is empty.")
    content, inner = unpacked(data, name)
    return content, inner, table_format(content, name) or FORMATS.get(PurePath(inner).suffix.lower()) or _guess(content)


def read_frame(data: bytes, filename: str, header: bool = True) -> tuple[pd.DataFrame, Found] | Dataset:
    """Return the rows of a table as they stand in a file, and how they are written; what is no table as a data set."""
    name = named(filename)
    content, _, kind = _opened(data, name)
    if kind not in TABLES:
        return read_dataset_bytes(data, filename)
    return TABLES[kind](content, name, TableOptions(header=header), lambda _fraction: None)


def _guess(data: bytes) -> str:
    return "libsvm" if looks_like_libsvm(data) else "table"
