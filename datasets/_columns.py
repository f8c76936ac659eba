"""What a column of a frame holds: numbers, words, or what no kernel learns from, which is set aside with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import MOST_NAME

from ._cells import (
    NO_NUMBER,
    NumberText,
    are_days,
    decimal_sign,
    in_quotes,
    is_date,
    is_measured,
    is_missing,
    is_number,
    numbers_as_written,
    numbers_in,
    short_number,
    target_name,
    words_listed,
)
from ._dataset import Array
from ._table_options import FileFacts, Progress, Role, TableOptions

if TYPE_CHECKING:
    import pandas as pd

MOST_WORDS = 20  # different words of a column that become columns
_NO_FEATURE = "the file says that it is no feature: to use it, take that out of the file"
_LONG = 10**11  # from which on whole numbers of one length are no measures
_MEAN_MISSING, _FAR = {9, 99, 999, 9999, 99999}, 5  # times as large as other numbers
ODD = 5  # of so many rows one may hold a word in a column of numbers
_ID = re.compile(
    r"id|index|idx|key|no\.|number|num|#|n[o°]|№|row|row[ _.-]?names?|row_?id|uu?id|\.\.\.1|level_0|.*_level_0__"
    r"|unnamed: 0(\.\d+)?|(lfd\.? ?)?nr\.?|nummer|numéro|номер|s/n|s(er|l|r)?\.? ?no\.?|.*[ _-](id|nr|no\.?|key)"
    r"|(row|serial|case|obs|observation|sample|subject|record|instance|participant|patient|entry|line)"
    r"[ _.-]?(number|num|nr|no\.?)?"
)
_HUNDREDS = re.compile(r"[+-]?[1-9]\d\d ?")
_IN_UNITS = re.compile(
    r"[+-]?(?!0\d)\d[\d.,]*(?!(?:st|nd|rd|th|[A-Z])$) ?((?:°|[^\W\d_]{1,9}/)?[^\W\d_]{1,9}|°)"
)  # 12 kg, 12km/h
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_CODE = re.compile(r"0\d+")
_CAMEL_ID = re.compile(r".*[a-z]I[dD]")

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column: `values` are what its cells hold, once each, `codes` which of them stands in each row, -1 for none.

    `parsed` are their numbers, nan where one is none; `aside` says why the column is not used; `unit` stands behind its
    numbers.
    """

    name: str
    values: Sequence[Any]
    codes: Rows
    parsed: Array
    role: Role = "nothing"
    aside: str = ""
    unit: str = ""
    odd: tuple[Any, ...] = field(default=())

    @property
    def missing(self) -> NDArray[np.bool_]:
        """In which rows its value is missing."""
        return (self.codes < 0) | _holding(self, self.odd) if self.odd else self.codes < 0

    @property
    def spelling(self) -> str:
        """What others need to know to read its cells alike: its unit, or "NA" where that is one of its words."""
        return self.unit or ("NA" if "NA" in self.values else "")

    @property
    def gaps(self) -> int:
        """In how many rows its value is missing."""
        return int(self.missing.sum())

    def texts(self) -> list[str]:
        """What its cells say, once each: numbers as programs write them."""
        if self.role != "numbers":
            return [_label(value, None) for value in self.values]
        return [*map(_label, self.values, self.parsed.tolist())]

    @property
    def words(self) -> list[str]:
        """Its different words."""
        return sorted(self.texts())

    @property
    def _shown(self) -> list[str]:
        return self.words[1:] if len(self.values) == 2 else self.words

    @property
    def _numbers(self) -> Array:
        """What kernels see of each value (values, columns): its number, or 1 where it is a column's word."""
        if self.role == "numbers":
            table = np.where(np.isfinite(self.parsed), self.parsed, np.nan).reshape(-1, 1)
        else:
            shown = self._shown
            table = np.array([[float(text == word) for word in shown] for text in self.texts()])
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
        counts, texts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.values)), self.texts()
        code = min(range(len(texts)), key=lambda k: (-counts[k], texts[k]))
        return self._numbers[code], in_quotes(texts[code])


def _label(value: Any, parsed: float | None) -> str:
    if isinstance(value, str):
        if parsed is None or (is_number(value) and parsed == float(value)):
            return value if parsed is None else short_number(value)
        return repr(parsed).removesuffix(".0")
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_columns(
    frame: pd.DataFrame, options: TableOptions, facts: FileFacts, progress: Progress
) -> tuple[list[TableColumn], list[str]]:
    """Return the columns, and notes on how their numbers are written."""
    raw = list[_Raw]()
    for j, (name, cells) in enumerate(frame.items()):
        raw.append(_once_each(str(name), cells, options.na, facts.spelling.get(str(name)) == "NA"))
        progress(j / frame.shape[1] / 4)
    file_sign = options.decimal or "".join(sorted({sign for each in raw for sign in each.sign}, reverse=True))
    columns, notes = [], dict[str, None]()
    for j, each in enumerate(raw):
        made = TableColumn(each.name, each.values, each.codes, _parsed(each, file_sign, facts, options), unit=each.unit)
        first = j == 0 and (facts.unnamed or (facts.header is False and frame.shape[1] > 2 and _one_by_one(made)))
        role = facts.roles.get(each.name, "")
        left = "you left it out" if each.name in options.leave_out else _NO_FEATURE * ("aside" in role)
        columns.append(_with_role(made, frame, first, "words" in role, left, options.target))
        if each.texts and columns[-1].role == "numbers":
            unsure = [] if each.sign or file_sign or options.thousands else [*_unsure(columns[-1], facts)]
            notes |= dict.fromkeys((*_written(columns[-1], each.usual), *unsure))
        notes |= dict.fromkeys(_may_be_missing(columns[-1]))
        progress((1 + j / frame.shape[1]) / 4)
    return columns, list(notes)


class _Raw(NamedTuple):
    """A column as it stands in a file: its values once each, texts or numbers, and where each of them stands.

    `usual` are their numbers, where all are written with one decimal sign and nothing else; `unit` stands behind them;
    `sign` is the decimal sign that the texts tell; those of `own` are of cells that hold numbers, and tell none.
    """

    name: str
    values: list[Any]
    codes: Rows
    texts: bool = False
    usual: Array | None = None
    unit: str = ""
    sign: str = "."
    own: frozenset[str] = frozenset()


def _once_each(name: str, cells: pd.Series, na: Sequence[str], called_na: bool) -> _Raw:
    """Return a column; "NA" is a value of it where it is known to be, or stands beside one other word."""
    import pandas as pd

    kind = cells.dtype
    if isinstance(kind, pd.CategoricalDtype):
        codes, values = np.asarray(cells.cat.codes, np.intp), kind.categories.tolist()
    elif kind.kind in "iuf":
        gone = [float(word) for word in na if is_number(word)]
        codes, unique = pd.factorize(_native(cells.mask(cells.isin(gone))) if gone else _native(cells))
        numbers = np.asarray(unique, np.float64)
        return _Raw(name, numbers.tolist(), np.asarray(codes, np.intp), usual=numbers)
    else:
        try:
            codes, distinct = pd.factorize(_native(cells))
        except TypeError:  # lists and other values that cannot be told apart
            codes, distinct = pd.factorize(cells.map(cell_text))
        values = (distinct.to_numpy() if kind.kind == "O" and isinstance(kind, np.dtype) else distinct).tolist()
    texts = [*map(cell_text, values)]
    own = frozenset(text for text, value in zip(texts, values, strict=True) if _is_number(value))
    usual = None if na else _usual(texts)
    if usual is None or not np.isfinite(usual).all() or len({*texts}) < len(texts):
        kept: dict[str, int] = {}
        blank = {text for text in texts if is_missing(text, na)}
        words = [text for text in texts if text not in blank]
        called_na = called_na or (len(words) == 1 and not is_measured(words[0]) and "NA" not in na)
        blank -= {"NA"} if called_na else set()
        place = [-1 if text in blank else kept.setdefault(text, len(kept)) for text in texts]
        codes, texts = np.array([*place, -1], np.intp)[codes], list(kept)
        usual = _usual(texts)
    unit = unit_of(texts) if usual is None else ""
    plain = [text.removesuffix(unit) for text in texts if text not in own]
    return _Raw(name, texts, np.asarray(codes, np.intp), True, usual, unit, _sign(plain, usual is not None), own)


def _is_number(value: Any) -> bool:
    return isinstance(value, NumberText | int | float | np.integer | np.floating) and not isinstance(value, bool)


def _native(cells: pd.Series) -> Any:
    """Return the values of a column in this machine's order of bytes, which pandas wants."""
    order = getattr(cells.dtype, "byteorder", "=")
    return cells.array if order in "=|" else cells.astype(cells.dtype.newbyteorder("=")).array  # type: ignore[union-attr]


def cell_text(value: Any) -> str:
    """Return what a cell says; that of bytes in UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip()
    return "" if value is None else str(value).strip().removesuffix(" 00:00:00")


def _sign(texts: Sequence[str], usual: bool) -> str:
    """Return what the texts of a column tell of the decimal sign: all with commas are looked at, of others some."""
    points, commas = (text for text in texts[:1000] if "." in text), (text for text in texts if "," in text)
    if usual:  # with one sign alone, of which one that tells is enough
        return next(filter(None, (decimal_sign([text]) for text in chain(points, commas))), "")
    return decimal_sign([*commas, *points])


def _usual(texts: Sequence[str]) -> Array | None:
    """Return the numbers in texts that are all written with points, or all with commas; None for others."""
    numbers = numbers_as_written(texts)
    return numbers_as_written(texts, ",") if numbers is None else numbers


def _parsed(column: _Raw, file_sign: str, facts: FileFacts, options: TableOptions) -> Array:
    """Return the numbers of the values of a column: by its own decimal sign, else that of the others."""
    if not column.texts and column.usual is not None:
        return column.usual
    unit, sign = column.unit or facts.spelling.get(column.name, ""), column.sign
    plain = [text.removesuffix(unit) for text in column.values] if unit else column.values
    if not sign:
        usual = facts.decimal if any("," in text for text in plain) else "."
        if file_sign != "," and usual == ",":  # between semicolons, one of 355 beside many as 3,432 may be whole
            hundreds = sum(_HUNDREDS.fullmatch(text) is not None for text in plain)
            usual = "." if hundreds and ODD * hundreds >= len(plain) else usual
        clear = file_sign == "." or (file_sign == "," and facts.decimal == ",")  # beside commas, points are decimal
        sign = file_sign if clear else usual
    decimal = options.decimal or (sign if len(sign) == 1 else "")
    if not decimal and not options.thousands and all(text.count(",") + text.count(".") < 2 for text in plain):
        commas = [decimal_sign([text]) for text in plain if "," in text]
        if 2 * commas.count("") <= len(commas):  # most are decimal without doubt, so the others, such as 1,234, are too
            plain, decimal = [text.replace(",", ".") for text in plain], "."
    numbers = numbers_in(plain, decimal, options.thousands)
    own = [k for k, text in enumerate(column.values) if text in column.own]
    numbers[own] = [float(column.values[k]) for k in own]
    return numbers


def unit_of(texts: Sequence[str]) -> str:
    """Return the unit that stands behind each number of a column; "" where none does."""
    some = (text for text in texts if text.lower() not in NO_NUMBER)
    numbers = (None if text[-1:].isdecimal() else _IN_UNITS.fullmatch(text) for text in some)
    units = {match[1] if match else "" for match in numbers}
    return units.pop() if len(units) == 1 else ""


def _written(column: TableColumn, usual: Array | None) -> Iterator[str]:
    """Yield what is worth knowing of how the numbers of a column are written; `usual` are those of one decimal sign."""
    mentioned, pairs = False, [*zip(column.values, column.parsed.tolist(), strict=True)]
    if usual is not None and np.array_equal(usual, column.parsed):
        pairs = [pair for pair in pairs if "," in pair[0] or (pair[0].startswith("0") and pair[0].isdigit())]
    for text, value in pairs:
        if text in column.odd or (is_number(text) and value == float(text) and not _CODE.fullmatch(text)):
            continue
        if _COMMA.fullmatch(text) and value == float(text.replace(",", ".")):
            yield "Commas in numbers are read as decimal points."
        elif not mentioned:
            mentioned = True
            yield f"Column {in_quotes(column.name)}: {in_quotes(text)} is read as {value:g}, and others likewise."


def _unsure(column: TableColumn, facts: FileFacts) -> Iterator[str]:
    """Yield what may be thousands or decimals: three digits behind a comma, beside hundreds that have none."""
    pairs = [*zip(column.values, column.parsed.tolist(), strict=True)]
    apart = [pair for pair in pairs if "," in pair[0] or (facts.decimal == "," and "." in pair[0])]
    apart = [pair for pair in apart if isfinite(pair[1])]
    hundreds = [text for text, _ in pairs if _HUNDREDS.fullmatch(text.removesuffix(column.unit))] if apart else []
    if hundreds:
        read = f"{in_quotes(apart[0][0])} beside {in_quotes(hundreds[0])} is read as {apart[0][1]:g}"
        yield f"Column {in_quotes(column.name)}: {read}, which may be wrong: the decimal sign can be chosen."


def _may_be_missing(column: TableColumn) -> Iterator[str]:
    """Yield what is said of a number far from all others by which programs mark a missing value, such as -999."""
    if column.role != "numbers" or column.aside:
        return
    numbers = np.unique(column.parsed[np.isfinite(column.parsed)])
    for marked in (numbers.min(), numbers.max()) if len(numbers) > 2 else ():
        others = numbers[numbers != marked]
        far = _FAR * np.abs(others).max() < abs(marked) or (marked < -9 and others.min() >= 0)
        if abs(marked) in _MEAN_MISSING and far:
            what = f"Column {in_quotes(column.name)} holds {marked:g}, far from its other numbers"
            yield f"{what}: where a value is missing there, add it to the missing words (na)."


def _with_role(
    made: TableColumn, frame: pd.DataFrame, unnamed: bool, words: bool, left: str, target: str | None
) -> TableColumn:
    """Return a column with what it holds, and why it is not used; `left`: why others want that."""
    rows = len(made.codes)
    role, aside, odd = _role(made, frame.index, words)
    made = replace(made, role=role, aside=aside, odd=odd)
    if role == "numbers" and (unnamed or called_id(made.name)) and _counts(made, rows):
        made = replace(made, role="identifier", aside="it numbers the rows")
    digits = role == "numbers" and all(isinstance(value, str) and value.isdecimal() for value in made.values)
    long = digits and made.parsed.min() >= _LONG and np.ptp(np.log10(made.parsed) // 1) == 0
    predicted = made.name in (target, str(frame.columns[-1])) or target_name(made.name)
    if long and not predicted and not made.aside and _counts(made, rows):
        made = replace(made, role="identifier", aside="its long numbers tell the rows apart")
    if not made.aside and 2 * made.gaps > rows:
        made = replace(made, role="nothing", aside=f"a value is missing in {made.gaps:,} of {rows:,} rows")
    return replace(made, aside=left) if left and made.name != target else made


def _role(made: TableColumn, lines: Any, words: bool) -> tuple[Role, str, tuple[Any, ...]]:
    values, present = made.values, len(made.codes) - made.gaps
    if not values:
        return "nothing", "it is empty", ()
    if words and not _too_many(values, present):
        return "words", "", ()
    finite = np.isfinite(made.parsed)
    others = [] if finite.all() else [value for value, known in zip(values, finite, strict=True) if not known]
    if not others:
        days = f"it holds dates, such as {int(made.parsed[0])}" if are_days(made.parsed, made.name) else ""
        return "date" if days else "numbers", days, ()
    if len(others) == len(values) and not any(isinstance(value, str) and not is_number(value) for value in others):
        return "nothing", f"{_seen(made, others, lines)} is not a finite number", ()
    if len(others) == len(values) and all(map(is_date, others)):
        return "date", f"it holds dates or times, such as {in_quotes(min(others))}", ()
    odd = int(_holding(made, [value for value in others if str(value).lower() not in NO_NUMBER]).sum())
    if ODD * odd <= present and len(values) - len(others) > 2:
        return "numbers", "", tuple(others)
    often = len(values) <= MOST_WORDS and 3 * len(values) <= present
    grades = often and not any(is_number(str(value)) for value in others)
    if 2 * (present - odd) >= present and not grades:
        what = "a number" if any(not is_number(str(value)) for value in others) else "a finite number"
        return "nothing", f"it holds numbers, but {_seen(made, others, lines)}, which is not {what}", ()
    aside = _too_many(sorted(values), present)
    return "text" if aside else "words", aside, ()


def _holding(made: TableColumn, values: Sequence[Any]) -> NDArray[np.bool_]:
    """In which rows one of some values stands."""
    wanted = {*values}
    return np.array([*(value in wanted for value in made.values), False])[made.codes]


def _seen(made: TableColumn, values: Sequence[Any], lines: Any) -> str:
    """Return the first cell that holds one of some values, and where it stands."""
    row = int(_holding(made, values).argmax())
    return f"{in_quotes(str(made.values[made.codes[row]]))} in row {lines[row]}"


def _too_many(words: Sequence[str], present: int) -> str:
    if len(words) == 1:
        return f"it holds the same word in every row, {in_quotes(words[0])}"
    if (len(words) > 2 and 2 * len(words) > present) or len(max(words, key=len)) > MOST_NAME:
        return f"it holds names or texts, of which most occur once, such as {in_quotes(words[0])}"
    if len(words) > MOST_WORDS:
        return f"it holds {len(words):,} different words ({words_listed(words)}); up to {MOST_WORDS} become columns"
    return ""


def called_id(name: str) -> bool:
    """Whether a column is called as those of identifiers are, also with the name of its view before it."""
    called = (name.lower(), name.lower().rpartition(": ")[2])
    return len(name) < 50 and (any(map(_ID.fullmatch, called)) or _CAMEL_ID.fullmatch(name) is not None)


def _one_by_one(made: TableColumn) -> bool:
    """Whether a column goes up by one from row to row."""
    return len(made.values) == len(made.codes) and bool((made.parsed[1:] == made.parsed[:-1] + 1).all())


def _counts(made: TableColumn, rows: int) -> bool:
    """Whether whole numbers tell the rows apart."""
    present = rows - made.gaps
    apart = present > 2 and len(made.values) == present and bool(np.isfinite(made.parsed).all())
    return apart and bool((made.parsed % 1 == 0).all())
