"""Several files as one data set: kernels with their labels apart, X and y in two files, tables that are views.

Files are told apart by what they hold: a column alone, or beside identifiers, is the labels, a symmetric matrix a
kernel, other tables are views of the same samples, joined row by row, or by a column of identifiers that they share.
Files called alike but for "train" and "test" are one, of which the latter rows are tested.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from ._cells import column, in_quotes, is_number, target_name
from ._columns import called_id, cell_text
from ._dataset import DataError, Dataset
from ._file_kind import table_format
from ._formats import _arrays, arff, format_of, json, libsvm, matlab, matrix, npz, options_of
from ._frame import dataset_from_frame
from ._gram_files import GramFiles
from ._symmetric import matrix_apart, of_pairs, symmetric
from ._table_options import AVERAGE, FILL, LEAVE_OUT, FileFacts, Progress, TableOptions, refuse_unused

if TYPE_CHECKING:
    import pandas as pd

FrameReader = Callable[[bytes, str, TableOptions, Progress], "tuple[pd.DataFrame, FileFacts]"]

_LABEL = "label"
_INDEX = "index"
_HELD_OUT = "rows to test"
_APART = (".test", ".train", ".t", ".trn", ".tst")
_MEANS = ": in a race the mean of the kernels that have them stands for theirs; X holds medians there"
_ABOUT = re.compile(r"meta_?data|code_?book|dictionary|schema", re.IGNORECASE)
_FEWEST = 3  # samples by which columns of different names are matched
_WHOLE = re.compile(r"0*(\d+)(\.0*)?")  # 7, 007 and 7.0 call one sample


def read_several(
    files: Sequence[tuple[str, Any]],
    name: str,
    options: TableOptions,
    progress: Progress,
    gram_cells: int,
    read_frame: FrameReader,
) -> Dataset:
    """Return the data set that some files make together; `read_frame` reads tables that are no format of their own.

    `files`: names and bytes, or `GramFiles`.
    """
    arrays, frames, samples = dict[str, NDArray[Any]](), dict[str, Any](), dict[str, list[str]]()
    grids = dict[str, Any]()  # kernels' rows for every pair, as they stand
    heeded = {"missing_view", "test"}.union(
        *(options_of(data, filename) for filename, data in files if isinstance(data, bytes))
    )
    refuse_unused(options, heeded, name)
    alone = replace(options, target=None, leave_out=(), test=None)  # of the tables together
    for k, (filename, data) in enumerate(files):
        path = PurePath(filename)
        called = path.name if path.suffix.lower() in _APART else path.stem
        stem = _free(called, {*frames, *(key.partition(".")[0] for key in arrays)})
        arrays_here, named, grid = _arrays_of(data, filename, gram_cells)
        if arrays_here is None:
            frame = _frame_in(data, filename, alone, options.target, progress, read_frame)
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
    pairs = _arrays.pairs_to_test([*arrays, *frames], () if test is None else (test.name, test.stem))
    held_out = _stacked(pairs, arrays, frames)
    for stem, array in [*arrays.items()]:
        gaps = array.ndim == 2 and array.dtype.kind == "f" and len(array) != array.shape[1] and np.isnan(array).any()
        if gaps or (not frames and len(arrays) == 1):  # a table without names
            frames[stem] = npz.frame_of(arrays.pop(stem), stem).reset_index(drop=True)
    order, notes = _in_one_order(arrays, samples)
    notes += unnamed
    if not frames:
        made = _of_arrays(arrays, name)
        return replace(made, held_out=held_out, notes=(*made.notes, *notes, *_row_by_row(order)))
    labels = [
        stem for stem, array in arrays.items() if array.ndim == 1 or array.shape[:1] == (1,) or array.dtype.kind in "US"
    ]
    if len(labels) > 1:
        raise DataError(f"{listed(labels)} each hold one column: which of them are the labels is not clear.")
    kernels = _kernels({stem: array for stem, array in arrays.items() if stem not in labels})
    for stem, array in arrays.items():
        if stem not in (*labels, *kernels) and array.ndim == 2:
            frames[stem] = npz.frame_of(array, stem).reset_index(drop=True)
    frames = {stem: _in_order(frame, order, notes) for stem, frame in frames.items()}
    notes += _row_by_row(order) if labels else []
    tests = tuple(frames) if len(frames) > 1 and len({tuple(frame.columns) for frame in frames.values()}) == 1 else ()
    facts = FileFacts(held_out=held_out, tests=(*tests, *pairs), grams=kernels, assumed=tuple(dict.fromkeys(notes)))
    return _of_frames(frames, arrays[labels[0]] if labels else None, name, options, progress, facts)


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


def _in_one_order(arrays: dict[str, NDArray[Any]], samples: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
    """Put symmetric arrays with names of samples into the order of the first; return that, and notes."""
    order, notes = list[str](), list[str]()
    for stem, names in samples.items():
        array = arrays.get(stem)
        if not names or array is None or array.shape != 2 * (len({*names}),) or symmetric(array) is None:
            continue
        order = order or names
        if sorted(names) == sorted(order):
            rows = [names.index(name) for name in order]
            arrays[stem] = array[np.ix_(rows, rows)]
        else:
            notes.append(f"{stem} names other samples than the kernel before it: each in its order.")
    return order, notes


def _row_by_row(names: Sequence[str]) -> list[str]:
    """Return what is said where labels do not name the samples of a kernel that does, unless these count."""
    if all(map(is_number, names)) and [*names] == sorted(names, key=float):
        return []
    return [f"The labels name no samples, and are taken in the order of the kernel's: {listed(names)}."]


def _kernels(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the kernels (m, n, n) among some arrays."""
    by_stem = dict[str, NDArray[Any]]()
    for stem, array in arrays.items():
        if isinstance(array, GramFiles):
            by_stem[stem] = _arrays.checked(array)
            continue
        kernels = _arrays.kernels_in(array, None) if array.dtype.kind in "biuf" else None
        if kernels is not None:
            by_stem[stem] = kernels
    return by_stem


def _in_order(frame: pd.DataFrame, names: Sequence[str], notes: list[str]) -> pd.DataFrame:
    """Return a table with the samples of a kernel in their order, where one of its columns names them; note which."""
    wanted = [*map(_key, names)]
    for called in frame.columns if names else ():
        keys = frame[called].map(_key)
        if called == _INDEX and _counted_otherwise([frame[called], names]):
            continue
        if keys.is_unique and 2 * keys.isin(wanted).sum() > len(wanted):
            notes.append(f"Rows are matched by the column {called}.")
            return frame.drop(columns=called).set_axis(keys, axis=0).reindex(wanted).reset_index(drop=True)
    notes += _row_by_row(names)
    return frame


def _key(cell: Any) -> str:
    """Return what a cell calls its sample."""
    text = cell_text(cell)
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


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
    form: Any = format_of(data, filename)
    if form in (npz, matlab, json):
        return form.arrays_in(data, filename, gram_cells), [], None
    if form is arff or (form is None and table_format(data, filename)):
        return None, [], None
    labels = matrix.labels_in(data)
    if labels is not None:
        return {filename: labels}, [], None
    array, names = matrix.matrix_in(data)
    pairs = None if array is None else of_pairs(npz.frame_of(array, filename))
    if pairs is not None:
        return {filename: pairs[0]}, [*map(cell_text, pairs[1]["sample"])], array
    return None if array is None else {filename: array}, names, None


def _frame_in(
    data: bytes, filename: str, options: TableOptions, target: str | None, progress: Progress, read_frame: FrameReader
) -> pd.DataFrame:
    form: Any = format_of(data, filename)
    if form is libsvm:
        return libsvm.frame_of(data, filename, (), _LABEL)
    if form in (arff, json):
        return form.frame_of(data, filename, progress, replace(options, target=target))[0].reset_index(drop=True)
    frame, facts = read_frame(data, filename, options, progress)
    if facts.unnamed and _INDEX not in frame:
        frame = frame.rename(columns={frame.columns[0]: _INDEX})  # which is what pandas does not write above it
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
        stacked = frames[train] = pd.concat([first, second[first.columns]], ignore_index=True)
        if _INDEX in stacked and first[_INDEX].is_unique and not stacked[_INDEX].is_unique:  # each numbers its own rows
            frames[train] = stacked.drop(columns=_INDEX)
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


def _of_frames(
    frames: dict[str, pd.DataFrame], labels: NDArray[Any] | None, name: str, options: TableOptions,
    progress: Progress, facts: FileFacts,
) -> Dataset:  # fmt: skip
    import pandas as pd

    if facts.held_out is not None:
        whole = [stem for stem, frame in frames.items() if len(frame) == len(facts.held_out)]
        lacking = [stem for stem in frames if stem not in (*whole, *_about(frames))]
        if lacking or not whole:
            raise DataError(
                f"{[*lacking, *frames][0]} has no rows to test beside the others: give them as a file, too."
            )
        bearer = next((stem for stem in whole if stem not in _about(frames)), whole[0])
        frames[bearer].insert(0, _HELD_OUT, facts.held_out)
    joined, parts, absent, notes = _joined(frames, options)
    held_out = joined.pop(_HELD_OUT).eq(True).to_numpy() if _HELD_OUT in joined else None
    if labels is not None:
        if labels.size != len(joined):
            raise DataError(f"There are {labels.size:,} labels for {len(joined):,} rows: one for each is needed.")
        joined[_LABEL] = labels.ravel()
        options = replace(options, target=options.target or _LABEL)
    elif len(parts) > 1 and options.target is None:
        beside = [[each for each in columns if not called_id(each)] for columns in parts.values()]
        alone = [columns[0] for columns in beside if len(columns) == 1]
        called = [each for each in map(str, joined.columns) if each not in alone and target_name(each)]
        ends = {end for columns in parts.values() for end in (columns[0], columns[-1]) if end in called}
        meant = ends if called else alone
        options = replace(options, target=next(iter(meant)) if len(meant) == 1 else None)
    for kernel, matrices in facts.grams.items():
        if matrices.shape[1] != len(joined):
            raise DataError(
                f"{kernel} is a kernel of {matrices.shape[1]:,} samples, and the table beside it has"
                f" {len(joined):,} rows: one for each is needed."
            )
    options = replace(
        options,
        target=None if options.target is None else _whole_name(options.target, joined),
        leave_out=tuple(_whole_name(each, joined) for each in options.leave_out),
    )
    if absent is not None and options.missing_view == AVERAGE:
        options = replace(options, missing=FILL)  # with what the kernels that have them are put in place of
    joined.index = pd.RangeIndex(1, len(joined) + 1)
    facts = replace(facts, assumed=(*facts.assumed, *notes), held_out=held_out, absent=absent)
    dataset = dataset_from_frame(joined, options, name, facts, progress)
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


def _whole_name(name: str, joined: pd.DataFrame) -> str:
    """Return what a column is called among those of several views, where its name alone tells."""
    plain = name.rpartition(": ")[2]
    meant = [str(each) for each in joined.columns if str(each) == plain or str(each).endswith(f": {name}")]
    return meant[0] if len(meant) == 1 and name not in joined else name


def _joined(
    frames: dict[str, pd.DataFrame], options: TableOptions
) -> tuple[pd.DataFrame, dict[str, list[str]], NDArray[np.bool_] | None, tuple[str, ...]]:
    """Return one table of all, the columns of each, which rows each lacks, and notes."""
    import pandas as pd

    keys, about = _identifiers(frames), list[str]()
    if not keys and len({*map(len, frames.values())}) > 1:
        about = _about(frames)
        frames = {stem: frame for stem, frame in frames.items() if stem not in about} or frames
        keys = _identifiers(frames)
    if not keys and len({*map(len, frames.values())}) > 1:
        raise DataError(_unmatched(frames))
    tables = {
        stem: frame.set_axis(frame[keys[stem]].map(_key), axis=0).drop(columns=keys[stem]) if keys else frame
        for stem, frame in frames.items()
    }
    everyone = pd.concat([table.index.to_series() for table in tables.values()]).unique()
    once, notes = _in_all(tables, everyone, options.target), list[str]()
    called = _called(tables, once)
    parts = {stem: [*names.values()] for stem, names in called.items()}
    marks = [table[[_HELD_OUT]] for table in tables.values() if _HELD_OUT in table]
    named = [tables[stem][[*names]].rename(columns=names) for stem, names in called.items()]
    joined = pd.concat([*named, *marks], axis=1, join="inner" if options.missing_view == LEAVE_OUT else "outer")
    for name, values in once.items():
        joined[str(name)] = values.reindex(joined.index)
    notes += [f"{column(str(name)).capitalize()} stands in all tables, and is taken once." for name in once]
    notes += [f"{stem} is left out: it describes the others." for stem in about]
    if not keys:
        notes += ["The tables are joined row by row."] if len(tables) > 1 else []
        return joined, parts, None, tuple(notes)
    notes.insert(0, f"Rows are matched by the column {next(iter(keys.values()))}.")
    absent = np.column_stack([~joined.index.isin(table.index) for table in tables.values()])
    notes += _lacking(tables, len(everyone), options.missing_view)
    return joined.reset_index(drop=True), parts, absent if absent.any() else None, tuple(notes)


def _called(tables: Mapping[str, pd.DataFrame], once: Mapping[Any, pd.Series]) -> dict[str, dict[Any, str]]:
    """Return what the columns of each table are called in that of all: with the view's name where several have some."""
    own = {
        stem: [c for c in table.columns if c != _HELD_OUT and (k == 0 or c not in once)]
        for k, (stem, table) in enumerate(tables.items())
    }
    several = sum(len(columns) > 1 for columns in own.values()) > 1
    counts = Counter(chain.from_iterable(own.values()))
    return {
        stem: {
            c: f"{stem}: {c}" if counts[c] > 1 or (several and len(columns) > 1 and c not in once) else str(c)
            for c in columns
        }
        for stem, columns in own.items()
    }


def _lacking(tables: Mapping[str, pd.DataFrame], everyone: int, missing_view: str | None) -> list[str]:
    """Return notes on the samples that tables lack."""
    means = {LEAVE_OUT: ", and left out", AVERAGE: _MEANS}
    means_then, lengths = means.get(missing_view or "", ""), {stem: len(table) for stem, table in tables.items()}
    return [
        f"{everyone - length:,} of {everyone:,} samples are missing in the view {stem}{means_then}."
        for stem, length in lengths.items()
        if length < everyone
    ]


def _unmatched(frames: Mapping[str, pd.DataFrame]) -> str:
    """Return a sentence on tables of different lengths whose rows cannot be matched."""
    counts = listed([f"{stem} has {len(frame):,}" for stem, frame in frames.items()])
    alike = len({tuple(frame.columns) for frame in frames.values()}) == 1
    more = f" Where one holds rows to test, call it {next(iter(frames))}_test, or say so: test." if alike else ""
    return (
        f"The tables have different numbers of rows ({counts}) and no column of identifiers in common: add one, so that"
        f" their rows can be matched, or open one of them, where they are data sets of their own.{more}"
    )


def _about(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the tables that describe others: they are called so, or a column holds the names of those of others."""
    called = {stem: {name for name in map(str, frame.columns) if not is_number(name)} for stem, frame in frames.items()}
    named = {stem: set().union(*(names for other, names in called.items() if other != stem)) for stem in called}
    return [
        stem
        for stem, frame in frames.items()
        if not any(target_name(str(each)) for each in frame)
        and (
            _ABOUT.search(stem)
            or any(2 * frame[each].map(cell_text).isin(named[stem]).sum() > len(frame) for each in frame)
        )
    ]


def _in_all(tables: Mapping[str, pd.DataFrame], everyone: Any, target: str | None) -> dict[Any, pd.Series]:
    """Return what may be the target and says the same in all tables, with what it says of every sample."""
    first, *others = tables.values()
    agreed = {}
    for name in first.columns if others else ():
        meant = name == target or target_name(str(name)) or all(name == table.columns[-1] for table in tables.values())
        if not meant or not all(name in table for table in others):
            continue
        values = first[name].reindex(everyone)
        for table in others:
            theirs = table[name].reindex(everyone)
            both = values.notna() & theirs.notna()
            if not both.any() or not values[both].map(_key).equals(theirs[both].map(_key)):
                break
            values = values.where(values.notna(), theirs)
        else:
            agreed[name] = values
    return agreed


def _identifiers(frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return the column that tells the rows apart in each table, where all have one that says the same; else none."""
    (stem, first), *others = frames.items()
    for called in first.columns if others else ():
        keys = first[called].map(_key)
        by_table = {stem: called}
        for other, frame in others:
            matching = [each for each in frame.columns if _may_match(called, each, keys)]
            least = max(_FEWEST * (called not in matching), min(len(frame), len(keys)) / 2)
            shared = next((each for each in matching if frame[each].map(_key).isin(keys).sum() >= least), None)
            if shared is not None:
                by_table[other] = shared
        if len(by_table) < len(frames):
            continue
        ids = [frames[each][column] for each, column in by_table.items()]
        if _INDEX in by_table.values() and _counted_otherwise(ids):
            continue
        if all(map(_tells_apart, ids)):
            return by_table
        if called_id(str(called)) and not all(_same_rows(keys, frames[each][by_table[each]]) for each in by_table):
            where = next(each for each in by_table if not _tells_apart(frames[each][by_table[each]]))
            cells = frames[where][by_table[where]].map(_key)
            raise DataError(
                f"Rows cannot be matched by the {column(str(by_table[where]))}: {where} has"
                f" {in_quotes(cells[cells.duplicated() | cells.eq('')].iloc[0])} there more than once. Give each sample"
                " one row, or leave the column out of the files."
            )
    return {}


def _may_match(name: Any, other: Any, keys: pd.Series) -> bool:
    """Whether two columns may call the same samples: by their names, or by words whatever they are called."""
    alike = str(name).lower() == str(other).lower() or (called_id(str(name)) and called_id(str(other)))
    return alike or (keys.is_unique and not any(map(is_number, keys)))


def _tells_apart(cells: pd.Series) -> bool:
    keys = cells.map(_key)
    return bool(keys.is_unique and keys.ne("").all())


def _counted_otherwise(columns: Sequence[Iterable[Any]]) -> bool:
    """Whether each of some columns numbers as many rows, but one from 0, and another from 1."""
    starts, counts = set[float](), set[int]()
    for cells in columns:
        texts = [*map(cell_text, cells)]
        numbers = [*map(float, texts)] if all(map(is_number, texts)) else []
        if not numbers or numbers != [numbers[0] + k for k in range(len(numbers))]:
            return False
        starts.add(numbers[0])
        counts.add(len(numbers))
    return starts == {0, 1} and len(counts) == 1


def _same_rows(keys: pd.Series, cells: pd.Series) -> bool:
    return len(keys) == len(cells) and bool(keys.eq(cells.map(_key)).all())
