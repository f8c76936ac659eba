"""How a text is written: its encoding, what separates the columns of its table, and what stands above that."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from mklviz.quoting import quote

from ._cells import is_measured, is_missing
from ._dataset import DataError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks", "::": "double colons"}
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CALLED = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "gb18030": "GBK", "cp932": "Shift-JIS"}
_CALLED |= {"mac-roman": "Mac Roman", "big5": "Big5", "cp874": "Windows-874", "iso2022-jp": "ISO-2022-JP"}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_START = 100_000  # bytes by which the encoding is told, and letters by which the separator is
_AS_WORD, _BETWEEN_BLANKS = 0.9, 0.5  # how much a word looks like a cell; between blanks it may be one of a sentence
ONE_SIGN = "\x1f"  # in the place of a separator of several
_FEWEST = 20  # lines by which it is, however long


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[str, str, tuple[str, ...]]:
    """Return the text in a file, what its encoding is called, "" for UTF-8, and notes on a guess."""
    plain = "iso2022-jp" if with_escapes(data) else "utf-8"
    marked = next((coding for mark, coding in _BOMS if data.startswith(mark)), plain)
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
    return text.removeprefix("\ufeff"), called, (note,) if called and not encoding else ()


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
            scores[separator] = _score(split(some, separator), _BETWEEN_BLANKS if separator == " " else _AS_WORD)
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


# -- encodings of older programs
#
# The text is read in each, and what it becomes is held against languages: the language that gives its letters beyond
# ASCII the greatest probability wins, as naive Bayes chooses. Letters stand here the most frequent first,
# p(k) ~ 1 / (k + 2).

_UNSURE = 6.0  # of the logarithm of the odds
_LATIN = {
    "cp1252": ("éèàêçâîôûëïù", "äöüß", "áéíóúñ", "ãçáéíõóêúâà", "åäöé", "æøåé", "éëïèöü", "àèìòùé", "àèíòçúéóïü"),
    "cp1250": ("łąęóżśćńź", "íáéěýřčžšůúťďňó", "áéíčžýšúľťôňďäŕĺ", "áéöóőüúíű", "čšžćđ", "ăîâşţ"),
    "cp1254": ("ıüşöçğâî",),
    "cp1257": ("ėšžąųūįčę", "āīšēžūļņķčģ", "äõüöšž"),
}
_LATIN |= {"mac-roman": _LATIN["cp1252"], "cp850": _LATIN["cp1252"], "iso8859-2": _LATIN["cp1250"]}
_LATIN["cp852"] = _LATIN["cp1250"]
_RUSSIAN = "оеаинтсрвлкмдпуыяьгзбчйхжшюцщэфъё"
_UKRAINIAN = "оаиентврсклідпумязьбгчйхїжцюєшщфґ"
_ALPHABETS = {
    "cp1251": (_RUSSIAN, _UKRAINIAN, "аоиентрсвлкдпмзгбуъчшцжяйщюф"),
    "koi8-u": (_UKRAINIAN,),
    **dict.fromkeys(("koi8-r", "cp866", "iso8859-5"), (_RUSSIAN,)),
    "cp1253": ("αοιετσνηυρπκμλςωδγχάίέόθήφβώύξζψ",),
    "cp1255": ("יוהלאמתרבשנדעקחפםגסטכצזןךףץ",),
    "cp874": ("านรอกเงมยลวดทสตะปบคหแจพชขใไโผถซณศธฐภฟษฉฎฝฬ่้็ิีึืุูำั์๋",),
    "cp1256": ("اليمنرتوةبدعفسهحقكأجشطصخضذزإغءثئىظؤآ",),
}
_JAPANESE = "".join(map(chr, range(0x3041, 0x30FD))) + "年月日男女性別有無大小中高低数量名地区時間温度"
_SIGNS = {  # of two bytes: the signs, the first bytes of the usual ones and how many these are, and words of tables
    "gb18030": ("[\u4e00-\u9fff]", 0xB0, 0xD7, 3755, "的一是不年月日男女性别有无大小中高低数量类名称地区时间温度"),
    "big5": ("[\u4e00-\u9fff]", 0xA4, 0xC6, 5401, "的一是不年月日男女性別有無大小中高低數量類名稱地區時間溫度"),
    "euc-jp": ("[\u3041-\u30fc\u4e00-\u9fff]", 0xB0, 0xCF, 2965, _JAPANESE),
    "cp932": ("[\u3041-\u30fc\u4e00-\u9fff]", 0x88, 0x97, 2965, _JAPANESE),
    "euc-kr": ("[\uac00-\ud7a3]", 0xB0, 0xC8, 1200, ""),
}
_SELDOM = {"cp1257": log(0.3), "cp1254": log(0.3)}  # tables in these, beside one in Windows-1252, 1250 or 1251
_SELDOM |= dict.fromkeys(("mac-roman", "cp850", "cp852", "cp866", "koi8-r", "koi8-u", "iso8859-5"), log(0.03))
_MARKS = "°µ²³±€–—’‘“”„…«»©®×½·§№\xa0、。，"
_WORD = re.compile(r"[A-Za-z]*[^\x00-\x7f][A-Za-z\x80-\U0010ffff]*")
_BEYOND = re.compile(r"[^\x00-\x7f]")
_ODD, _MARK, _FEW, _MIXED = log(1e-6), log(1e-3), log(0.06), log(0.02)


def with_escapes(data: bytes) -> bool:
    """Whether signs of Japanese are switched on and off in plain ASCII, as e-mail does: JIS."""
    text = data.decode("iso2022-jp", "replace") if b"\x1b$" in data[:_START] else ""
    return "\ufffd" not in text and re.search(_SIGNS["euc-jp"][0], text) is not None


def guess(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the encoding of a text that is not UTF-8, and others that it may well be in."""
    if len(data.translate(None, bytes(range(0x80)))) < 2:  # which may be damage
        return "cp1252", ()
    start = data if len(data) < _START else data[: data.rfind(b"\n", 0, _START) + 1]
    words = {coding: _words(start, coding) for coding in (*_LATIN, *_ALPHABETS, *_SIGNS)}
    if words["koi8-u"] == words["koi8-r"]:  # without the letters in which they differ
        words["koi8-u"] = []
    likely = {coding: max(_likelihood(letters, coding)) for coding, letters in words.items() if letters}
    odds = {coding: chance + _SELDOM.get(coding, 0.0) for coding, chance in likely.items()}
    able = [coding for coding in sorted(odds, key=lambda coding: -odds[coding]) if _decodes(data, coding)]
    if not able:
        return "cp1252", ()
    best, *others = able
    return best, tuple(c for c in others if words[c] != words[best] and odds[best] - odds[c] < _UNSURE)


def _words(start: bytes, coding: str) -> list[str]:
    """Return the words with letters beyond ASCII, once each; none where the text cannot be in this encoding."""
    return sorted({*_WORD.findall(start.decode(coding))}) if _decodes(start, coding) else []


def _decodes(data: bytes, coding: str) -> bool:
    try:
        data.decode(coding)
    except UnicodeDecodeError:
        return False
    return True


def _likelihood(words: list[str], coding: str) -> list[float]:
    """Return the logarithm of the probability of the words' letters beyond ASCII in each language of an encoding."""
    if coding in _SIGNS:
        return [sum(_of_sign(letter, coding) + _beside(word, k, False) for word, k, letter in _letters(words))]
    latin = coding in _LATIN
    return [
        sum(_of_letter(letter, alphabet, latin) + _beside(word, k, latin) for word, k, letter in _letters(words))
        for alphabet in (_LATIN if latin else _ALPHABETS)[coding]
    ]


def _letters(words: list[str]) -> list[tuple[str, int, str]]:
    return [(word, match.start(), match[0]) for word in words for match in _BEYOND.finditer(word)]


def _of_letter(letter: str, alphabet: str, latin: bool) -> float:
    place = alphabet.find(letter.lower())
    if place < 0:
        return _MARK if letter in _MARKS else _ODD
    return (_FEW if latin else 0.0) - log(place + 2) - log(log(len(alphabet) + 2))


def _of_sign(sign: str, coding: str) -> float:
    pattern, first, last, count, usual = _SIGNS[coding]
    if not re.match(pattern, sign):
        return _MARK if sign in _MARKS else _ODD
    if sign in usual:
        return log(0.3 / len(usual))
    return log(0.7 / count) if first <= sign.encode(coding)[0] <= last else log(1e-5)


def _beside(word: str, k: int, latin: bool) -> float:
    """Return what neighbours say: Latin letters stand beside those of ASCII, others do not; capitals begin words."""
    before, after = word[k - 1 : k], word[k + 1 : k + 2]
    inside = before.islower() and word[k].isupper()
    strange = (not after.isascii()) / 2 if latin else sum(each.isascii() and each.isalpha() for each in (before, after))
    return (inside + strange) * _MIXED if word[k].isalpha() else 0.0
