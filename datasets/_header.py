"""Whether the first row of a table holds the names of its columns, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence

from mklviz.quoting import MOST_NAME

from ._cells import DECIMAL_COMMA, in_quotes, is_date, is_missing, is_number
from ._dataset import DataError

__all__ = ["column_names", "header_is_first"]


def column_names(first: Sequence[str], header: bool, name: str) -> list[str]:
    """Return what the columns are called, by the cells of the first row where that holds names."""
    names = [(cell if header else "") or f"column {j + 1}" for j, cell in enumerate(first)]
    _check_names(names, name)
    return names


def _check_names(names: Sequence[str], name: str) -> None:
    seen: set[str] = set()
    for j, cell in enumerate(names):
        if len(cell) > MOST_NAME:
            raise DataError(
                f"Column {j + 1} of {name} has a name of {len(cell):,} letters; a name has at most {MOST_NAME}."
            )
        if cell in seen:
            raise DataError(f"Two columns of {name} are called {in_quotes(cell)}; give each its own name.")
        seen.add(cell)


def header_is_first(columns: Sequence[Sequence[str]]) -> bool:
    """Whether the first row looks as if it held names: words above numbers, or words that do not come again below.

    Numbers above numbers say that it does not, unless they count the columns beside one whose name is a word.
    """
    first, below = [cells[0] for cells in columns], [cells[1:] for cells in columns]
    counts = _counts_columns(first)
    asked = [(cell, others) for cell, others in zip(first, below, strict=True) if not (counts and is_number(cell))]
    votes = [_by_kind(cell, others) for cell, others in asked]
    if not any(votes):
        votes = [_by_word(cell, others) for cell, others in asked]
    return sum(votes) >= 0 and not all(map(is_number, first))


def _counts_columns(first: list[str]) -> bool:
    """Whether the numbers of a row go 0, 1, 2 or 1, 2, 3 and so on, as pandas names columns that have no names."""
    numbers = [cell for cell in first if is_number(cell)]
    return len(numbers) > 2 and any(numbers == [f"{start + k}" for k in range(len(numbers))] for start in (0, 1))


def _by_kind(cell: str, below: Sequence[str]) -> int:
    """Return 1 for a word above numbers or dates, -1 for one of these above more of them, 0 above words."""
    present = [other for other in below if not is_missing(other)]
    if is_missing(cell) or 2 * sum(map(_is_measured, present)) < max(len(present), 1):
        return 0
    return -1 if _is_measured(cell) else 1


def _by_word(cell: str, below: Sequence[str]) -> int:
    """Return 1 for a word above others that are few, -1 for one of these few."""
    words = set(below)
    return 0 if 2 * len(words) > len(below) else -1 if cell in words else 1


def _is_measured(cell: str) -> bool:
    return is_number(cell) or is_date(cell) or DECIMAL_COMMA.fullmatch(cell) is not None
