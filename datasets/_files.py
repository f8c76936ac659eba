"""Data sets from files: comma-separated text, LIBSVM text and NumPy archives, from disk or uploaded bytes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePath

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
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    dataset = read_dataset_bytes(data, path.name, target)
    return replace(dataset, name=name, title=name) if name else dataset


def read_dataset_bytes(data: bytes, filename: str, target: str | None = None) -> Dataset:
    """Read a data set from the bytes of a file called `filename`, such as an upload; see `read_dataset`."""
    if not data.strip():
        raise DataError(f"{filename} is empty.")
    kind = FORMATS.get(PurePath(filename).suffix.lower()) or _guess(data)
    if target is not None and kind != "csv":
        raise DataError(f"{filename} has no column names, so target={target!r} means nothing; leave it out.")
    if kind == "npz":
        dataset = read_npz(data, filename)
    elif kind == "libsvm":
        dataset = read_libsvm(data, filename)
    else:
        dataset = read_csv(data, filename, target)
    stem = PurePath(filename).stem
    return replace(dataset, name=stem, title=stem)


def _guess(data: bytes) -> str:
    if data.startswith(b"PK"):
        return "npz"
    return "libsvm" if looks_like_libsvm(data) else "csv"
