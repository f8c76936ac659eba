"""Data sets from files, on disk or uploaded: tables as text, from Excel or Parquet, LIBSVM text and NumPy archives."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from json import dumps as json_text
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from mklviz.limits import LIMITS
from mklviz.quoting import MOST_NAME, listed, named

from ._dataset import DataError, Dataset
from ._file_kind import files_in, reason_of, without_remarks
from ._formats import arff, format_of, json, libsvm, matlab, npz, options_heeded, table_in
from ._formats._arrays import frame_of, table_among
from ._frame import dataset_from_frame
from ._grams import GramFiles, left_in_files
from ._several import read_several
from ._table_options import FileFacts, Progress, TableOptions, refuse_unused

if TYPE_CHECKING:
    import pandas as pd

READ = 0.7  # of the time goes to the rows, the rest to what is made of them
PATIENCE = 30.0  # seconds without a byte
MOST_BYTES = 2**30
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_KINDS = ("http", "https", "ftp")
_INSTEAD = "Save the file, and give its path"


def read_dataset(
    path_or_bytes: str | os.PathLike[str] | bytes | Sequence[str | os.PathLike[str]],
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
    test: str | os.PathLike[str] | None = None,
    missing_view: str | None = None,
) -> Dataset:
    """Read a data set from a file, or from the bytes of one.

    A table may be text, an Excel workbook (.xlsx), a Parquet file, JSON, or ARFF of Weka, OpenML and KEEL. A column of
    words becomes one column for each word; dates, texts and the numbers of rows are set aside. What is not said, the
    table decides: the same file with the same options is the same data set, and its ``notes`` tell what was done.
    LIBSVM text and arrays of NumPy (.npz, .npy) and MATLAB (.mat), ``y`` and samples or pictures (n, h, w), or Gram or
    distance matrices (m, n, n), under any names, are read as they are; nothing is ever unpickled. A matrix in text may
    have a row for every pair (i, j, value): its samples stand in the order of their numbers, or as they come. Files may
    be packed (.gz, .bz2, .xz, .zip). What a file holds decides its format, or else its name.

    Parameters
    ----------
    path_or_bytes : path, bytes or sequence of paths
        Several files, a folder or a .zip of them, make one data set: kernels with their labels, X and y, or tables of
        the same samples, which are views: `Dataset.groups`.
    name : str, optional
        Name of the data set; the file's name without its suffix if left out.
    target : str, optional
        Column of a table that is predicted; if left out, one called "target", "class", "label" or "y", or else the
        first where it alone holds words, or the last. With "nothing" all samples are of one class, without labels.
    missing : {"leave-out", "fill"}, optional
        What to do with rows in which a value is missing: leave them out, or fill in the column's median or its most
        frequent word. If not said, up to a tenth of the rows are left out, and more are filled in.
    header : bool, int or two of them, optional
        Whether the first row holds names of columns, or the number of the row that does, or of the two that do.
    task : {"classes", "numbers"}, optional
        What the target holds; if left out, what the file declares to be words, up to 20 whole numbers, and more where
        they number classes, are classes.
    leave_out : str or list of str, optional
        Columns that are not used.
    na : str or list of str, optional
        Words that say that a value is missing, besides the usual ones such as "NA", "?" and "None".
    sep, encoding, decimal, thousands : str, optional
        How a text is written: the sign between columns, or its name, such as "tabs"; "utf-8", "cp1252" and so on;
        "." or ","; what stands between thousands. If left out, they are found out.
    sheet : str, optional
        Sheet of a workbook; if left out, the first that holds a table.
    test : str or path, optional
        Which rows are tested, by `Dataset.split`: a second file, or a column whose words say train and test. If left
        out, a column that says nothing else, and files called alike but for these words.
    missing_view : {"leave-out", "average"}, optional
        What to do with samples that one of several tables lacks: leave them out, or put the mean of the kernels that
        have them in place of the others; if left out, what `missing` says.
    progress : callable, optional
        Called with the fraction read; may raise to cancel.

    Raises
    ------
    DataError
        If the file cannot be used; the sentence names the row, column or array at fault, or what the file is instead.

    Examples
    --------
    >>> text = "age,height,ill 50,1.7,yes 30,1.8,no 40,1.6,no".replace(" ", chr(10))
    >>> data = mv.read_dataset(text.encode(), target="ill")
    >>> data.X.shape, data.classes
    ((3, 2), ('no', 'yes'))
    """
    options = TableOptions.checked(
        target, missing, header, leave_out, na,
        task=task, sep=sep, encoding=encoding, decimal=decimal, thousands=thousands, sheet=sheet,
        test=os.fspath(test) if isinstance(test, os.PathLike) else test, missing_view=missing_view,
    )  # fmt: skip
    return _given(*_with_test(path_or_bytes, options), name, progress)


def _given(given: Any, options: TableOptions, name: str | None, progress: Progress | None) -> Dataset:
    """Return the data set in bytes, a file, a folder or some files."""
    if isinstance(given, bytes):
        return replace(_read(given, name or "data", options, LIMITS.cells, progress), source="")
    if not isinstance(given, str | os.PathLike):
        paths = [*given] if isinstance(given, Iterable) else [given]
        if not all(isinstance(path, str | os.PathLike) for path in paths):
            raise DataError(f"A data set is read from a path, paths or bytes, but {given!r:.80} was given.")
        return _together(paths, name, options, progress)
    if os.path.isdir(given):  # False where it is no name of a file, which reading says
        path = Path(given)
        files = without_remarks(sorted(file.name for file in path.iterdir() if file.is_file()))
        return _together([path / file for file in files], name or path.name, options, progress)
    data, filename = read_source(given)
    dataset = _read(data, filename, options, LIMITS.gram_cells, progress)
    return replace(dataset, name=name, title=name) if name else dataset


def _with_test(given: Any, options: TableOptions) -> tuple[Any, TableOptions]:
    """Return the files with that of the rows to test, where `test` is none of them and no column; it keeps its name."""
    if options.test is None or isinstance(given, bytes) or not os.path.isfile(options.test):
        return given, options
    files = [given] if isinstance(given, str | os.PathLike) else [*given]
    beside = not any(os.path.isdir(file) or Path(file).resolve() == Path(options.test).resolve() for file in files)
    return [*files, options.test] if beside else given, replace(options, test=Path(options.test).name)


def _together(
    paths: Sequence[str | os.PathLike[str]], name: str | None, options: TableOptions, progress: Progress | None
) -> Dataset:
    """Return the data set that some files make."""
    called = name or (Path(paths[0]).stem if paths else "The list")
    if not paths:
        raise DataError(f"{called} holds no files that could be read.")
    with _having_means("the files"):
        large = left_in_files(paths)
        files, passed = list[tuple[str, Any]](), list[str]()
        for path in paths:
            left = large.get(Path(path))
            inside, over = files_in(*read_source(path)) if left is None else ([], [])
            files += inside if left is None else [(Path(path).name, left)]
            passed += over
        report = progress or (lambda _fraction: None)
        dataset = read_several(files, called, options, report, LIMITS.gram_cells)
    size = sum(os.path.getsize(path) for path in large) / 2**30
    stay = f"The kernels stay in their files, {size:.3g} GB, which must not change while they are in use."
    notes = (*dataset.notes, stay) if isinstance(dataset.grams, GramFiles) else dataset.notes
    return _with_passed(replace(dataset, name=called, title=called, source="", notes=notes), passed)


def _with_passed(dataset: Dataset, passed: Sequence[str]) -> Dataset:
    """Return a data set with a note on the files that were passed over."""
    if not passed:
        return dataset
    note = f"Passed over, as their names are not those of tables: {listed(passed)}."
    table = None if dataset.table is None else replace(dataset.table, done=(*dataset.table.done, note))
    return replace(dataset, notes=(*dataset.notes, note), table=table)


@contextmanager
def _having_means(what: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise DataError(f"Tables are read by pandas, which cannot be imported here: {reason_of(error)}.") from None
    except MemoryError:
        raise DataError(f"There is not enough memory to read {what}: leave rows or columns out.") from None


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
    with _having_means(name):
        files, passed = files_in(data, filename)
        heeded = options_heeded(files)
        try:
            called, dataset = _parsed(files, filename, name, options, gram_cells, report)
        except DataError as error:
            error.heeded = tuple(heeded)
            raise
    table = None if dataset.table is None else replace(dataset.table, heeded=tuple(heeded))
    dataset = _with_passed(replace(dataset, table=table), passed)
    source = filename if called == filename or "," not in filename else json_text(filename, ensure_ascii=False)
    return replace(dataset, name=named(called), title=named(called), source=source if filename == name else "")


def _parsed(
    files: Sequence[tuple[str, bytes]],
    filename: str,
    name: str,
    options: TableOptions,
    gram_cells: int,
    report: Progress,
) -> tuple[str, Dataset]:
    """Return what a file is called, and the data set in it, or in the files of an archive: in any format.

    Several files that were chosen together are called by all their names, with commas between them.
    """
    (inner, content), *others = files
    if others:
        together = "," in filename and PurePath(filename).suffix.lower() != ".zip"
        made = read_several(files, name, options, report, gram_cells)
        return filename if together else PurePath(filename).stem, made
    form = format_of(content, inner)
    refuse_unused(options, options_heeded(files), name)
    if form is not None:
        return PurePath(inner).stem, form.read(content, name, options, report, gram_cells)
    frame, facts = table_in(content, name, options, lambda fraction: report(READ * fraction))
    made = dataset_from_frame(frame, options, name, facts, lambda fraction: report(READ + (1.0 - READ) * fraction))
    return PurePath(inner).stem, made


def read_frame(
    data: bytes, filename: str, options: TableOptions, names: Sequence[str], target: str
) -> tuple[pd.DataFrame, FileFacts] | Dataset:
    """Return the rows of a table as they stand in a file, and how they are written; what is no table as a data set."""
    name, report = named(filename), lambda _fraction: None
    if not data.strip():
        raise DataError(f"{name} is empty.")
    (inner, content), *others = files_in(data, filename)[0]
    if others:
        return read_dataset_bytes(data, filename)
    form = format_of(content, inner)
    if form is None:
        return table_in(content, name, options, report, fewest=1)
    if form is arff:
        return arff.frame_of(content, name, report, options)[0], FileFacts()
    if form is json:
        frame = json.frame_of(content, name, options)
        return frame.set_axis(range(1, len(frame) + 1)), FileFacts()
    if form is libsvm:
        return libsvm.frame_of(content, name, names, target), FileFacts()
    if form in (npz, matlab):
        alone = table_among(form.arrays_in(content, name, LIMITS.cells), name)
        if alone is not None:
            return frame_of(alone, name), FileFacts()
    return read_dataset_bytes(data, filename)


def read_source(source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """Return the bytes of a file or of an address, and the file's name; raise `DataError` where there are none."""
    address = _ADDRESS.match(source) if isinstance(source, str) else None
    if address is not None:
        return _fetched(str(source), address[1].lower())
    path = Path(source)
    try:
        path = path.expanduser()
        return path.read_bytes(), path.name
    except OSError as error:
        raise DataError(f"{shown(path)} cannot be read: {error.strerror or error}.") from None
    except (RuntimeError, ValueError):  # no such home, or a zero byte in its name
        raise DataError(f"{shown(path)} is no name of a file.") from None


def _fetched(address: str, kind: str) -> tuple[bytes, str]:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    where = named(address)
    if kind not in _KINDS:
        raise DataError(f"{where} is an address that begins with {kind}://, which is not read. {_INSTEAD}.")
    try:
        with urlopen(address, timeout=PATIENCE) as answer:
            content = answer.read(MOST_BYTES + 1)
    except HTTPError as error:
        raise DataError(f"{where} answers {error.code}, {error.reason}. {_INSTEAD}.") from None
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise DataError(f"{where} cannot be reached from here: {reason}. {_INSTEAD}.") from None
    if len(content) > MOST_BYTES:
        raise DataError(f"{where} has more than {MOST_BYTES // 2**20:,} MB. {_INSTEAD}.")
    return content, unquote(urlsplit(address).path.rstrip("/").rpartition("/")[2]) or "data"


def shown(path: Path) -> str:
    """Return a path for a message, cut to its name where it is long."""
    return named(str(path) if len(str(path)) <= MOST_NAME else path.name)
