"""What a column of a table holds: numbers, words, or what no kernel learns from, which is set aside with a reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import MOST_NAME

from ._cells import in_quotes, is_date, is_missing, is_number, words_listed
from ._dataset import Array

__all__ = ["MOST_WORDS", "TableColumn", "describe", "read_column"]

MOST_WORDS = 20  # different words of a column that become columns
_ID = re.compile(r"id|index|idx|key|nr|no|no\.|number|#|row|uuid|unnamed: 0|.*[ _-](id|nr|no|key)|.*_level_0__")
_CAMEL_ID = re.compile(r".*[a-z]I[dD]")

Kind = Literal["numbers", "words", "neither"]


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column; `aside` says why it is not used, `words` are its different words, sorted."""

    name: str
    cells: Sequence[str]
    missing: NDArray[np.bool_]
    kind: Kind
    aside: str = ""
    words: tuple[str, ...] = ()

    @property
    def gaps(self) -> int:
        """In how many rows its value is missing."""
        return int(self.missing.sum())

    def numbers(self, rows: NDArray[np.intp]) -> Array:
        """Return what kernels see of some rows (n, columns): numbers, or 1 where a word stands; nan where missing."""
        if self.kind == "numbers":
            return np.array([nan if self.missing[i] else float(self.cells[i]) for i in rows])[:, None]
        place = {word: k for k, word in enumerate(self.words)}
        codes = np.array([place.get(cell, -1) for cell in self.cells])[rows]
        values = (codes[:, None] == np.arange(len(self.words))).astype(np.float64)
        values[codes < 0] = np.nan
        return values[:, 1:] if len(self.words) == 2 else values

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
            values = self.numbers(np.flatnonzero(~self.missing))
            return np.median(values, axis=0), "its median"
        counted = Counter(cell for cell, absent in zip(self.cells, self.missing, strict=True) if not absent)
        word = min(counted, key=lambda cell: (-counted[cell], cell))
        return self.numbers(np.array([self.cells.index(word)]))[0], in_quotes(word)


def read_column(name: str, cells: Sequence[str], lines: Sequence[int], first_without_name: bool = False) -> TableColumn:
    """Return what a column holds; `lines` are the rows of its cells in the file."""
    absent = {cell for cell in set(cells) if is_missing(cell)}
    missing = np.fromiter((cell in absent for cell in cells), bool, len(cells))
    words = tuple(sorted(set(cells) - absent))
    kind, aside = _kind(cells, words, lines, len(cells) - int(missing.sum()))
    if kind == "numbers" and (first_without_name or _called_id(name)) and _counts(words, len(cells)):
        kind, aside = "neither", "it numbers the rows"
    if not aside and 2 * missing.sum() > len(cells):
        aside = f"a value is missing in {missing.sum():,} of {len(cells):,} rows"
    return TableColumn(name, cells, missing, kind, aside, words if kind == "words" else ())


def _kind(cells: Sequence[str], words: tuple[str, ...], lines: Sequence[int], present: int) -> tuple[Kind, str]:
    if not words:
        return "neither", "it is empty"
    others = [word for word in words if not is_number(word)]
    if not others:
        return "numbers", _not_finite(cells, words, lines)
    if all(map(is_date, others)) and len(others) == len(words):
        return "neither", f"it holds dates or times, such as {in_quotes(words[0])}"
    odd = set(others)
    where = next(i for i, cell in enumerate(cells) if cell in odd)
    seen = f"{in_quotes(cells[where])} in row {lines[where]}"
    if any("," in word and is_number(word.replace(",", "")) for word in others):
        return "neither", (
            f"its numbers have commas ({seen}); write decimal points, or separate the columns by semicolons"
        )
    numeric = sum(cell not in odd and not is_missing(cell) for cell in cells) if len(others) < len(words) else 0
    if 2 * numeric >= present:
        return "neither", f"it holds numbers, but {seen}, which is not a number"
    return "words", _too_many(words, present)


def _not_finite(cells: Sequence[str], words: tuple[str, ...], lines: Sequence[int]) -> str:
    wrong = {word for word in words if not np.isfinite(float(word))}
    where = next((i for i, cell in enumerate(cells) if cell in wrong), None)
    return "" if where is None else f"{in_quotes(cells[where])} in row {lines[where]} is not a finite number"


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


def describe(found: TableColumn) -> str:
    """Return what was made of a column of words."""
    said = f"Column {in_quotes(found.name)} holds words ({words_listed(found.words)})"
    two = f"1 stands for {in_quotes(found.words[-1])}"
    return f"{said}: {two if len(found.words) == 2 else 'one column for each word'}."
