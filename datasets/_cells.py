"""What a cell of a table says, as text: a number, a date, a word, or that its value is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mklviz.quoting import one_line

__all__ = ["DECIMAL_COMMA", "column", "in_quotes", "is_date", "is_missing", "is_number", "words_listed"]

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
WRITTEN_BY_EXCEL = ("#n/a", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?")
MISSING = frozenset(("", "?", "-", ".", "na", "n/a", "nan", "null", "<na>", "missing", *WRITTEN_BY_EXCEL))
_DAY = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
_DATE = re.compile(rf"{_DAY}([ T]+{_TIME})?(Z|[+-]\d{{2}}:?\d{{2}})?|{_TIME}")
_LONGEST_DATE = 40  # letters
MOST_QUOTED, MOST_LISTED = 40, 5


def is_missing(text: str) -> bool:
    """Whether a cell says that its value is missing."""
    return text.lower() in MISSING if len(text) < 10 else False


def is_number(text: str) -> bool:
    """Whether a cell holds a number, which may be infinite."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_date(text: str) -> bool:
    """Whether a cell holds a date, a time of day or both."""
    return len(text) <= _LONGEST_DATE and _DATE.fullmatch(text) is not None


def in_quotes(text: str) -> str:
    """Return a text of others in double quotes, on one line and cut to what fits into a sentence."""
    return f'"{one_line(text, MOST_QUOTED)}"'


def column(name: str) -> str:
    """Return what a sentence calls a column."""
    return f"column {in_quotes(name)}"


def words_listed(words: Sequence[str]) -> str:
    """Return some words of a column, the first of them where there are many."""
    some = ", ".join(one_line(word, MOST_QUOTED) for word in words[:MOST_LISTED])
    return some if len(words) <= MOST_LISTED else f"{some}, ..."
