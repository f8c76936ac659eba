"""Several files as one data set: kernels with their labels apart, X and y in two files, tables that are views.

Files are told apart by what they hold: a column alone, or beside identifiers, is the labels, a symmetric matrix a
kernel, other tables are views of the same samples, joined row by row, or by a column of identifiers that they share.
Files called alike but for "train" and "test" are one, of which the latter rows are tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from ._cells import column
from ._columns import cell_text
from ._dataset import DataError, Dataset
from ._file_kind import table_format
from ._formats import _arrays, arff, format_of, json, libsvm, matlab, matrix, npz
from ._frame import dataset_from_frame
from ._table_options import AVERAGE, FILL, LEAVE_OUT, Found, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd


FrameReader = Callable[[bytes, str, TableOptions, Progress], "tuple[pd.DataFrame, Found]"]

_LABEL = "label"
_HELD_OUT = "rows to test"
_APART = (".test", ".train", ".t")


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
    alone = replace(options, target=None, leave_out=(), test=None)  # of the tables together
    for k, (filename, data) in enumerate(files):
        path = PurePath(filename)
        called = path.name if path.suffix.lower() in _APART else path.stem
        stem = _free(called, {*frames, *(key.partition(".")[0] for key in arrays)})
        found = _arrays_of(data, filename, gram_cells)
        if found is None:
            frames[stem] = _frame_in(data, filename, alone, progress, read_frame)
        else:
            one = next(iter(found.values())) if len(found) == 1 else None
            arrays |= {stem: one} if one is not None else {f"{stem}.{key}": array for key, array in found.items()}
        progress(k / len(files))
    if not frames and not any(array.size > 1 for array in arrays.values()):
        raise DataError(f"{name} is made of {len(files)} files without a table: {listed([key for key, _ in files])}.")
    test = None if options.test is None else PurePath(options.test)
    pairs = _arrays.pairs_to_test([*arrays, *frames], () if test is None else (test.name, test.stem))
    held_out = _stacked(pairs, arrays, frames)
    if not frames:
        made = _of_arrays(arrays, name, options)
        return made if held_out is None else replace(made, held_out=held_out)
    labels = [stem for stem, array in arrays.items() if array.ndim == 1 or array.dtype.kind in "US"]
    if len(labels) > 1:
        raise DataError(f"{listed(labels)} each hold one column: which of them are the labels is not clear.")
    for stem, array in arrays.items():
        if stem not in labels and array.ndim == 2:
            frames[stem] = npz.frame_of(array, stem).reset_index(drop=True)
    tests = tuple(frames) if len(frames) > 1 and len({tuple(frame.columns) for frame in frames.values()}) == 1 else ()
    told = Found(held_out=held_out, tests=(*tests, *pairs))
    return _of_frames(frames, arrays[labels[0]] if labels else None, name, options, progress, told)


def _free(stem: str, taken: set[str]) -> str:
    """Return what a file is called beside others, also where they are of the same name in several folders."""
    return next(name for name in chain([stem], (f"{stem} ({k})" for k in count(2))) if name not in taken)


def _arrays_of(data: bytes, filename: str, gram_cells: int) -> dict[str, NDArray[Any]] | None:
    """Return the arrays in a file, or None for a table with names or words."""
    form = format_of(data, filename)
    if form in (npz, matlab):
        return dict(form.arrays_in(data, filename, gram_cells))  # type: ignore[union-attr]
    if form in (arff, json) or (form is None and table_format(data, filename)):
        return None
    array: NDArray[Any] | None = matrix.labels_in(data)
    array = matrix.matrix_in(data) if array is None else array
    return None if array is None else {filename: array}


def _frame_in(
    data: bytes, filename: str, options: TableOptions, progress: Progress, read_frame: FrameReader
) -> pd.DataFrame:
    form: Any = format_of(data, filename)
    if form is libsvm:
        return libsvm.frame_of(data, filename, (), _LABEL)
    of_form = form.frame_of(data, filename, progress) if form in (arff, json) else None
    frame = (of_form or read_frame(data, filename, options, progress))[0]
    return frame.reset_index(drop=True)


def _stacked(
    pairs: dict[str, str], arrays: dict[str, NDArray[Any]], frames: dict[str, pd.DataFrame]
) -> NDArray[np.bool_] | None:
    """Put rows to test below those that are called alike; return which they are, None where there are none."""
    import pandas as pd

    counts = set()
    for test, train in pairs.items():
        parts = [arrays.pop(key) if key in arrays else frames.pop(key) for key in (train, test)]
        counts.add((len(parts[0]), len(parts[1])))
        if all(isinstance(part, np.ndarray) for part in parts) and parts[0].shape[1:] == parts[1].shape[1:]:
            arrays[train] = np.concatenate(parts)
            continue
        first, second = (npz.frame_of(part, train) if isinstance(part, np.ndarray) else part for part in parts)
        if first.columns[-1] == second.columns[-1] == _LABEL:  # of LIBSVM, where columns of zeros are not written
            columns = max(first.columns, second.columns, key=len)
            first, second = (part.reindex(columns=columns, fill_value=0.0) for part in (first, second))
        lacking = [each for each in first.columns if each not in second.columns]
        if lacking:
            raise DataError(
                f"{test} has no {column(str(lacking[0]))}, which {train} has: rows to test need all columns, the target"
                " too. A table without the target can be predicted once a model is there."
            )
        frames[train] = pd.concat([first, second[first.columns]], ignore_index=True)
    if len(counts) > 1:
        said = "; ".join(f"{train:,} to train on and {test:,} to test" for train, test in sorted(counts))
        raise DataError(f"The files have different numbers of rows: {said}.")
    return np.repeat([False, True], counts.pop()) if counts else None


def _of_arrays(arrays: dict[str, NDArray[Any]], name: str, options: TableOptions) -> Dataset:
    """Return the data set of matrices and a vector of labels."""
    vectors = [key for key, array in arrays.items() if array.ndim == 1 or max(array.shape) == array.size]
    if len(vectors) == 1:  # whatever it is called
        arrays = {"y": arrays[vectors[0]], **{key: array for key, array in arrays.items() if key != vectors[0]}}
    if options.task:
        raise DataError("task is for tables: the labels of matrices decide it.")
    return _arrays.dataset_of(arrays, name)


def _of_frames(
    frames: dict[str, pd.DataFrame], labels: NDArray[Any] | None, name: str, options: TableOptions,
    progress: Progress, found: Found,
) -> Dataset:  # fmt: skip
    import pandas as pd

    first = next(iter(frames.values()))
    if found.held_out is not None:
        if len(first) != len(found.held_out):
            raise DataError(f"{next(iter(frames))} has no rows to test beside the others: give them as a file, too.")
        first[_HELD_OUT] = found.held_out
    joined, parts, absent, notes = _joined(frames, options.missing_view)
    held_out = joined.pop(_HELD_OUT).eq(True).to_numpy() if _HELD_OUT in joined else None
    if labels is not None:
        if len(labels) != len(joined):
            raise DataError(f"There are {len(labels):,} labels for {len(joined):,} rows: one for each is needed.")
        joined[_LABEL] = labels
        options = replace(options, target=options.target or _LABEL)
    elif len(parts) > 1 and options.target is None:
        alone = [columns[0] for columns in parts.values() if len(columns) == 1]
        options = replace(options, target=alone[0] if len(alone) == 1 else None)
    if absent is not None and options.missing_view == AVERAGE:
        options = replace(options, missing=FILL)  # with what the kernels that have them are put in place of
    joined.index = pd.RangeIndex(1, len(joined) + 1)
    found = replace(found, assumed=notes, held_out=held_out, absent=absent)
    dataset = dataset_from_frame(joined, options, name, found, progress)
    target = None if dataset.table is None else dataset.table.options.target
    groups, shown = [], []
    for place, columns in enumerate(parts.values()):
        mine = {column for column in columns if column != target}
        of_words = enumerate(dataset.feature_names)
        group = tuple(j for j, name in of_words if name in mine or name.rpartition("=")[0] in mine)
        if group:
            groups.append(group)
            shown.append(place)
    average = options.missing_view == AVERAGE and dataset.absent is not None and len(groups) > 1
    absent = dataset.absent[:, shown] if average and dataset.absent is not None else None
    return replace(dataset, groups=tuple(groups) if len(groups) > 1 else None, absent=absent)


def _joined(
    frames: dict[str, pd.DataFrame], missing_view: str | None
) -> tuple[pd.DataFrame, dict[str, list[str]], NDArray[np.bool_] | None, tuple[str, ...]]:
    """Return one table of all, the columns of each, which rows each lacks, and notes."""
    import pandas as pd

    shared = _identifier(list(frames.values()))
    sizes = {stem: len(frame) for stem, frame in frames.items()}
    own = {stem: [c for c in frame.columns if c not in (shared, _HELD_OUT)] for stem, frame in frames.items()}
    several = sum(len(columns) > 1 for columns in own.values()) > 1
    called = {
        stem: {c: f"{stem}: {c}" if several and len(columns) > 1 else str(c) for c in columns}
        for stem, columns in own.items()
    }
    named = [frame.rename(columns=called[stem]) for stem, frame in frames.items()]
    parts = {stem: [*names.values()] for stem, names in called.items()}
    if shared is None:
        if len(set(sizes.values())) > 1:
            counts = ", ".join(f"{stem} has {size:,}" for stem, size in sizes.items())
            alike = len({tuple(frame.columns) for frame in frames.values()}) == 1
            more = f" Where one holds rows to test, call it {next(iter(sizes))}_test, or say so: test." if alike else ""
            raise DataError(
                f"The tables have different numbers of rows ({counts}) and no column of identifiers in common: add one,"
                f" so that their rows can be matched.{more}"
            )
        return pd.concat(named, axis=1), parts, None, ()
    tables = [table.set_index(table[shared].map(cell_text)).drop(columns=shared) for table in named]
    joined = pd.concat(tables, axis=1, join="inner" if missing_view == LEAVE_OUT else "outer")
    if not len(joined):
        raise DataError(f"No value of the {column(shared)} stands in all tables, so that no rows can be matched.")
    notes = [f"Rows are matched by the column {shared}."]
    absent = np.column_stack([~joined.index.isin(table.index) for table in tables])
    everyone = len(pd.concat([table.index.to_series() for table in tables]).unique())
    for stem, table in zip(parts, tables, strict=True):
        lacking = everyone - len(table)
        if lacking:
            said = {LEAVE_OUT: ", and left out", AVERAGE: ": the mean of the kernels that have them stands for theirs"}
            what = f"{lacking:,} of {everyone:,} samples are missing in the view {stem}"
            notes.append(f"{what}{said.get(missing_view or '', '')}.")
    return joined.reset_index(drop=True), parts, absent if absent.any() else None, tuple(notes)


def _identifier(frames: Sequence[pd.DataFrame]) -> str | None:
    """Return the column that tells the rows apart in every table, or None."""
    if len(frames) < 2:
        return None
    common = [column for column in frames[0].columns if all(column in frame.columns for frame in frames)]
    for called in common:
        cells = [frame[called].map(cell_text) for frame in frames]
        if all(each.is_unique and each.ne("").all() for each in cells):
            shared = [each.isin(cells[0]).sum() for each in cells[1:]]  # measured values are other ones in each table
            if all(2 * n >= min(len(each), len(cells[0])) for n, each in zip(shared, cells[1:], strict=True)):
                return str(called)
    return None
