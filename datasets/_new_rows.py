"""A table of new samples: its columns as the features that a model learned from, whatever their order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from mklviz.quoting import listed

from ._cells import column, in_quotes
from ._columns import TableColumn, read_columns
from ._dataset import Array, DataError, Dataset
from ._files import read_frame
from ._frame import unique_names
from ._table_options import FileFacts, TableOptions

if TYPE_CHECKING:
    import pandas as pd

MOST_WRONG = 5  # cells that a note speaks of


@dataclass(frozen=True)
class NewTable:
    """The rows of a table, what each of its columns holds, and `TableSummary.spelling` of the one learned from."""

    frame: pd.DataFrame
    columns: dict[str, TableColumn]
    spelling: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, frame: pd.DataFrame, facts: FileFacts | None = None, options: TableOptions | None = None,
        spelling: Mapping[str, str] | None = None,
    ) -> NewTable:  # fmt: skip
        """Return the table of a frame, `facts` being what its file tells of it, `options` how its cells are read."""
        names, _ = unique_names([str(name) for name in frame.columns], "the table")
        frame = frame.set_axis(names, axis=1)
        facts = replace(facts or FileFacts(), spelling=spelling or {})
        made, _ = read_columns(frame, options or TableOptions(), facts, lambda _fraction: None)
        for each in made:
            known = facts.spelling.get(each.name, "NA")
            if each.unit and known not in (each.unit, "NA"):
                problem = f"is in {each.unit}, and the model learned it in {known}: convert it."
                raise DataError(f"{column(each.name).capitalize()} {problem}")
        return cls(frame, {each.name: each for each in made}, facts.spelling)

    @classmethod
    def read(
        cls, content: bytes, filename: str, names: Sequence[str], target: str, options: TableOptions,
        spelling: Mapping[str, str] | None = None,
    ) -> NewTable:  # fmt: skip
        """Return the table in the bytes of a file, for a model with these features that predicts this column."""
        header = not any(re.fullmatch(r"column \d+", name) for name in names)
        read = read_frame(content, filename, replace(options, header=header), names, target)
        return cls.of(_frame_of(read, target)) if isinstance(read, Dataset) else cls.of(*read, options, spelling)

    def features(self, names: Sequence[str]) -> tuple[Array, list[str]]:
        """Return the values of features (n, d), nan where they are missing, and notes on what is no number.

        A feature is called by its column, or COLUMN=WORD. Raises `DataError` where columns are lacking.
        """
        placed = [self._place(name) for name in names]
        lacking = [in_quotes(name) for name, place in zip(names, placed, strict=True) if place is None]
        if lacking:
            raise DataError(
                f"The model needs the column{'s' * (len(lacking) > 1)} {listed(lacking)}, and the table has"
                f" {listed([in_quotes(name) for name in self.columns])}."
            )
        notes: list[str] = []
        values = [_values(*place, self.spelling, notes) for place in placed if place is not None]
        return np.column_stack(values), notes

    def _place(self, name: str) -> tuple[TableColumn, str | None] | None:
        """Return the column of a feature, and its word where it has one."""
        if name in self.columns:
            return self.columns[name], None
        ends = [k for k, sign in enumerate(name) if sign == "=" and name[:k] in self.columns]
        return (self.columns[name[: ends[-1]]], name[ends[-1] + 1 :]) if ends else None

    def texts(self, name: str) -> list[str]:
        """Return what a column says in each row, "" where it says nothing or there is none."""
        made = self.columns.get(name)
        if made is None:
            return [""] * len(self.frame)
        texts = [*made.texts(), ""]
        return [texts[code] for code in made.codes]


def _values(made: TableColumn, word: str | None, spelling: Mapping[str, str], notes: list[str]) -> Array:
    """Return the numbers of a column, or where a word stands in it."""
    if word is not None:
        matches = [float(word in (text, str(value))) for text, value in zip(made.texts(), made.values, strict=True)]
        return np.array([*matches, np.nan])[made.codes]
    numbers = np.append(np.where(np.isfinite(made.parsed), made.parsed, np.nan), np.nan)
    wrong = [in_quotes(str(value)) for value, x in zip(made.values, numbers[:-1], strict=True) if np.isnan(x)]
    if wrong:
        notes.append(f"{column(made.name).capitalize()} holds no number where it says {listed(wrong[:MOST_WRONG])}.")
    unit = spelling.get(made.name, "")
    if unit != made.unit:  # one of which is none
        taken = f"has no unit: its numbers are taken to be in {unit}"
        other = taken if unit else f"is in {made.unit}, of which the model knows nothing"
        notes.append(f"{column(made.name).capitalize()} {other}.")
    return numbers[made.codes]


def _frame_of(data: Dataset, target: str) -> pd.DataFrame:
    """Return samples that came without a table."""
    import pandas as pd

    frame = pd.DataFrame(data.X, columns=list(data.feature_names))
    classes = dict(zip((-1.0, 1.0) if data.task == "binary" else count(), data.classes, strict=False))
    return frame.assign(**{target: [classes.get(y, y) for y in data.y]})
