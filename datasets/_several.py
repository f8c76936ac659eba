"""Several files as one data set: kernels with their labels apart, X and y in two files, tables that are views.

Files are told apart by what they hold: a column alone, or beside identifiers, is the labels, a symmetric matrix a
kernel, other tables are views of the same samples, joined row by row, or by a column of identifiers that they share.
Files called alike but for "train" and "test" are one, of which the latter rows are tested.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from ._cells import column, is_number, target_name
from ._columns import called_id, cell_text
from ._dataset import DataError, Dataset
from ._file_kind import table_format
from ._formats import _arrays, arff, format_of, json, libsvm, matlab, matrix, npz, options_heeded, table_in
from ._grams import GramFiles, checked, matrix_apart, of_pairs
from ._table_options import NOTHING, FileFacts, Progress, TableOptions, refuse_unused
from ._views import INDEX, LABEL, has_labels, in_one_order, in_order, key, of_frames, row_by_row

if TYPE_CHECKING:
    import pandas as pd

_FIRST, _ONE, _ZERO = 20, ("1", "1.0", "true"), ("0", "0.0", "false")
_APART = (".test", ".train", ".t", ".trn", ".tst")


def read_several(
    files: Sequence[tuple[str, Any]],
    name: str,
    options: TableOptions,
    progress: Progress,
    gram_cells: int,
) -> Dataset:
    """Return the data set that some files make together; `files`: names and bytes, or `GramFiles`."""
    arrays, frames, samples = dict[str, NDArray[Any]](), dict[str, Any](), dict[str, list[str]]()
    grids = dict[str, Any]()  # kernels' rows for every pair, as they stand
    roles = dict[str, Mapping[str, str]]()
    refuse_unused(options, options_heeded(files), name)
    alone = replace(options, target=None, leave_out=(), test=None)  # of the tables together
    for k, (filename, data) in enumerate(files):
        path = PurePath(filename)
        called = path.name if path.suffix.lower() in _APART else path.stem
        stem = _free(called, {*frames, *(key.partition(".")[0] for key in arrays)})
        arrays_here, named, grid = _arrays_of(data, filename, gram_cells)
        if arrays_here is None:
            frame, roles[stem] = _frame_in(data, filename, alone, options.target, progress)
            kernel = matrix_apart(frame, options.target if options.target in frame else None)
            if kernel is not None and len(kernel[2]) == kernel[1].shape[1]:  # alone, or with names of samples
                arrays[stem] = kernel[0]
                samples[stem] = [cell_text(each) for called in kernel[2][:1] for each in kernel[1][called]]
                grids |= {stem: frame} if len(frame) != len(kernel[0]) else {}
            else:
                frames[stem] = frame
        else:
            one = next(iter(arrays_here.values())) if len(arrays_here) == 1 else None
            samples[stem] = named
            grids |= {} if grid is None else {stem: grid}
            arrays |= {stem: one} if one is not None else {f"{stem}.{key}": array for key, array in arrays_here.items()}
        progress(k / len(files))
    for stem, frame in frames.items():
        if INDEX in frame and not any(each == options.target or target_name(each) for each in map(str, frame)):
            frames[stem] = _turned(frame, [other for called, other in frames.items() if called != stem])
    if not frames and not any(array.size > 1 for array in arrays.values()):
        raise DataError(f"{name} is made of {len(files)} files without a table: {listed([key for key, _ in files])}.")
    labelled = {*map(len, frames.values()), *(len(array) for array in arrays.values() if array.ndim == 1)}
    for stem, table in grids.items():
        if len(table) in labelled:  # its rows are samples
            del arrays[stem], samples[stem]
            (arrays if isinstance(table, np.ndarray) else frames)[stem] = table
    tables = [*frames.values(), *(array for array in arrays.values() if array.ndim)]
    unnamed = _without_numbers_as_names(arrays, {*map(len, tables)})
    test = None if options.test is None else PurePath(options.test)
    held_out = _arrays.numbered(arrays, [*map(len, frames.values())])
    pairs = _arrays.pairs_to_test([*arrays, *frames], () if test is None else (test.name, test.stem))
    held_out = _stacked(pairs, arrays, frames) if held_out is None else held_out
    if options.target is None:
        unnamed += _labels_by_columns(arrays, frames)
    for stem, array in [*arrays.items()]:
        gaps = array.ndim == 2 and array.dtype.kind == "f" and len(array) != array.shape[1] and np.isnan(array).any()
        if gaps or (not frames and len(arrays) == 1):  # a table without names
            frames[stem] = _arrays.frame_of(arrays.pop(stem), stem).reset_index(drop=True)
    order, notes = in_one_order(arrays, samples)
    notes += unnamed
    if not frames:
        if options.target == NOTHING and any(max(each.shape, default=0) == each.size for each in arrays.values()):
            raise has_labels(name)
        made = _of_arrays(arrays, name)
        return replace(made, held_out=held_out, notes=(*made.notes, *notes, *row_by_row(order)))
    labels = [
        stem for stem, array in arrays.items() if array.ndim == 1 or array.shape[:1] == (1,) or array.dtype.kind in "US"
    ]
    if len(labels) > 1:
        raise DataError(f"{listed(labels)} each hold one column: which of them are the labels is not clear.")
    kernels = _kernels({stem: array for stem, array in arrays.items() if stem not in labels})
    for stem, array in arrays.items():
        if stem not in (*labels, *kernels) and array.ndim == 2:
            frames[stem] = _arrays.frame_of(array, stem).reset_index(drop=True)
    frames = {stem: in_order(frame, order, notes) for stem, frame in frames.items()}
    notes += row_by_row(order) if labels else []
    tests = tuple(frames) if len(frames) > 1 and len({tuple(frame.columns) for frame in frames.values()}) == 1 else ()
    said = roles.get(next(iter(frames)), {}) if len(frames) == 1 and not labels else {}
    facts = FileFacts(
        held_out=held_out, tests=(*tests, *pairs), grams=kernels, assumed=tuple(dict.fromkeys(notes)), roles=said
    )
    return of_frames(frames, arrays[labels[0]] if labels else None, name, options, progress, facts)


def _without_numbers_as_names(arrays: dict[str, NDArray[Any]], lengths: Collection[int]) -> list[str]:
    """Take the names 0, 1, ..., which pandas writes above what has none, from arrays of one row more than others."""
    notes = list[str]()
    for stem, array in arrays.items():
        more = 0 < len(array) - 1 in lengths if array.ndim == 2 or array.dtype.kind == "U" else False
        first = np.atleast_1d(array[0]) if more else np.array([])
        if len(first) and all(is_number(str(each)) and float(each) == k for k, each in enumerate(first)):
            arrays[stem] = array[1:]
            notes.append(f"The first row of {stem} is taken to number its columns from 0, as pandas does.")
    return notes


def _turned(frame: pd.DataFrame, others: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return a table with its columns as rows where these are what other tables call their samples."""
    samples = {key(cell) for other in others for cell in other.iloc[:, 0]}
    if frame[INDEX].map(key).isin(samples).sum() >= sum(key(called) in samples for called in frame):
        return frame
    turned = frame.set_index(INDEX).T
    return turned.set_axis([*map(str, turned)], axis=1).rename_axis(INDEX).reset_index()


def _labels_by_columns(arrays: dict[str, NDArray[Any]], frames: dict[str, pd.DataFrame]) -> list[str]:
    """Put labels in the place of the only table that has a column for each class, where no other may hold them."""
    if any(max(each.shape, default=0) == each.size or each.dtype.kind in "US" for each in arrays.values()):
        return []
    tall = {stem: each for stem, each in arrays.items() if each.ndim == 2 and len(each) > each.shape[1]}
    tables = frames | {stem: _arrays.frame_of(each, stem) for stem, each in tall.items()}
    plain = {
        stem: table[[each for each in table if not (called_id(str(each)) and table[each].is_unique)]]
        for stem, table in tables.items()
    }
    named = any(target_name(str(each)) or table.shape[1] == 1 for table in plain.values() for each in table)
    able = [] if named else [stem for stem in plain if _arrays.called_labels(stem) or not {*frames} - {stem}]
    places = {stem: place for stem in able if (place := _one_each(plain[stem])) is not None}
    if len(places) != 1 or len(frames) + len(arrays) < 2:
        return []
    ((stem, place),) = places.items()
    if stem in frames:
        frames[stem] = frames[stem].drop(columns=plain[stem].columns).assign(**{LABEL: plain[stem].columns[place]})
    else:
        arrays[stem] = place + 1
    return [f"{stem} has a column for each class, in which 1 stands for its samples: these are the labels."]


def _one_each(table: pd.DataFrame) -> NDArray[np.intp] | None:
    """Return in which column each row has its 1, beside zeros; None where it is not so."""
    start = table.iloc[:_FIRST].map(lambda cell: cell_text(cell).lower())
    if table.shape[1] < 2 or not start.isin([*_ONE, *_ZERO]).all(axis=None):
        return None
    texts = table.map(lambda cell: cell_text(cell).lower())
    one = texts.isin(_ONE)
    sure = (one | texts.isin(_ZERO)).all(axis=None) and (one.sum(axis=1) == 1).all() and one.any().all()
    return one.to_numpy().argmax(axis=1) if sure else None


def _kernels(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the kernels (m, n, n) among some arrays."""
    by_stem = dict[str, NDArray[Any]]()
    for stem, array in arrays.items():
        if isinstance(array, GramFiles):
            by_stem[stem] = checked(array)
            continue
        kernels = _arrays.kernels_in(array, None) if array.dtype.kind in "biuf" else None
        if kernels is not None:
            by_stem[stem] = kernels
    return by_stem


def _free(stem: str, taken: set[str]) -> str:
    """Return what a file is called beside others, also where they are of the same name in several folders."""
    return next(name for name in chain([stem], (f"{stem} ({k})" for k in count(2))) if name not in taken)


def _arrays_of(
    data: Any, filename: str, gram_cells: int
) -> tuple[dict[str, Any] | None, list[str], NDArray[Any] | None]:
    """Return the arrays in a file, or None for a table with names or words, the names of its samples, and its rows
    where these are pairs of samples."""
    if isinstance(data, GramFiles):
        return {filename: data}, [], None
    form = format_of(data, filename)
    if form in (npz, matlab, json):
        return form.arrays_in(data, filename, gram_cells), [], None
    if form is arff or (form is None and table_format(data, filename)):
        return None, [], None
    labels = matrix.labels_in(data)
    if labels is not None:
        return {filename: labels}, [], None
    array, names = matrix.matrix_in(data)
    pairs = None if array is None else of_pairs(_arrays.frame_of(array, filename))
    if pairs is not None:
        return {filename: pairs[0]}, [*map(cell_text, pairs[1]["sample"])], array
    return None if array is None else {filename: array}, names, None


def _frame_in(
    data: bytes, filename: str, options: TableOptions, target: str | None, progress: Progress
) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Return the table in a file, and what the file itself calls its columns."""
    form = format_of(data, filename)
    if form is libsvm:
        return libsvm.frame_of(data, filename, (), LABEL), {}
    if form is arff:
        frame, roles, _ = arff.frame_of(data, filename, progress, options)
        return frame.reset_index(drop=True), roles
    if form is json:
        frame = json.frame_of(data, filename, replace(options, target=target))
        keyed = frame.index.dtype.kind not in "iu" and INDEX not in frame
        return frame.rename_axis(INDEX).reset_index() if keyed else frame.reset_index(drop=True), {}
    frame, facts = table_in(data, filename, options, progress)
    if facts.unnamed and INDEX not in frame:
        frame = frame.rename(columns={frame.columns[0]: INDEX})  # which is what pandas does not write above it
    return frame.reset_index(drop=True), facts.roles


def _stacked(
    pairs: dict[str, str], arrays: dict[str, NDArray[Any]], frames: dict[str, pd.DataFrame]
) -> NDArray[np.bool_] | None:
    """Put rows to test below those that are called alike; return which they are, None where there are none."""
    import pandas as pd

    counts = set()
    tables = {*frames, *(stem for stem, each in arrays.items() if each.ndim > 1)} - {*pairs, *pairs.values()}
    for test, train in pairs.items():
        if tables and all(
            key in arrays and arrays[key].ndim == 1 and not _arrays.called_labels(key) for key in (test, train)
        ):
            continue  # numbers of rows, perhaps
        parts = [arrays.pop(key) if key in arrays else frames.pop(key) for key in (train, test)]
        counts.add((len(parts[0]), len(parts[1])))
        if all(isinstance(part, np.ndarray) for part in parts) and parts[0].shape[1:] == parts[1].shape[1:]:
            arrays[train] = np.concatenate(parts)
            continue
        first, second = (_arrays.frame_of(part, train) if isinstance(part, np.ndarray) else part for part in parts)
        if first.columns[-1] == second.columns[-1] == LABEL:  # of LIBSVM, where columns of zeros are not written
            columns = max(first.columns, second.columns, key=len)
            first, second = (part.reindex(columns=columns, fill_value=0.0) for part in (first, second))
        lacking = [each for each in first.columns if each not in second.columns]
        if lacking:
            raise DataError(
                f"{test} has no {column(str(lacking[0]))}, which {train} has: rows to test need all columns, the target"
                " too. A table without the target can be predicted once a model is there."
            )
        stacked = frames[train] = pd.concat([first, second[first.columns]], ignore_index=True)
        if INDEX in stacked and first[INDEX].is_unique and not stacked[INDEX].is_unique:  # each numbers its own rows
            frames[train] = stacked.drop(columns=INDEX)
    if len(counts) > 1:
        counted = "; ".join(f"{train:,} to train on and {test:,} to test" for train, test in sorted(counts))
        raise DataError(f"The files have different numbers of rows: {counted}.")
    return np.repeat([False, True], counts.pop()) if counts else None


def _of_arrays(arrays: dict[str, NDArray[Any]], name: str) -> Dataset:
    """Return the data set of matrices and a vector of labels."""
    vectors = [key for key, array in arrays.items() if max(array.shape, default=0) == array.size]
    if len(vectors) == 1:  # whatever it is called
        arrays = {"y": arrays[vectors[0]], **{key: array for key, array in arrays.items() if key != vectors[0]}}
    return _arrays.dataset_of(arrays, name)
