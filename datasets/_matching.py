"""Which rows of several files are of one sample: by a column of identifiers in all, or by names of rows of kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import listed

from ._cells import column, in_quotes, is_number
from ._columns import called_id, cell_text
from ._dataset import DataError
from ._symmetric import symmetric

if TYPE_CHECKING:
    import pandas as pd

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
        keys = first[called].map(key)
        by_table = {stem: called}
        for other, frame in others:
            matching = [each for each in frame.columns if _may_match(called, each, keys)]
            least = max(_FEWEST * (called not in matching), min(len(frame), len(keys)) / 2)
            shared = next((each for each in matching if frame[each].map(key).isin(keys).sum() >= least), None)
            if shared is not None:
                by_table[other] = shared
        if len(by_table) < len(frames):
            continue
        ids = [frames[each][column] for each, column in by_table.items()]
        if INDEX in by_table.values() and _counted_otherwise(ids):
            continue
        if all(map(_tells_apart, ids)):
            return by_table
        if called_id(str(called)) and not all(_same_rows(keys, frames[each][by_table[each]]) for each in by_table):
            where = next(each for each in by_table if not _tells_apart(frames[each][by_table[each]]))
            cells = frames[where][by_table[where]].map(key)
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
    keys = cells.map(key)
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
    return len(keys) == len(cells) and bool(keys.eq(cells.map(key)).all())
