"""Texts of others in sentences: in quotes, on one line, without control characters, and cut to what can be read.

Stands on the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from html import escape

__all__ = [
    *("MOST_NAME", "MOST_SAID", "cell", "fact_table", "hint", "listed", "message_of", "named", "one_line", "quote"),
    *("suggestions", "table"),
]

MOST_NAME = 200  # letters of a label, a column's name or a path
MOST_SAID = 1000  # letters of a sentence
MOST_QUOTED, MOST_LISTED = 60, 12
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are wide

# signs and digits, as people of any country write a number: no spreadsheet can compute more from it
_NUMBER = re.compile(r"[+-](?:\d[\d.,' \u00a0\u202f]*|[.,]\d+)(?:[eE][+-]?\d+)?\s?%?|[+-](?:inf|nan)")


def one_line(text: str, most: int = MOST_SAID) -> str:
    """Return a text on one line of at most `most` letters, without what steers a terminal or turns letters round."""
    if len(text) <= most and text.isprintable() and "  " not in text:  # in a list of thousands, most are
        return text.strip()
    plain = "".join(sign if sign.isprintable() else _UNKNOWN for sign in " ".join(text[: 2 * most].split()))
    return plain if len(text) <= most else f"{plain[:most]}…"


def cell(value: object) -> object:
    """Return what stands in a cell of a table in text, which no spreadsheet is to take for a formula."""
    harmless = not isinstance(value, str) or not value.startswith(_FORMULA) or _NUMBER.fullmatch(value)
    return value if harmless else f"'{value}"


def message_of(error: BaseException) -> str:
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


# -- which names were perhaps meant by one that does not exist

ALIASES = {
    "chi2": ("chi-squared",),
    "circles": ("rings",),
    "cross-entropy": ("logistic",),
    "cutting-planes": ("silp", "level"),
    "digits": ("optdigits",),
    "gradient-descent": ("pgd",),
    "group-lasso": ("block-l1",),
    "histogram": ("intersection",),
    "l1": ("simplex", "l1-penalty"),
    "l2": ("lp-ball", "squared"),
    "lasso": ("simplex", "l1-penalty"),
    "logreg": ("logistic",),
    "moons": ("two_moons",),
    "mse": ("squared",),
    "one-vs-rest": ("one-against-all",),
    "ovr": ("one-against-all",),
    "rbf": ("gaussian",),
    "ridge": ("lp-ball", "squared"),
    "svc": ("hinge",),
    "svm": ("hinge",),
    "svr": ("epsilon-insensitive",),
}
"""What other programs call a kernel family, a loss, a regularizer, a solver or a data set."""
MOST = 3  # names that a sentence suggests
LONGEST = 40  # letters of a name that may be a misspelling
SHORTEST = 3  # letters of a name that may be the beginning of one
ALIKE = 0.72  # as difflib counts it: one letter in four may be wrong


def suggestions(name: str, known: Iterable[str]) -> list[str]:
    """Return those of the `known` names that `name` may stand for, the nearest first; mostly none."""
    wanted, known = _plain(name), list(known)
    others = [other for other in ALIASES.get(wanted, ()) if other in known]
    if others or len(wanted) > LONGEST:
        return others
    plain = {_plain(other): other for other in known}
    near = [plain[other] for other in get_close_matches(wanted, plain, MOST, ALIKE)]
    begun = [other for other in known if len(wanted) >= SHORTEST and _plain(other).startswith(wanted)]
    return list(dict.fromkeys([*near, *begun]))[:MOST]


def hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence on a name that does not exist: which were perhaps meant, or else all there are."""
    known = list(known)
    near = suggestions(name, known)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


# Small tables for notebooks, as plain HTML: values escaped, colours left to the notebook's theme.


_LEFT, _RIGHT = 'style="text-align:left"', 'style="text-align:right"'


def fact_table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a titled table of names and values; empty values are left out."""
    lines = (
        f"<tr><th {_LEFT}>{escape(name)}</th><td {_LEFT}>{escape(str(value))}</td></tr>"
        for name, value in rows
        if value != ""
    )
    return _table(title, "".join(lines))


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a titled table with a header row; the first column is text, the others are numbers."""

    def line(cells: Sequence[object], tag: str) -> str:
        styles = [_LEFT] + [_RIGHT] * (len(cells) - 1)
        return "".join(f"<{tag} {style}>{escape(str(c))}</{tag}>" for c, style in zip(cells, styles, strict=True))

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return _table(title, f"<thead><tr>{line(header, 'th')}</tr></thead><tbody>{body}</tbody>")


def _table(title: str, rows: str) -> str:
    return f'<table><caption style="text-align:left"><b>{escape(title)}</b></caption>{rows}</table>'
