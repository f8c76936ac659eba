"""Texts of others in sentences: in quotes, on one line, without control characters, and cut to what can be read.

Stands on the standard library alone.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MOST_NAME", "MOST_SAID", "cell", "listed", "named", "one_line", "quote", "said_by"]

MOST_NAME = 200  # letters of a label, a column's name or a path
MOST_SAID = 1000  # letters of a sentence
MOST_QUOTED, MOST_LISTED = 60, 12
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are wide


def one_line(text: str, most: int = MOST_SAID) -> str:
    """Return a text on one line of at most `most` letters, without what steers a terminal or turns letters round."""
    if len(text) <= most and text.isprintable() and "  " not in text:  # in a list of thousands, most are
        return text.strip()
    plain = "".join(sign if sign.isprintable() else _UNKNOWN for sign in " ".join(text[: 2 * most].split()))
    return plain if len(text) <= most else f"{plain[:most]}…"


def cell(value: object) -> object:
    """Return what stands in a cell of a table in text, which no spreadsheet is to take for a formula."""
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def said_by(error: BaseException) -> str:
    """Return what an error says, on one line; "" where it cannot say it."""
    try:
        return one_line(str(error))
    except Exception:  # an error of others, whose words are made by their code
        return ""


def quote(text: str) -> str:
    """Return a text in quotes, cut to what fits into a sentence."""
    return repr(text) if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]!r}… ({len(text):,} letters)"


def named(text: str) -> str:
    """Return a file's name without control characters; of a long one its ends."""
    plain = one_line(text, len(text))
    return plain if len(plain) <= MOST_QUOTED else f"{plain[:20]}…{plain[-30:]}"


def listed(names: Sequence[str]) -> str:
    """Return names as a list, the first of them where there are many."""
    some = ", ".join(name if len(name) <= MOST_QUOTED else f"{name[:MOST_QUOTED]}…" for name in names[:MOST_LISTED])
    return some if len(names) <= MOST_LISTED else f"{some} and {len(names) - MOST_LISTED:,} more"
