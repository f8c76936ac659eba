"""How a text is written: its encoding, what separates the columns of its table, and what stands above that."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mklviz.quoting import quote

from ._cells import is_measured, is_missing
from ._dataset import DataError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CALLED = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252"}
_CALLED |= {"cp1251": "Windows-1251", "gb18030": "GBK", "cp932": "Shift-JIS", "utf-32": "UTF-32"}
_CALLED |= {"cp1250": "Windows-1250", "mac-roman": "Mac Roman"}
_MAC = {*range(0x80, 0xA0)} - {0x80, 0x85, *range(0x91, 0x98)}  # letters there, signs to Windows
_TELLING = 3  # letters beyond ASCII, which are no damage
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_HAN = re.compile("[\u3041-\u30ff\u4e00-\u9fff]{2}")
_START = 100_000  # bytes by which the encoding is told, and letters by which the separator is
_WORD, _BETWEEN_BLANKS = 0.9, 0.5  # how much a word looks like a cell; between blanks it may be one of a sentence
_FEWEST = 20  # lines by which it is, however long


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[str, str]:
    """Return the text in a file, and what its encoding is called; "" for UTF-8."""
    marked = next((coding for mark, coding in _MARKS if data.startswith(mark)), "utf-8")
    coding = encoding or marked
    try:
        try:
            text = data.decode(coding)
        except UnicodeDecodeError:
            if encoding:
                raise
            text = "\0"
        if not encoding and "\0" in text[:_START]:
            coding = _zero_bytes(data) or (_guess(data) if text == "\0" else coding)
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
    return text.removeprefix("\ufeff"), "" if coding.startswith("utf-8") else _CALLED.get(coding, coding)


def _zero_bytes(data: bytes) -> str:
    """Return the UTF-16 that is told by zero bytes beside every other letter; "" where there are too few."""
    start = data[:_START]
    even, odd = start[::2].count(0), start[1::2].count(0)
    if 5 * max(even, odd) < len(start) or 10 * min(even, odd) > max(even, odd):
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _guess(data: bytes) -> str:
    """Return the encoding of older programs that the letters beyond ASCII look like.

    Those of Western words stand among others, Cyrillic words consist of them; two make a sign of Chinese, of which the
    frequent ones begin with B0 to D7, and of Japanese, with 81 to 9F.
    """
    start = data[:_START]
    high = [k for k, byte in enumerate(start) if byte >= 0x80]
    japanese = 2 * sum(0x81 <= start[k] <= 0x9F for k in high) > len(high) // 2 and _decodes(data, "cp932")
    if japanese and _HAN.search(data.decode("cp932")):
        return "cp932"
    words = [word for word in re.findall(rb"[A-Za-z\x80-\xff]+", start) if not word.isascii()]
    western = "cp1252"
    if len(high) >= _TELLING and 2 * sum(start[k] in _MAC for k in high) > len(high):
        western = "mac-roman"
    elif len(high) >= _TELLING and not _decodes(data, western):
        western = "cp1250"
    runs = re.findall(rb"[\x80-\xff]{2,}", start)
    if 2 * sum(map(len, runs)) < len(high):
        return western
    leads = [byte for run in runs if len(run) % 2 == 0 for byte in run[::2]]
    chinese = 10 * sum(0xA1 <= lead <= 0xD7 for lead in leads) > 8 * len(leads) > 0
    small = sum(start[k] >= 0xE0 for k in high)
    if chinese and 2 * small < len(high) and _decodes(data, "gb18030"):
        return "gb18030"
    mixed = sum(re.search(rb"[A-Za-z]", word) is not None for word in words)
    cyrillic = 5 * sum(start[k] >= 0xC0 or start[k] in (0xA8, 0xB8) for k in high) > 4 * len(high)
    return "cp1251" if cyrillic and 2 * mixed < len(words) else western


def _decodes(data: bytes, coding: str) -> bool:
    try:
        data.decode(coding)
    except UnicodeDecodeError:
        return False
    return True


# -- columns


def split(lines: Iterable[str], separator: str) -> list[list[str]]:
    """Return the cells of some lines."""
    if separator == " ":
        lines = (" ".join(line.split()) for line in lines)
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in rows]


def find_separator(lines: Sequence[str], name: str) -> str:
    """Return what separates the columns of a table, by its first lines.

    What cuts most lines into as many cells, and into cells that are numbers, dates or words; after van den Burg et al.,
    Wrangling messy CSV files by detecting row and type patterns, 2019.
    """
    letters, some = 0, list[str]()
    for line in filter(str.strip, lines):
        if not line.startswith("#"):
            letters += len(line)
            some.append(line)
        if letters > _START and len(some) > _FEWEST:
            break
    scores, faults = dict[str, float](), list[str]()
    for separator in SEPARATORS:
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
    if len(sign) == 1 and sign.isascii() and sign not in '\r\n\0"':
        return sign
    raise DataError(f"sep is a sign such as , or ; or one of {', '.join(SEPARATORS.values())}, not {quote(text)}.")
