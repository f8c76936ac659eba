"""Several tables of the same samples as one, each a view of them: joined row by row, or by their identifiers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from ._cells import column, is_number, target_name
from ._columns import called_id, cell_text
from ._dataset import DataError, Dataset
from ._frame import dataset_from_frame
from ._matching import identifiers, key
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
