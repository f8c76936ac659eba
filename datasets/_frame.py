"""From a DataFrame to a data set: what each column holds, which is predicted, what is done where values are missing.

Notes say all that is done, and the same frame with the same options gives the same data set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import MOST_NAME, listed, one_line

from ._bounds import check_size
from ._cells import column, decimal_sign, in_quotes, is_date, is_missing, is_number, number, words_listed
from ._dataset import Array, DataError, Dataset
from ._labels import MOST_CLASSES, code_labels
from ._table_options import FILL, LEAVE_OUT, Progress, Role, TableOptions, TableSummary

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Found", "TableColumn", "dataset_from_frame", "table_columns", "unique_names"]

LABEL_NAMES = ("class", "label", "labels", "target", "y", "outcome", "response", "diagnosis", "species")
FEW = 0.1  # up to this share of rows with missing values are left out, more are filled in
MOST_WORDS = 20  # different words of a column that become columns
ODD = 5  # of so many rows one may hold a word in a column of numbers
SHOWN_ROWS, SHOWN_COLUMNS = 8, 40
_ID = re.compile(r"id|index|idx|key|nr|no|no\.|number|#|row|uuid|unnamed: 0|.*[ _-](id|nr|no|key)|.*_level_0__")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_CAMEL_ID = re.compile(r".*[a-z]I[dD]")

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Found:
    """What is known of a frame from its file: whether a row of it held names, and whether the format has them.

    `unnamed`: whether its first column had no name; `assumed`: sentences on what was guessed; `dialect`: how the file
    is written; `decimal`: how commas in numbers are meant where none tells; `sheets`: of a workbook.
    """

    header: bool | int | tuple[int, ...] = True
    named: bool = True
    unnamed: bool = False
    assumed: tuple[str, ...] = ()
    dialect: str = ""
    decimal: str = "."
    sheets: tuple[str, ...] = ()


def unique_names(names: Sequence[str], name: str) -> tuple[list[str], list[str]]:
    """Return the names of columns, each once, and notes on those that came twice; `name` is the file's."""
    seen, unique, notes = {*names}, dict[str, None](), list[str]()
    for j, text in enumerate(names):
        called, count = text or f"column {j + 1}", 1
        if len(called) > MOST_NAME:
            raise DataError(
                f"Column {j + 1} of {name} has a name of {len(called):,} letters; a name has at most {MOST_NAME}."
            )
        while called in unique or (count > 1 and called in seen):
            count += 1
            called = f"{text or f'column {j + 1}'} ({count})"
        if count > 1:
            notes.append(f"Two columns are called {in_quotes(text)}: the later one is {in_quotes(called)}.")
        unique[called] = None
    return list(unique), notes


def dataset_from_frame(
    frame: pd.DataFrame,
    options: TableOptions | None = None,
    name: str = "the table",
    found: Found | None = None,
    progress: Progress = lambda _fraction: None,
) -> Dataset:
    """Return the data set that a DataFrame holds, with the summary of what was done to it.

    `name` is the file's. The index of the frame says in which row of the file each row stands; texts become numbers
    where they are.
    """
    options, found = options or TableOptions(), found or Found()
    if frame.shape[1] < 2:
        raise DataError(
            " ".join(
                [
                    f"{name} has one column; expected at least one column to learn from and one to predict.",
                    *found.assumed,
                ]
            )
        )
    check_size(name, *frame.shape)
    check_columns(options, list(frame.columns), name)
    if not len(frame):
        raise DataError(f"{name} has a header and no rows below it.")
    columns, written = table_columns(frame, options, found, progress)
    targets = _targets(columns, options.leave_out)
    label = next(each for each in columns if each.name == (options.target or targets[0]))
    used = [each for each in columns if each is not label and not each.aside]
    _check_used(columns, label, used, name)
    check_size(name, len(frame), sum(len(each.names) for each in used))
    kept = _kept(label, used, options.missing)
    codes, inverse = np.unique(label.codes[kept.rows], return_inverse=True)
    labels = code_labels([label.texts[code] for code in codes], column(label.name), inverse, options.task)
    done = (*written, *kept.notes, *_column_notes(columns, label, kept.missing))
    comma = ["decimal comma"] if any(each.startswith("Commas in") for each in written) else []
    dialect = ", ".join([*filter(None, [found.dialect]), *comma, f"{len(frame):,} rows"])
    shown = replace(options, target=label.name, missing=kept.missing, header=found.header)
    summary = TableSummary(
        shown, targets, kept.gaps, len(frame), found.named, done, dialect, found.sheets,
        _roles(columns, label, labels.task), _first(frame),
    )  # fmt: skip
    features = tuple(feature for each in used for feature in each.names)
    dataset = labels.dataset(name, _values(used, kept.rows, progress), feature_names=features)
    guessed = () if options.target is not None else (f"The target is {column(label.name)}.",)
    return replace(dataset, notes=(*dataset.notes, *found.assumed, *guessed, *done), table=summary)


def check_columns(options: TableOptions, names: Sequence[str], name: str) -> None:
    """Refuse a target or columns left out that the table does not have, and too many columns."""
    for wanted in (*([] if options.target is None else [options.target]), *options.leave_out):
        if wanted not in names:
            raise DataError(f"There is no {column(wanted)}. Columns: {listed(names)}.")
    if options.target in options.leave_out:
        raise DataError(f"The {column(str(options.target))} is the target: it cannot be left out of {name}.")


# -- what a column holds


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column: `values` are what its cells hold, once each, `codes` which of them stands in each row, -1 for none.

    `read` gives the number of a value, nan where it is none; `aside` says why the column is not used; `said`, what its
    numbers look like.
    """

    name: str
    values: Sequence[Any]
    codes: Rows
    read: Callable[[Any], float]
    role: Role = "nothing"
    aside: str = ""
    said: str = ""
    odd: tuple[Any, ...] = field(default=())

    @property
    def missing(self) -> NDArray[np.bool_]:
        """In which rows its value is missing."""
        gone = np.array([*(value in self.odd for value in self.values), True]) if self.odd else None
        return self.codes < 0 if gone is None else gone[self.codes]

    @cached_property
    def gaps(self) -> int:
        """In how many rows its value is missing."""
        return int(self.missing.sum())

    @cached_property
    def texts(self) -> list[str]:
        """What its cells say, once each: numbers as programs write them."""
        return [_label(value, self.read if self.role == "numbers" else None) for value in self.values]

    @property
    def words(self) -> list[str]:
        """Its different words."""
        return sorted(self.texts)

    @property
    def _shown(self) -> list[str]:
        return self.words[1:] if len(self.values) == 2 else self.words

    @property
    def _numbers(self) -> Array:
        """What kernels see of each value (values, columns): its number, or 1 where it is a column's word."""
        read = self.read
        if self.role == "numbers":
            table = np.array([[read(value)] for value in self.values])
        else:
            table = np.array([[float(text == word) for word in self._shown] for text in self.texts])
        return np.vstack([table, np.full((1, table.shape[1]), np.nan)])

    def numbers(self, rows: Rows) -> Array:
        """Return what kernels see of some rows (n, columns): numbers, or 1 where a word stands; nan where missing."""
        return self._numbers[self.codes[rows]]

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of `numbers` are called."""
        return (self.name,) if self.role == "numbers" else tuple(f"{self.name}={word}" for word in self._shown)

    def filling(self) -> tuple[Array, str]:
        """Return what stands for a missing value, for each of the columns of `numbers`, and what it is called."""
        if self.role == "numbers":
            return np.median(self.numbers(np.flatnonzero(~self.missing)), axis=0), "its median"
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))
        code = min(range(len(self.values)), key=lambda k: (-counts[k], self.texts[k]))
        return self._numbers[code], in_quotes(self.texts[code])


def _label(value: Any, read: Callable[[Any], float] | None) -> str:
    if isinstance(value, str):
        as_written = read is None or (is_number(value) and read(value) == float(value))
        return value if as_written else repr(read(value)).removesuffix(".0")
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def table_columns(
    frame: pd.DataFrame, options: TableOptions, found: Found, progress: Progress
) -> tuple[list[TableColumn], list[str]]:
    """Return the columns, and notes on how their numbers are written."""
    raw: list[tuple[str, list[Any], Rows, bool]] = []
    for j, (name, cells) in enumerate(frame.items()):
        raw.append((str(name), *_once_each(cells, options.na)))
        progress(j / frame.shape[1] / 4)
    signs = [_signs(values) if texts else "." for _, values, _, texts in raw]
    file_sign = options.decimal or "".join(sorted({sign for each in signs for sign in each}, reverse=True))
    columns, notes = [], dict[str, None]()
    for j, ((name, values, codes, texts), sign) in enumerate(zip(raw, signs, strict=True)):
        read = _reader(values, sign, file_sign, found, options) if texts else float
        made = TableColumn(name, values, codes, read)
        first = found.unnamed and j == 0
        columns.append(_with_role(made, frame, first, texts, name in options.leave_out, name == options.target))
        if texts and columns[-1].role == "numbers":
            notes |= dict.fromkeys(_written(columns[-1]))
        progress((1 + j / frame.shape[1]) / 4)
    return columns, list(notes)


def _once_each(cells: pd.Series, na: Sequence[str]) -> tuple[list[Any], Rows, bool]:
    """Return the values of a column once each, which of them stands where, -1 for none, and whether they are texts."""
    import pandas as pd

    kind = cells.dtype
    if isinstance(kind, pd.CategoricalDtype):
        codes, values = np.asarray(cells.cat.codes, np.intp), kind.categories.tolist()
    elif kind.kind in "iuf":
        found, unique = pd.factorize(cells.array)
        return np.asarray(unique, np.float64).tolist(), np.asarray(found, np.intp), False
    else:
        codes, distinct = pd.factorize(cells.array)
        values = distinct.tolist()
    texts = [_text(value) for value in values]
    kept: dict[str, int] = {}
    place = [-1 if is_missing(text, na) else kept.setdefault(text, len(kept)) for text in texts]
    return list(kept), np.array([*place, -1], np.intp)[codes], True


def _text(value: Any) -> str:
    """Return what a cell says; that of bytes in UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip()
    return "" if value is None else str(value).strip().removesuffix(" 00:00:00")


def _signs(texts: Sequence[str]) -> str:
    """Return what the texts of a column tell of the decimal sign: all with commas are looked at, of others some."""
    return decimal_sign([*(text for text in texts if "," in text), *(text for text in texts[:1000] if "." in text)])


def _reader(
    texts: Sequence[str], sign: str, file_sign: str, found: Found, options: TableOptions
) -> Callable[[str], float]:
    """Return what reads the numbers of a column: by its own decimal sign, else that of the others."""
    if not sign:
        usual = found.decimal if any("," in text for text in texts) else "."
        sign = file_sign if len(file_sign) == 1 else usual
    decimal = options.decimal or (sign if len(sign) == 1 else "")
    return lambda text: number(text, decimal, options.thousands)


def _written(column: TableColumn) -> Iterator[str]:
    """Yield what is worth knowing of how the numbers of a column are written."""
    for text in column.values:
        value = column.read(text)
        if text in column.odd or (is_number(text) and value == float(text)):
            continue
        if _COMMA.fullmatch(text) and value == float(text.replace(",", ".")):
            yield "Commas in numbers are read as decimal points."
        else:
            yield f"Column {in_quotes(column.name)}: {in_quotes(text)} is read as {value:g}, and others likewise."
            return


def _with_role(
    made: TableColumn, frame: pd.DataFrame, unnamed: bool, texts: bool, left_out: bool, target: bool
) -> TableColumn:
    """Return a column with what it holds, and why it is not used."""
    rows = len(made.codes)
    role, aside, odd = _role(made, frame.index, texts)
    made = replace(made, role=role, aside=aside, odd=odd)
    if role == "numbers" and (unnamed or _called_id(made.name)) and _counts(made, rows):
        made = replace(made, role="identifier", aside="it numbers the rows")
    if not made.aside and 2 * made.gaps > rows:
        made = replace(made, role="nothing", aside=f"a value is missing in {made.gaps:,} of {rows:,} rows")
    return replace(made, aside="you left it out") if left_out and not target else made


def _role(made: TableColumn, lines: Any, texts: bool) -> tuple[Role, str, tuple[Any, ...]]:
    values, present = made.values, len(made.codes) - made.gaps
    if not values:
        return "nothing", "it is empty", ()
    numbers = [made.read(value) for value in values]
    others = [value for value, x in zip(values, numbers, strict=True) if isnan(x) and not (texts and is_number(value))]
    if not others:
        wrong = [value for value, x in zip(values, numbers, strict=True) if not np.isfinite(x)]
        return "numbers", f"{_seen(made, wrong, lines)} is not a finite number" if wrong else "", ()
    if len(others) == len(values) and all(map(is_date, others)):
        return "date", f"it holds dates or times, such as {in_quotes(min(others))}", ()
    odd = int(np.isin(made.codes, [k for k, value in enumerate(values) if value in {*others}]).sum())
    if ODD * odd <= present and len(values) - len(others) > 2:
        return "numbers", "", tuple(others)
    if 2 * (present - odd) >= present:
        return "nothing", f"it holds numbers, but {_seen(made, others, lines)}, which is not a number", ()
    aside = _too_many(sorted(values), present)
    return "text" if aside else "words", aside, ()


def _seen(made: TableColumn, values: Sequence[Any], lines: Any) -> str:
    """Return the first cell that holds one of some values, and where it stands."""
    wanted = {*values}
    row = int(np.isin(made.codes, [k for k, value in enumerate(made.values) if value in wanted]).argmax())
    return f"{in_quotes(str(made.values[made.codes[row]]))} in row {lines[row]}"


def _too_many(words: Sequence[str], present: int) -> str:
    if len(words) == 1:
        return f"it holds the same word in every row, {in_quotes(words[0])}"
    if (len(words) > 2 and 2 * len(words) > present) or len(max(words, key=len)) > MOST_NAME:
        return f"it holds names or texts, of which most occur once, such as {in_quotes(words[0])}"
    if len(words) > MOST_WORDS:
        return f"it holds {len(words):,} different words ({words_listed(words)}); up to {MOST_WORDS} become columns"
    return ""


def _called_id(name: str) -> bool:
    return len(name) < 50 and (_ID.fullmatch(name.lower()) or _CAMEL_ID.fullmatch(name)) is not None


def _counts(made: TableColumn, rows: int) -> bool:
    """Whether whole numbers tell the rows apart."""
    present = rows - made.gaps
    return present > 2 and len(made.values) == present and all(made.read(value).is_integer() for value in made.values)


# -- what is said of it


def _column_notes(columns: Sequence[TableColumn], label: TableColumn, missing: str | None) -> Iterator[str]:
    """Yield what became of the columns."""
    for each in columns:
        if each.odd:
            words = words_listed([in_quotes(text) for text in each.odd])
            yield f"Column {in_quotes(each.name)} holds numbers; {words} there counts as missing."
        if each is label:
            continue
        if each.aside:
            yield f"Column {in_quotes(each.name)} is set aside: {each.aside}."
        elif each.role == "words":
            text = f"Column {in_quotes(each.name)} holds words ({words_listed(each.words)})"
            two = f"1 stands for {in_quotes(each.words[-1])}"
            yield f"{text}: {two if len(each.words) == 2 else 'one column for each word'}."
        if not each.aside and each.gaps and missing == FILL:
            values = "1 missing value of {} is" if each.gaps == 1 else f"{each.gaps:,} missing values of {{}} are"
            yield f"{values.format(column(each.name))} filled in by {each.filling()[1]}."


def _roles(columns: Sequence[TableColumn], label: TableColumn, task: str) -> tuple[tuple[str, Role, str], ...]:
    """Return what each column became, in a few words."""

    def said(each: TableColumn) -> tuple[str, Role, str]:
        if each is label:
            return each.name, "target", "target: numbers" if task == "regression" else "target: classes"
        if each.aside:
            return each.name, "nothing" if each.role in ("numbers", "words") else each.role, each.aside
        count = len(each.names)
        words = "words as 1 column" if count == 1 else f"words as {count} columns"
        return each.name, each.role, "number" if each.role == "numbers" else words

    return tuple(map(said, columns))


def _first(frame: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    rows = frame.iloc[:SHOWN_ROWS, :SHOWN_COLUMNS].astype(object).itertuples(index=False, name=None)
    return tuple(
        tuple(one_line("" if isinstance(cell, float) and isnan(cell) else _text(cell), 40) for cell in row)
        for row in rows
    )


# -- the target


def _targets(columns: Sequence[TableColumn], left_out: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that can be predicted, the best guess first."""
    columns = [each for each in columns if each.name not in left_out] or columns
    able = [each for each in columns if _predictable(each)] or columns
    best = _guess(columns, able)
    return tuple(each.name for each in (best, *(other for other in able if other is not best)))


def _predictable(candidate: TableColumn) -> bool:
    present = len(candidate.codes) - candidate.gaps
    if candidate.aside:
        return candidate.role == "text" and 1 < len(candidate.values) <= max(MOST_CLASSES, present // 2)
    return candidate.role == "numbers" or len(candidate.values) > 1


def _guess(columns: Sequence[TableColumn], able: Sequence[TableColumn]) -> TableColumn:
    """Return the column that is called so, else the first where it alone holds words, else the last."""
    called = [
        each for each in columns if each.name.lower() in LABEL_NAMES and each.role in ("numbers", "words", "text")
    ]
    ends = [each for each in (columns[-1], columns[0]) if each in called]
    inner = [each for each in called if each.name.lower() != "y"]  # which may be a coordinate
    if ends or inner:
        return (ends + inner)[0]
    only = columns[0].role in ("words", "text") and columns[-1].role == "numbers"
    return columns[0] if only and columns[0] in able else able[-1]


def _check_used(columns: Sequence[TableColumn], label: TableColumn, used: Sequence[TableColumn], name: str) -> None:
    if used:
        return
    reasons = [f"{column(each.name)}: {each.aside}" for each in columns if each is not label][:3]
    raise DataError(f"{name} has nothing to predict {column(label.name)} from: {'; '.join(reasons)}.")


# -- missing values


class _Kept(NamedTuple):
    """Rows that are used, what is done where a value is missing, how many rows that concerns, and what to say of it."""

    rows: Rows
    missing: str | None
    gaps: int
    notes: tuple[str, ...]


def _kept(label: TableColumn, used: Sequence[TableColumn], asked: str | None) -> _Kept:
    labelled, total = ~label.missing, len(label.codes)
    if not labelled.any():
        raise DataError(f"Column {in_quotes(label.name)} is empty: choose another target.")
    whole = labelled.copy()
    for each in used:
        if each.gaps:
            whole &= ~each.missing
    gaps = int(labelled.sum() - whole.sum())
    notes = (f"{_counted(label.gaps)} left out, where {column(label.name)} is empty.",) if label.gaps else ()
    if not gaps:
        return _Kept(np.flatnonzero(labelled), None, 0, notes)
    missing = asked or (LEAVE_OUT if gaps <= FEW * total else FILL)
    if missing == FILL:
        return _Kept(np.flatnonzero(labelled), FILL, gaps, notes)
    if not whole.any():
        raise DataError("A value is missing in every row: fill in the missing values instead of leaving rows out.")
    return _Kept(
        np.flatnonzero(whole), LEAVE_OUT, gaps, (*notes, f"{_counted(gaps)} left out, where a value is missing.")
    )


def _counted(rows: int) -> str:
    return "1 row is" if rows == 1 else f"{rows:,} rows are"


def _values(used: Sequence[TableColumn], rows: Rows, progress: Progress) -> Array:
    """Return the numbers that kernels see (n, d), with missing values filled in."""
    X = np.empty((len(rows), sum(len(each.names) for each in used)))
    start = 0
    for k, each in enumerate(used):
        block = each.numbers(rows)
        if each.gaps:
            values, _ = each.filling()
            block = np.where(np.isnan(block), values, block)
        X[:, start : start + block.shape[1]] = block
        start += block.shape[1]
        progress((1.0 + k / len(used)) / 2)
    return X


# -- frames from Python


def from_frame(data: Any, options: TableOptions, name: str) -> Dataset:
    """Return the data set in a DataFrame of pandas, or of a library whose columns become NumPy arrays, as polars'."""
    import pandas as pd

    try:
        frame = (
            data
            if isinstance(data, pd.DataFrame)
            else pd.DataFrame({key: data[key].to_numpy() for key in data.columns})
        )
    except (AttributeError, TypeError):
        raise DataError(f"df must be a DataFrame, of pandas or polars, but {type(data).__name__} was given.") from None
    parts = (key if isinstance(key, tuple) else (key,) for key in frame.columns)
    names, notes = unique_names([" ".join(str(part) for part in key if part != "") for key in parts], name)
    frame = frame.set_axis(names, axis=1).set_axis(range(1, len(frame) + 1), axis=0)
    return dataset_from_frame(frame, options, name, Found(assumed=tuple(notes)))
