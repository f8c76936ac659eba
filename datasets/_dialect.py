"""How a text is written: its encoding, what separates the columns of its table, and what stands above that."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mklviz.quoting import quote

from ._cells import is_measured, is_missing
from ._dataset import DataError
from ._encoding import guess, with_escapes

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks", "::": "double colons"}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CALLED = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "gb18030": "GBK", "cp932": "Shift-JIS"}
_CALLED |= {"mac-roman": "Mac Roman", "big5": "Big5", "cp874": "Windows-874", "iso2022-jp": "ISO-2022-JP"}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_START = 100_000  # bytes by which the encoding is told, and letters by which the separator is
_WORD, _BETWEEN_BLANKS = 0.9, 0.5  # how much a word looks like a cell; between blanks it may be one of a sentence
ONE_SIGN = "\x1f"  # in the place of a separator of several
_FEWEST = 20  # lines by which it is, however long


class Decoded(NamedTuple):
    """A text, what its encoding is called, "" for UTF-8, and notes on a guess."""

    text: str
    called: str
    notes: tuple[str, ...]


def decode(data: bytes, name: str, encoding: str | None = None) -> Decoded:
    """Return the text in a file."""
    plain = "iso2022-jp" if with_escapes(data) else "utf-8"
    marked = next((coding for mark, coding in _MARKS if data.startswith(mark)), plain)
    coding, others = encoding or marked, tuple[str, ...]()
    try:
        try:
            text = data.decode(coding)
        except UnicodeDecodeError:
            if encoding:
                raise
            text = "\0"
        if not encoding and "\0" in text[:_START]:
            zeros = _zero_bytes(data)
            coding, others = (zeros, ()) if zeros else guess(data) if text == "\0" else (coding, ())
            text = data.decode(coding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        kind = "UTF-8 text; save the file as UTF-8" if not encoding else f"text in {encoding}"
        raise DataError(f"Row {line} of {name} is not {kind}.") from None
    except (LookupError, ValueError):
        raise DataError(f"There is no encoding {encoding!r:.80}; one is utf-8, cp1252, utf-16 or shift-jis.") from None
    wrong = _CONTROL.search(text)
    if wrong and (wrong[0] == "\0" or not coding.startswith("utf")):  # no text at all
        line = text[: wrong.start()].count("\n") + 1
        raise DataError(
            f"Row {line} of {name} is not UTF-8 text; save the file as UTF-8, or, if it is another program's, as CSV."
        )
    called = "" if coding.startswith("utf-8") else _called(coding)
    note = f"The file is not UTF-8 text: its letters are read as {called}."
    if others:
        note += f" It may well be {' or '.join(map(_called, others))}: choose the encoding where words look wrong."
    return Decoded(text.removeprefix("\ufeff"), called, (note,) if called and not encoding else ())


def _called(coding: str) -> str:
    return _CALLED.get(coding) or re.sub("^CP125", "Windows-125", coding.upper())


def _zero_bytes(data: bytes) -> str:
    """Return the UTF-16 that is told by zero bytes beside every other letter; "" where there are too few."""
    start = data[:_START]
    even, odd = start[::2].count(0), start[1::2].count(0)
    if 5 * max(even, odd) < len(start) or 10 * min(even, odd) > max(even, odd):
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


# -- columns


def split(lines: Iterable[str], separator: str) -> list[list[str]]:
    """Return the cells of some lines."""
    if separator == " ":
        lines = (" ".join(line.split()) for line in lines)
    if len(separator) > 1:
        lines, separator = [line.replace(separator, ONE_SIGN) for line in lines], ONE_SIGN
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in rows]


def find_separator(lines: Sequence[str], name: str) -> str:
    """Return what separates the columns of a table, by its first lines.

    What cuts most lines into as many cells, and into cells that are numbers, dates or words; after van den Burg et al.,
    Wrangling messy CSV files by detecting row and type patterns, 2019.
    """
    letters, some = 0, list[str]()
    filled = [line for line in lines if line.strip()]
    for line in [line for line in filled if not line.startswith(("#", "%"))] or filled:
        letters += len(line)
        some.append(line)
        if letters > _START and len(some) > _FEWEST:
            break
    scores, faults = dict[str, float](), list[str]()
    for separator in SEPARATORS:
        if len(separator) > 1 and not all(separator in line for line in some):
            continue
        try:
            scores[separator] = _score(split(some, separator), _BETWEEN_BLANKS if separator == " " else _WORD)
        except csv.Error as error:
            faults.append(str(error))
    best = max(scores, key=scores.__getitem__, default=",")
    if faults and scores.get(best, 0.0) == 0.0:
        raise DataError(f"{name} cannot be read as a table: {faults[0]}.")
    return best


def _score(rows: Sequence[Sequence[str]], word: float) -> float:
    if not rows:
        return 0.0
    (width, count), *_ = Counter(map(len, rows)).most_common(1)
    cells = [cell for row in rows[:100] for cell in row[:200]]
    known = sum(0.5 if is_missing(cell) else _known(cell, word) for cell in cells)
    return count / len(rows) * (width - 1) / width * known / max(len(cells), 1)


def _known(cell: str, word: float) -> float:
    """How much a cell looks like one: a number or a date, or a word in which no other separator stands."""
    return 1.0 if is_measured(cell) else 0.1 if re.search(r"[,;|\t]", cell) else word


def read_separator(text: str) -> str:
    """Return the separator that a person names by its sign or by its word."""
    words = {**{word: sign for sign, word in SEPARATORS.items()}, "tab": "\t", r"\t": "\t", r"\s+": " ", "blank": " "}
    sign = words.get(text.strip().lower() or text, text)
    if sign in SEPARATORS or (len(sign) == 1 and sign.isascii() and sign not in '\r\n\0"'):
        return sign
    raise DataError(f"sep is a sign such as , or ; or one of {', '.join(SEPARATORS.values())}, not {quote(text)}.")
