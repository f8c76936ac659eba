"""Tables on disk, read where they lie: samples and factors that do not fit into memory.

A table stands in a temporary file without a name, which is gone with the last array that shows it, however the process
ends. It is mapped, so that code reads it as any array; after each piece the memory it took is given back, and the
system keeps as much of the file at hand as there is room for.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mklviz.context import checkpoint
from mklviz.errors import BankTooLarge, KernelError
from mklviz.kernels.interface import refuse_masked
from mklviz.quoting import message_of, named, quote

ROWS = 2**16  # of a table that are copied together
SHARE = 0.9  # of the room on a disk that a table may take

Folder = str | os.PathLike[str] | None  # None: where the system keeps temporary files


class _Map(mmap.mmap):
    """A file of ours, which nothing changes: what is let go of can always be read again."""


def on_disk(table: NDArray[Any]) -> bool:
    """Return whether a table, or the one it is a part of, was written by `written`."""
    return _map_of(table) is not None


def _map_of(table: NDArray[Any]) -> _Map | None:
    base: Any = table
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base if isinstance(base, _Map) else None


def release(rows: NDArray[Any]) -> None:
    """Give back the memory in which some rows of a table stand; nothing is done to tables that are not on disk."""
    mapped = _map_of(rows)
    if mapped is None or not len(rows) or not hasattr(mapped, "madvise"):
        return
    start = rows.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
    first = start - start % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, first, min(start + rows.nbytes, len(mapped)) - first)


def check_room(size: int, what: str, folder: Folder) -> None:
    """Raise `BankTooLarge` unless there is room for so many bytes; `what` needs them."""
    where = tempfile.gettempdir() if folder is None else folder
    with _in_folder(where):
        room = int(SHARE * shutil.disk_usage(where).free)
    if size > room:
        raise BankTooLarge(
            f"{what} need about {size / 2**30:.1f} GB, more than memory holds, and {named(str(where))} has"
            f" {room / 2**30:.1f} GB: use fewer landmarks, kernels or samples, or give a folder with more room."
            " Without kernels to be weighed, scikit-learn's HistGradientBoostingClassifier, and Nystroem with"
            " SGDClassifier and partial_fit, need far less."
        )


def written(chunks: Iterable[NDArray[Any]], width: int, dtype: DTypeLike, folder: Folder) -> NDArray[Any]:
    """Return a table (n, width) on disk of the rows in `chunks`."""
    kind, count = np.dtype(dtype), 0
    with _in_folder(folder), tempfile.TemporaryFile(dir=folder) as file:
        for chunk in chunks:
            checkpoint()
            file.write(np.ascontiguousarray(chunk, dtype=kind).data)
            count += len(chunk)
        file.flush()
        if not count * width:
            return np.empty((count, width), kind)
        mapped = _Map(file.fileno(), 0, access=mmap.ACCESS_COPY)  # to compiled code, an array as any other
    return np.frombuffer(mapped, kind).reshape(count, width)


@contextmanager
def _in_folder(folder: Folder) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = tempfile.gettempdir() if folder is None else folder
        raise KernelError(f"Kernels cannot be kept in {named(str(where))}: {error.strerror or error}.") from None


# -- samples


def mapped_points(
    X: Any, folder: Folder, names: Sequence[str] | None = None, blocks: Iterable[Any] | None = None
) -> tuple[Any, Sequence[str] | None]:
    """Return samples that are read where they lie, and the names of their columns; what else is given, as it is.

    `X`: path of a .npy file, which is mapped, or of a Parquet file, of which the columns `names` are read, all by
    default but pandas' index; a folder or a list of such files; a Dask array of `dask_table`. Rows that are not mapped
    are copied to a table on disk, row group by row group, or block by block; so are mapped arrays that are not float64.
    `blocks`: of the Dask array, where they are computed elsewhere.
    """
    paths = [X] if isinstance(X, str | os.PathLike) else X
    if isinstance(paths, list | tuple) and paths and all(isinstance(path, str | os.PathLike) for path in paths):
        X, names = _from_files([file for path in paths for file in _files_of(Path(path))], folder, names)
    if is_dask(X):
        blocks = (np.asarray(block.compute()) for block in X.blocks) if blocks is None else blocks
        return written(blocks, X.shape[1], np.float64, folder), names
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf" and X.dtype != np.float64:
        return written(_pieces(X), X.shape[1], np.float64, folder), names
    return X, names


PARQUET = (".parquet", ".pq")


def _files_of(path: Path) -> list[Path]:
    """Return the files of a folder of samples, by name, as programs write them in parts; of a file, itself."""
    files = sorted(file for file in path.glob("*") if file.suffix.lower() in (*PARQUET, ".npy"))
    return files if files and path.is_dir() else [path]


def _from_files(paths: Sequence[Path], folder: Folder, names: Sequence[str] | None) -> tuple[Any, Sequence[str] | None]:
    """Return the samples of files, one below the other, and the names of their columns; one .npy file is mapped."""
    parts: list[Iterator[NDArray[Any]]] = []
    widths: list[int] = []
    for path in paths:
        with _reading(path):
            if path.suffix.lower() in PARQUET:
                names = _columns(path, names)
                parts.append(_batches(path, names))
                widths.append(len(names))
                continue
            X = np.load(path, mmap_mode="r", allow_pickle=False)
            if len(paths) == 1:
                return X, names
            if X.ndim != 2 or X.dtype.kind not in "biuf":
                raise KernelError(f"{named(path.name)} is no table of numbers, but {X.shape} of {X.dtype}.")
            parts.append(_pieces(X))
            widths.append(X.shape[1])
    if len(set(widths)) > 1:
        raise KernelError(f"The files must have the same columns, but they have {widths!s:.80} of them.")
    return written(chain.from_iterable(parts), widths[0], np.float64, folder), names


def _pieces(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (X[k : k + ROWS] for k in range(0, len(X), ROWS))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except KernelError:
        raise
    except (OSError, ValueError) as error:
        raise KernelError(
            f"{named(str(path))} cannot be read as samples, in a .npy or a .parquet file: {message_of(error)}."
        ) from None


def _columns(path: Path, names: Sequence[str] | None) -> list[str]:
    """Return the columns `names` of a Parquet file, or all, which must hold numbers."""
    if find_spec("pyarrow") is None:
        raise KernelError("This is a Parquet file: install mklviz[parquet].")
    from pyarrow import parquet, types

    schema = parquet.read_schema(path)
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    chosen = [name for name in schema.names if name not in index] if names is None else [*map(str, names)]
    for name in chosen:
        if name not in schema.names:
            raise KernelError(f"{named(path.name)} has no column {quote(name)}.")
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise KernelError(
                f"The column {quote(name)} of {named(path.name)} holds no numbers: name those to read,"
                " feature_names=[...]."
            )
    return chosen


def _batches(path: Path, names: Sequence[str]) -> Iterator[NDArray[Any]]:
    """Yield the rows of some columns of a Parquet file, some row groups at a time."""
    from pyarrow import parquet

    with _reading(path), parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS, columns=list(names)):
            yield np.stack([batch.column(name).to_numpy(zero_copy_only=False).astype(float) for name in names], axis=1)


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array or data frame."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def dask_table(X: Any) -> Any:
    """Return a Dask array of samples by features, in blocks of whole rows, or raise `KernelError`."""
    X = dask_array(X, "X")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise KernelError(f"X must be a table of numbers, samples by features, but it is {X.shape} of {X.dtype}.")
    return X.rechunk({1: -1})


def dask_array(given: Any, what: str) -> Any:
    """Return a Dask array or data frame as an array of known shape, or raise `KernelError` if it is masked."""
    array = given.to_dask_array() if hasattr(given, "to_dask_array") else given
    refuse_masked(array, what)
    return array.compute_chunk_sizes() if np.isnan(array.shape).any() else array
