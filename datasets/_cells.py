"""What a cell of a table says: a number as people write it, a date, a word, or that its value is missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import date
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from mklviz.quoting import one_line

_WRITTEN_BY_EXCEL = ("#n/a", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?")
_WORDS = (r"\n", "na", "n/a", "nan", "nat", "null", "<na>", "missing", *_WRITTEN_BY_EXCEL)
MISSING = frozenset(("", "?", "-", ".", *_WORDS))
NO_NUMBER = frozenset(("none", "n.a.", "nil", "*", "--", "—"))  # missing among numbers, and words among words
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_WRITTEN = rf"\d{{1,2}}[- ]{_MONTH}[-, ]+\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
_NUMBERED = r"\d{4}-\d{2}|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
_DAY = rf"([a-z]{{3,9}}, )?({_NUMBERED}|{_WRITTEN})"
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?"
_DATE = re.compile(rf"{_DAY}([ T]+{_TIME})?( ?(Z|UTC|GMT)| ?[+-]\d{{2}}:?\d{{2}})?|{_TIME}", re.IGNORECASE)
_SURELY = 10  # days written as numbers
_CAMEL = re.compile("(?<=[a-z])(?=[A-Z])")
_OF_TIME = re.compile(
    r"(?<![^\W\d_])(dates?|\w*datum|fecha|dob|birth(day|date)?|born|months?|monat|mois|periods?|yyyy(mm)?(dd)?)(?![^\W\d_])",
    re.IGNORECASE,
)
_LONGEST_DATE, _LONGEST_NUMBER = 40, 60  # letters
MOST_QUOTED, MOST_LISTED = 40, 5
LABEL_NAMES = ("class", "label", "labels", "target", "y", "outcome", "response", "diagnosis", "species")

_CURRENCY = r"(US|CA|AU|HK|R)?[$€£¥₹%]|USD|EUR|GBP|CHF|INR|Rs\b\.?"
_UNITS = re.compile(rf"""\s*({_CURRENCY})\s*|^'|^="|"$""")  # and what spreadsheets write around a number to keep it so
_AS_IT_IS = re.compile(r"[+-]?[\d.,]+")
_SIGN_APART = re.compile(r"([+-]) +(?=[\d.])")  # in accounts
_SIGN_BEHIND = re.compile(r"([\d.,]*\d[.,]\d+)-")
_EXPONENT = re.compile(r"(?<=[\d.])[dD](?=[+-]?\d)")  # Fortran's
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"})
_BETWEEN = re.compile(r"(?<=\d)['’ \u00a0\u2009\u202f](?=\d{3}(?!\d))")  # thousands, but for commas and points
_GROUPED = {
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?"),  # groups of two in India
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?"),
}
_FRACTION = re.compile(r"[+-]?\d*([.,])\d*([eE][+-]?\d+)?")


class NumberText(str):
    """What a cell says that holds a number, so that no sign chosen for texts changes it."""


def is_missing(text: str, words: Collection[str] = ()) -> bool:
    """Whether a cell says that its value is missing, by itself or in some words of one's own."""
    return (len(text) < 10 and text.lower() in MISSING) or text in words


def is_number(text: str) -> bool:
    """Whether a cell holds a number as programs write it, which may be infinite."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def short_number(text: str) -> str:
    """Return a whole number without the power of ten that numpy.savetxt writes, any other text as it is."""
    whole = "e" in text.lower() and is_number(text) and float(text).is_integer() and abs(float(text)) < 1e15
    return str(int(float(text))) if whole else text


def is_measured(text: str) -> bool:
    """Whether a cell holds a number, however it is written, or a date."""
    return is_number(text) or is_date(text) or not isnan(number(text, ""))


def number(text: str, decimal: str = ".", thousands: str | None = None) -> float:
    """Return the number that a cell holds, with this decimal sign, as people write it; nan where it holds none.

    Thousands are set apart by `thousands`, or by what is no decimal sign; "" as `decimal` takes either. What is a
    number to programs is that number, where its point is the decimal sign.
    """
    if decimal != "," and thousands != "." and is_number(text):
        return float(text)
    plain = _plain(text)
    for sign in decimal or ".,":
        apart = thousands or ("," if sign == "." else ".")
        if apart in _GROUPED and _GROUPED[apart].fullmatch(plain):
            plain = plain.replace(apart, "")
        if sign == "." or "." not in plain:
            with suppress(ValueError):
                return float(plain.replace(sign, ".")) if "_" not in plain else nan
    return nan


def numbers_as_written(texts: Sequence[str], decimal: str = ".") -> NDArray[np.float64] | None:
    """Return the numbers in texts that are all written as programs do but for their decimal sign; None for others."""
    together, comma = "".join(texts), decimal == ","
    if "_" in together or (comma and ("." in together or max(map(len, texts), default=0) > _LONGEST_NUMBER)):
        return None
    try:
        numbers = np.array([text.replace(",", ".") for text in texts] if comma else texts, object).astype(np.float64)
    except ValueError:
        return None
    return None if comma and not np.isfinite(numbers).all() else numbers


def numbers_in(texts: Sequence[str], decimal: str, thousands: str | None) -> NDArray[np.float64]:
    """Return what `number` says of each text, of all at once where they are as programs write them."""
    usual = thousands != ("," if decimal == "," else ".")
    numbers = numbers_as_written(texts, decimal) if usual else None
    return np.array([number(text, decimal, thousands) for text in texts]) if numbers is None else numbers


def mostly_measured(texts: Sequence[str]) -> bool:
    """Whether half of the cells that hold anything are numbers or dates."""
    for sign in ".,":
        numbers = numbers_as_written(texts, sign)
        if numbers is not None and len(numbers):
            return not np.isnan(numbers).all()
    present = [text for text in texts if not is_missing(text)]
    return 2 * sum(map(is_measured, present)) >= max(len(present), 1)


def _plain(text: str) -> str:
    """Return a number without currency, per cent and blanks between thousands; "" where it is none."""
    if len(text) > _LONGEST_NUMBER or not any(map(str.isdigit, text)):
        return ""
    if _AS_IT_IS.fullmatch(text):
        return text
    plain = _EXPONENT.sub("e", _BETWEEN.sub("", _UNITS.sub("", text.translate(_MINUS)).strip()))
    plain = _SIGN_BEHIND.sub(r"-\1", plain) if plain[-1:] == "-" else _SIGN_APART.sub(r"\1", plain)
    return f"-{plain[1:-1]}" if plain[:1] == "(" and plain[-1:] == ")" else plain


def decimal_sign(texts: Iterable[str]) -> str:
    """Return the decimal sign that some numbers tell: "." or ",", "" where none does, ".," where they disagree.

    1,234 and 1.234 tell nothing: it may stand between thousands.
    """
    signs = set()
    for text in texts:
        plain = _plain(text)
        if "," in plain and "." in plain:
            signs.add(max(",.", key=plain.rfind))
        elif (match := _FRACTION.fullmatch(plain)) and not _GROUPED[match[1]].fullmatch(plain):
            signs.add(match[1])
        elif plain.count(",") > 1 or plain.count(".") > 1:
            signs |= {sign for sign, apart in (".,", ",.") if _GROUPED[apart].fullmatch(plain)}
    return "".join(sorted(signs, reverse=True))


def are_days(numbers: NDArray[np.float64], name: str) -> bool:
    """Whether numbers are days or months, such as 20240131, 31012024 or 202401, and too many for that to be chance."""
    if len(numbers) < _SURELY or not ((numbers >= 180001) & (numbers < 10**8) & (numbers % 1 == 0)).all():
        return False
    whole = numbers.astype(int)
    years, ends, first, second = whole // 100, whole % 100, whole // 10**6, whole // 10000 % 100
    if _are_days(whole // 10000, years % 100, ends):
        return True
    called = _OF_TIME.search(_CAMEL.sub("_", name)) is not None  # others may be codes
    if called and (_are_days(whole % 10000, second, first) or _are_days(whole % 10000, first, second)):
        return True
    sure = called or (len({*ends}) == 12 and len({*years}) > 1)
    return sure and _are_days(years, ends, np.ones_like(whole))


def _are_days(years: NDArray[np.int_], months: NDArray[np.int_], days: NDArray[np.int_]) -> bool:
    if years.min() < 1800 or years.max() > 2100:
        return False
    try:
        return all(map(date, years.tolist(), months.tolist(), days.tolist()))
    except ValueError:
        return False


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


def target_name(name: str) -> str:
    """Return the name of a column without that of its view, where targets are called so; else ""."""
    plain = name.lower().rpartition(": ")[2]
    return plain if plain in LABEL_NAMES else ""
