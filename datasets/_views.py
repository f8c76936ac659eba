"""Several tables of the same samples as one, each a view of them: joined row by row, or by their identifiers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from ._cells import column, in_quotes, is_number, target_name
from ._columns import called_id, cell_text
from ._dataset import DataError, Dataset
from ._frame import dataset_from_frame
from ._grams import symmetric
from ._table_options import AVERAGE, FILL, LEAVE_OUT, NOTHING, FileFacts, Progress, TableOptions

if TYPE_CHECKING:
    import pandas as pd

LABEL = "label"
_HELD_OUT = "rows to test"
_MEANS = ": in a race the mean of the kernels that have them stands for theirs; X holds medians there"
_ABOUT = re.compile(r"meta_?data|code_?book|dictionary|schema", re.IGNORECASE)


def has_labels(name: str) -> DataError:
    """Return what is said of labels in a file of their own where nothing is predicted."""
    return DataError(
        f"{name} has a file of labels, but its target is {NOTHING}: leave that file out, or name no target."
    )


def of_frames(
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
    beside = [[each for each in columns if not called_id(each)] for columns in parts.values()]
    alone = [columns[0] for columns in beside if len(columns) == 1 and len(parts) > 1]
    if options.target == NOTHING and (alone or labels is not None):
        raise has_labels(name)
    if labels is not None:
        if labels.size != len(joined):
            raise DataError(f"There are {labels.size:,} labels for {len(joined):,} rows: one for each is needed.")
        joined[LABEL] = labels.ravel()
        options = replace(options, target=options.target or LABEL)
    elif len(parts) > 1 and options.target is None:
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

    keys, about = identifiers(frames), list[str]()
    if not keys and len({*map(len, frames.values())}) > 1:
        about = _about(frames)
        frames = {stem: frame for stem, frame in frames.items() if stem not in about} or frames
        keys = identifiers(frames)
    if not keys and len({*map(len, frames.values())}) > 1:
        raise DataError(_unmatched(frames))
    tables = {
        stem: frame.set_axis(frame[keys[stem]].map(key), axis=0).drop(columns=keys[stem]) if keys else frame
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
            if not both.any() or not values[both].map(key).equals(theirs[both].map(key)):
                break
            values = values.where(values.notna(), theirs)
        else:
            agreed[name] = values
    return agreed


# -- which rows of several files are of one sample: by a column of identifiers in all, or by names of rows of kernels

INDEX = "index"
_FEWEST = 3  # samples by which columns of different names are matched
_WHOLE = re.compile(r"0*(\d+)(\.0*)?")  # 7, 007 and 7.0 call one sample


def key(cell: Any) -> str:
    """Return what a cell calls its sample."""
    text = cell_text(cell)
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def in_one_order(arrays: dict[str, NDArray[Any]], samples: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
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


def row_by_row(names: Sequence[str]) -> list[str]:
    """Return what is said where labels do not name the samples of a kernel that does, unless these count."""
    if all(map(is_number, names)) and [*names] == sorted(names, key=float):
        return []
    return [f"The labels name no samples, and are taken in the order of the kernel's: {listed(names)}."]


def in_order(frame: pd.DataFrame, names: Sequence[str], notes: list[str]) -> pd.DataFrame:
    """Return a table with the samples of a kernel in their order, where one of its columns names them; note which."""
    wanted = [*map(key, names)]
    for called in frame.columns if names else ():
        keys = frame[called].map(key)
        if called == INDEX and _counted_otherwise([frame[called], names]):
            continue
        if keys.is_unique and 2 * keys.isin(wanted).sum() > len(wanted):
            notes.append(f"Rows are matched by the column {called}.")
            return frame.drop(columns=called).set_axis(keys, axis=0).reindex(wanted).reset_index(drop=True)
    notes += row_by_row(names)
    return frame


def identifiers(frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return the column that tells the rows apart in each table, where all have one that says the same; else none."""
    (stem, first), *others = frames.items()
    for called in first.columns if others else ():
        keys = first[called].map(key).astype(object)  # of texts in Parquet pandas makes categories
        by_table = {stem: called}
        for other, frame in others:
            matching = [each for each in frame.columns if _may_match(called, each, keys)]
            least = max(_FEWEST * (called not in matching), min(len(frame), len(keys)) / 2)
            shared = next((each for each in matching if frame[each].map(key).isin(keys).sum() >= least), None)
            if shared is not None:
                by_table[other] = shared
        if len(by_table) < len(frames):
            continue
        ids = {each: frames[each][column].map(key).astype(object) for each, column in by_table.items()}
        if INDEX in by_table.values() and _counted_otherwise([*ids.values()]):
            continue
        again = {each: cells[cells.duplicated() | cells.eq("")] for each, cells in ids.items()}
        if not any(map(len, again.values())):
            return by_table
        if called_id(str(called)) and not all(map(keys.equals, ids.values())):
            where = next(each for each in again if len(again[each]))
            raise DataError(
                f"Rows cannot be matched by the {column(str(by_table[where]))}: {where} has"
                f" {in_quotes(again[where].iloc[0])} there more than once. Give each sample one row, or leave the"
                " column out of the files."
            )
    return {}


def _may_match(name: Any, other: Any, keys: pd.Series) -> bool:
    """Whether two columns may call the same samples: by their names, or by words whatever they are called."""
    alike = str(name).lower() == str(other).lower() or (called_id(str(name)) and called_id(str(other)))
    return alike or (keys.is_unique and not any(map(is_number, keys)))


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
