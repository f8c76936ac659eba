"""Several files as one data set: kernels with their labels apart, X and y in two files, tables that are views.

Files are told apart by what they hold: a column alone is the labels, a symmetric matrix a kernel, other tables are
views of the same samples, joined row by row, or by a column of identifiers that they share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mklviz.quoting import listed

from ._dataset import DataError, Dataset
from ._file_kind import table_format
from ._formats import _arrays, format_of, matlab, matrix, npz
from ._formats.arff import frame_of
from ._formats.arff import looks as is_arff
from ._frame import dataset_from_frame
from ._table_options import Found, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd


FrameReader = Callable[[bytes, str, TableOptions, Progress], "tuple[pd.DataFrame, Found]"]

_LABEL = "label"


def read_several(
    files: Sequence[tuple[str, bytes]],
    name: str,
    options: TableOptions,
    progress: Progress,
    gram_cells: int,
    read_frame: FrameReader,
) -> Dataset:
    """Return the data set that some files make together; `read_frame` reads tables that are no format of their own."""
    arrays, frames = dict[str, NDArray[Any]](), dict[str, Any]()
    alone = replace(options, target=None, leave_out=())  # of the tables together
    for k, (filename, data) in enumerate(files):
        stem = _free(PurePath(filename).stem, {*frames, *(key.partition(".")[0] for key in arrays)})
        found = _arrays_of(data, filename, gram_cells)
        if found is None:
            arff = is_arff(data)
            frame = frame_of(data, filename, progress)[0] if arff else read_frame(data, filename, alone, progress)[0]
            frames[stem] = frame.reset_index(drop=True)
        else:
            one = next(iter(found.values())) if len(found) == 1 else None
            arrays |= {stem: one} if one is not None else {f"{stem}.{key}": array for key, array in found.items()}
        progress(k / len(files))
    if not frames and not any(array.size > 1 for array in arrays.values()):
        raise DataError(f"{name} is made of {len(files)} files without a table: {listed([key for key, _ in files])}.")
    if not frames:
        return _of_arrays(arrays, name, options)
    labels = [stem for stem, array in arrays.items() if array.ndim == 1 or array.dtype.kind in "US"]
    if len(labels) > 1:
        raise DataError(f"{listed(labels)} each hold one column: which of them are the labels is not clear.")
    for stem, array in arrays.items():
        if stem not in labels and array.ndim == 2:
            frames[stem] = npz.frame_of(array, stem).reset_index(drop=True)
    return _of_frames(frames, arrays[labels[0]] if labels else None, name, options, progress)


def _free(stem: str, taken: set[str]) -> str:
    """Return what a file is called beside others, also where they are of the same name in several folders."""
    return next(name for name in chain([stem], (f"{stem} ({k})" for k in count(2))) if name not in taken)


def _arrays_of(data: bytes, filename: str, gram_cells: int) -> dict[str, NDArray[Any]] | None:
    """Return the arrays in a file, or None for a table with names or words."""
    form = format_of(data, filename)
    if form in (npz, matlab):
        return dict(form.arrays_in(data, filename, gram_cells))  # type: ignore[union-attr]
    if is_arff(data) or (form is None and table_format(data, filename)):
        return None
    array: NDArray[Any] | None = matrix.labels_in(data)
    array = matrix.matrix_in(data) if array is None else array
    return None if array is None else {filename: array}


def _of_arrays(arrays: dict[str, NDArray[Any]], name: str, options: TableOptions) -> Dataset:
    """Return the data set of matrices and a vector of labels."""
    vectors = [key for key, array in arrays.items() if array.ndim == 1 or max(array.shape) == array.size]
    if len(vectors) == 1:  # whatever it is called
        arrays = {"y": arrays[vectors[0]], **{key: array for key, array in arrays.items() if key != vectors[0]}}
    if options.task:
        raise DataError("task is for tables: the labels of matrices decide it.")
    return _arrays.dataset_of(arrays, name)


def _of_frames(
    frames: dict[str, pd.DataFrame], labels: NDArray[Any] | None, name: str, options: TableOptions, progress: Progress
) -> Dataset:
    import pandas as pd

    joined, parts, notes = _joined(frames)
    if labels is not None:
        if len(labels) != len(joined):
            raise DataError(f"There are {len(labels):,} labels for {len(joined):,} rows: one for each is needed.")
        joined[_LABEL] = labels
        options = replace(options, target=options.target or _LABEL)
    joined.index = pd.RangeIndex(1, len(joined) + 1)
    dataset = dataset_from_frame(joined, options, name, Found(assumed=notes), progress)
    target = None if dataset.table is None else dataset.table.options.target
    groups = []
    for columns in parts.values():
        mine = {column for column in columns if column != target}
        of_words = enumerate(dataset.feature_names)
        groups.append(tuple(j for j, name in of_words if name in mine or name.rpartition("=")[0] in mine))
    kept = tuple(group for group in groups if group)
    return replace(dataset, groups=kept if len(kept) > 1 else None)


def _joined(frames: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, dict[str, list[str]], tuple[str, ...]]:
    """Return one table of all, the columns of each, and notes."""
    import pandas as pd

    shared = _identifier(list(frames.values()))
    sizes = {stem: len(frame) for stem, frame in frames.items()}
    several = len(frames) > 1
    named = {
        stem: frame.rename(columns={c: f"{stem}: {c}" if several and c != shared else str(c) for c in frame.columns})
        for stem, frame in frames.items()
    }
    parts = {stem: [c for c in frame.columns if c != shared] for stem, frame in named.items()}
    if shared is None:
        if len(set(sizes.values())) > 1:
            counts = ", ".join(f"{stem} has {size:,}" for stem, size in sizes.items())
            raise DataError(
                f"The tables have different numbers of rows ({counts}) and no column of identifiers in common: add one,"
                " so that their rows can be matched."
            )
        return pd.concat(list(named.values()), axis=1), parts, ()
    tables = [frame.set_index(shared) for frame in named.values()]
    joined = pd.concat(tables, axis=1, join="outer")
    notes = [f"Rows are matched by the column {shared}."] if several else []
    for stem, table in zip(named, tables, strict=True):
        lacking = len(joined) - len(table)
        if lacking:
            notes.append(f"{lacking:,} of {len(joined):,} samples are missing in the view {stem}.")
    return joined.reset_index(drop=True), parts, tuple(notes)


def _identifier(frames: Sequence[pd.DataFrame]) -> str | None:
    """Return the column that tells the rows apart in every table, or None."""
    if len(frames) < 2:
        return None
    common = [column for column in frames[0].columns if all(column in frame.columns for frame in frames)]
    telling = (c for c in common if all(frame[c].is_unique and frame[c].notna().all() for frame in frames))
    return next(telling, None)
