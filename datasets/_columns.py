"""What a column of a table holds: numbers, words, or what no kernel learns from, which is set aside with a reason."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import MOST_NAME

from ._cells import in_quotes, is_date, is_missing, is_number, words_listed
from ._dataset import Array

__all__ = ["MOST_WORDS", "Cells", "TableColumn", "describe", "read_column"]

MOST_WORDS = 20  # different words of a column that become columns
_ID = re.compile(r"id|index|idx|key|nr|no|no\.|number|#|row|uuid|unnamed: 0|.*[ _-](id|nr|no|key)|.*_level_0__")
_CAMEL_ID = re.compile(r".*[a-z]I[dD]")

Kind = Literal["numbers", "words", "neither"]


class Cells(dict[str, int]):
    """The cells of a column: `texts`, what they say, once each; `codes`, which of them stands in each row."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self.clean, self.texts, self.codes = clean, list[str](), array("i")

    def __missing__(self, read: str) -> int:
        text = self.clean(read)
        if text == read:
            self[read] = len(self.texts)
            self.texts.append(text)
        else:
            self[read] = self[text]
        return self[read]

    def add(self, cells: Sequence[str]) -> None:
        """Add those of some rows."""
        self.codes.extend(map(self.__getitem__, cells))


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column: `texts` are what its cells say, once each, `codes` which of them stands in each row.

    `absent`: which texts say that the value is missing; `aside` says why the column is not used; `words` are those of a
    column of words, sorted.
    """

    name: str
    texts: Sequence[str]
    codes: NDArray[np.intc]
    absent: NDArray[np.bool_]
    kind: Kind = "neither"
    aside: str = ""
    words: tuple[str, ...] = ()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """In which rows its value is missing."""
        return self.absent[self.codes]

    @property
    def gaps(self) -> int:
        """In how many rows its value is missing."""
        return int(self.missing.sum())

    def saying(self, texts: Collection[str]) -> NDArray[np.bool_]:
        """In which rows one of some texts stands."""
        return np.fromiter((text in texts for text in self.texts), bool, len(self.texts))[self.codes]

    @property
    def _values(self) -> Array:
        """What kernels see of each text (texts, columns): its number, or 1 where it is a column's word."""
        pairs = list(zip(self.texts, self.absent, strict=True))
        if self.kind == "numbers":
            return np.array([[nan if absent else float(text)] for text, absent in pairs])
        shown = self.words[1:] if len(self.words) == 2 else self.words
        return np.array([[nan if absent else float(text == word) for word in shown] for text, absent in pairs])

    def numbers(self, rows: NDArray[np.intp]) -> Array:
        """Return what kernels see of some rows (n, columns): numbers, or 1 where a word stands; nan where missing."""
        return self._values[self.codes[rows]]

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of `numbers` are called."""
        if self.kind == "numbers":
            return (self.name,)
        shown = self.words[1:] if len(self.words) == 2 else self.words
        return tuple(f"{self.name}={word}" for word in shown)

    def filling(self) -> tuple[Array, str]:
        """Return what stands for a missing value, for each of the columns of `numbers`, and what it is called."""
        if self.kind == "numbers":
            return np.median(self.numbers(np.flatnonzero(~self.missing)), axis=0), "its median"
        counts = np.bincount(self.codes, ~self.absent[self.codes], len(self.texts))
        code = min(range(len(self.texts)), key=lambda k: (-counts[k], self.texts[k]))
        return self._values[code], in_quotes(self.texts[code])


def read_column(name: str, cells: Cells, lines: Sequence[int], first_without_name: bool = False) -> TableColumn:
    """Return what a column holds; `lines` are the rows of its cells in the file."""
    absent = np.fromiter(map(is_missing, cells.texts), bool, len(cells.texts))
    column = TableColumn(name, cells.texts, np.frombuffer(cells.codes, np.intc), absent)
    rows, gaps = len(column.codes), column.gaps
    words = tuple(sorted(text for text in cells.texts if not is_missing(text)))
    kind, aside = _kind(column, words, lines, rows - gaps)
    if kind == "numbers" and (first_without_name or _called_id(name)) and _counts(words, rows):
        kind, aside = "neither", "it numbers the rows"
    if not aside and 2 * gaps > rows:
        aside = f"a value is missing in {gaps:,} of {rows:,} rows"
    return replace(column, kind=kind, aside=aside, words=words if kind == "words" else ())


def _kind(column: TableColumn, words: tuple[str, ...], lines: Sequence[int], present: int) -> tuple[Kind, str]:
    if not words:
        return "neither", "it is empty"
    others = {word for word in words if not is_number(word)}
    if not others:
        return "numbers", _not_finite(column, words, lines)
    if all(map(is_date, others)) and len(others) == len(words):
        return "neither", f"it holds dates or times, such as {in_quotes(words[0])}"
    seen = _seen(column, others, lines)
    if any("," in word and is_number(word.replace(",", "")) for word in others):
        return "neither", (
            f"its numbers have commas ({seen}); write decimal points, or separate the columns by semicolons"
        )
    if 2 * (present - column.saying(others).sum()) >= present:
        return "neither", f"it holds numbers, but {seen}, which is not a number"
    return "words", _too_many(words, present)


def _seen(column: TableColumn, texts: Collection[str], lines: Sequence[int]) -> str:
    """Return the first cell that says one of some texts, and where it stands."""
    row = int(column.saying(texts).argmax())
    return f"{in_quotes(column.texts[column.codes[row]])} in row {lines[row]}"


def _not_finite(column: TableColumn, words: tuple[str, ...], lines: Sequence[int]) -> str:
    wrong = {word for word in words if not isfinite(float(word))}
    return f"{_seen(column, wrong, lines)} is not a finite number" if wrong else ""


def _too_many(words: tuple[str, ...], present: int) -> str:
    if len(words) == 1:
        return f"it holds the same word in every row, {in_quotes(words[0])}"
    if (len(words) > 2 and 2 * len(words) > present) or len(max(words, key=len)) > MOST_NAME:
        return f"it holds names or texts, of which most occur once, such as {in_quotes(words[0])}"
    if len(words) > MOST_WORDS:
        return f"it holds {len(words):,} different words ({words_listed(words)}); up to {MOST_WORDS} become columns"
    return ""


def _called_id(name: str) -> bool:
    return len(name) < 50 and (_ID.fullmatch(name.lower()) or _CAMEL_ID.fullmatch(name)) is not None


def _counts(words: tuple[str, ...], rows: int) -> bool:
    """Whether whole numbers tell the rows apart."""
    return rows > 2 and len(words) == rows and all(word.lstrip("+-").removesuffix(".0").isdigit() for word in words)


def describe(column: TableColumn) -> str:
    """Return what was made of a column of words."""
    text = f"Column {in_quotes(column.name)} holds words ({words_listed(column.words)})"
    two = f"1 stands for {in_quotes(column.words[-1])}"
    return f"{text}: {two if len(column.words) == 2 else 'one column for each word'}."
