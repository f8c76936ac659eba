"""Data sets from files: comma-separated text, LIBSVM text and NumPy archives, from disk or uploaded bytes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePath

from mklviz.limits import LIMITS
from mklviz.quoting import MOST_NAME, named, quote

from ._dataset import DataError, Dataset
from ._read_npz import read_npz
from ._read_text import looks_like_libsvm, read_csv, read_libsvm

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
}


def read_dataset(
    path_or_bytes: str | os.PathLike[str] | bytes, name: str | None = None, target: str | None = None
) -> Dataset:
    """Read a data set from a file, or from the bytes of one.

    A file called ``.csv``, ``.tsv``, ``.libsvm``, ``.svm``, ``.svmlight`` or ``.npz`` is read as such; otherwise,
    and for bytes, the content decides. A CSV file has a header line; its last column, or the column `target`, is the
    label and the others are numbers. An npz archive holds ``X`` (n, d) and ``y`` (n,), or Gram matrices ``grams``
    (m, n, n) and ``y``; nothing is ever unpickled.

    Parameters
    ----------
    path_or_bytes : path or bytes
    name : str, optional
        Name of the data set; the file's name without its suffix if left out.
    target : str, optional
        Column of the label in a CSV file; the last one if left out.

    Raises
    ------
    DataError
        If the file cannot be used; the sentence names the row, column or array at fault.
    """
    if isinstance(path_or_bytes, bytes):
        return read_dataset_bytes(path_or_bytes, name or "data", target)
    path = Path(path_or_bytes)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{_shown(path)} cannot be read: {error.strerror or error}.") from None
    except ValueError:  # a zero byte in its name
        raise DataError(f"{_shown(path)} is no name of a file.") from None
    dataset = _read(data, path.name, target, LIMITS.gram_cells)
    return replace(dataset, name=name, title=name) if name else dataset


def read_dataset_bytes(data: bytes, filename: str, target: str | None = None) -> Dataset:
    """Read a data set from the bytes of a file called `filename`, such as an upload; see `read_dataset`.

    Gram matrices are bounded as tables are; larger ones are read from files on disk.
    """
    return _read(data, filename, target, LIMITS.cells)


def _read(data: bytes, filename: str, target: str | None, gram_cells: int) -> Dataset:
    name = named(filename)
    if not data.strip():
        raise DataError(f"{name} is empty.")
    kind = FORMATS.get(PurePath(filename).suffix.lower()) or _guess(data)
    if target is not None and kind != "csv":
        raise DataError(f"{name} has no column names, so target={quote(target)} means nothing; leave it out.")
    try:
        if kind == "npz":
            dataset = read_npz(data, name, gram_cells)
        elif kind == "libsvm":
            dataset = read_libsvm(data, name)
        else:
            dataset = read_csv(data, name, target)
    except MemoryError:
        raise DataError(f"There is not enough memory to read {name}: leave rows or columns out.") from None
    stem = named(PurePath(filename).stem)
    return replace(dataset, name=stem, title=stem)


def _shown(path: Path) -> str:
    """Return a path for a message, cut to its name where it is long."""
    return named(str(path) if len(str(path)) <= MOST_NAME else path.name)


def _guess(data: bytes) -> str:
    if data.startswith(b"PK"):
        return "npz"
    return "libsvm" if looks_like_libsvm(data) else "csv"
