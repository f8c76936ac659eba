"""Data sets from files, on disk or uploaded: tables as text, from Excel or Parquet, LIBSVM text and NumPy archives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from mklviz.limits import LIMITS
from mklviz.numbers import is_switch
from mklviz.quoting import MOST_NAME, named

from ._dataset import DataError, Dataset
from ._file_kind import table_format
from ._formats import format_of
from ._packed import members, unpacked
from ._read_excel import read_excel
from ._read_parquet import read_parquet
from ._read_table import read_table
from ._read_text import read_rows
from ._several import read_several
from ._table_options import MISSING_CHOICES, Progress, TableOptions

READ = 0.7  # of the time goes to the rows, the rest to what is made of them
TABLES = {"excel": read_excel, "parquet": read_parquet, "table": read_rows}


def read_dataset(
    path_or_bytes: str | os.PathLike[str] | bytes | Sequence[str | os.PathLike[str]],
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
    what was done. So are ARFF files of Weka, OpenML and KEEL. LIBSVM text, also with precomputed kernels, and arrays
    of NumPy (.npz, .npy) and MATLAB (.mat), ``y`` and samples, or ``y`` and Gram or distance matrices (m, n, n), under
    any names, are read as they are; nothing is ever unpickled. Files may be packed (.gz, .bz2, .xz, .zip). What a file
    holds decides its format, or else its name.

    Parameters
    ----------
    path_or_bytes : path, bytes or sequence of paths
        Several files, a folder or a .zip of them, make one data set: kernels with their labels, X and y, or tables of
        the same samples, which are views: `Dataset.groups`.
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
    if not isinstance(path_or_bytes, (str, os.PathLike)):
        return _together(list(path_or_bytes), name, options, progress)
    path = Path(path_or_bytes)
    if _is_folder(path):
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        return _together(files, name or path.name, options, progress)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{_shown(path)} cannot be read: {error.strerror or error}.") from None
    except ValueError:  # a zero byte in its name
        raise DataError(f"{_shown(path)} is no name of a file.") from None
    dataset = _read(data, path.name, options, LIMITS.gram_cells, progress)
    return replace(dataset, name=name, title=name) if name else dataset


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # no name of a file, which reading says
        return False


def _together(
    paths: Sequence[str | os.PathLike[str]], name: str | None, options: TableOptions, progress: Progress | None
) -> Dataset:
    """Return the data set that some files make."""
    if not paths:
        raise DataError(f"{name or 'The list'} holds no files that could be read.")
    try:
        files = [unpacked(Path(path).read_bytes(), Path(path).name)[::-1] for path in paths]
    except OSError as error:
        raise DataError(f"{_shown(Path(error.filename or paths[0]))} cannot be read: {error.strerror}.") from None
    report = progress or (lambda _fraction: None)
    dataset = read_several(files, name or Path(paths[0]).stem, options, report, LIMITS.gram_cells)
    return replace(dataset, name=name or Path(paths[0]).stem, title=name or Path(paths[0]).stem, source="")


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
    try:
        dataset = _parsed(data, filename, name, options, gram_cells, report)
    except MemoryError:
        raise DataError(f"There is not enough memory to read {name}: leave rows or columns out.") from None
    stem = named(PurePath(filename).stem)
    return replace(dataset, name=stem, title=stem, source=filename if filename == name else "")


def _parsed(data: bytes, filename: str, name: str, options: TableOptions, gram_cells: int, report: Progress) -> Dataset:
    """Return the data set in a file of any format, packed or not, or in the files of an archive."""
    several = members(data, filename)
    if len(several) > 1:
        return read_several(several, name, options, report, gram_cells)
    data, filename = unpacked(data, filename)
    form = format_of(data, filename)
    if form is not None:
        return form.read(data, name, options, report, gram_cells)
    rows = TABLES[table_format(data, name) or "table"](data, name, lambda fraction: report(READ * fraction))
    return read_table(rows, name, options, lambda fraction: report(READ + (1.0 - READ) * fraction))


def _shown(path: Path) -> str:
    """Return a path for a message, cut to its name where it is long."""
    return named(str(path) if len(str(path)) <= MOST_NAME else path.name)
