"""In which encoding of older programs a text is written: that in which its letters beyond ASCII are likeliest.

The text is read in each, and what it becomes is held against languages: the language that gives its letters the
greatest probability wins, as naive Bayes chooses. Letters stand here the most frequent first, p(k) ~ 1 / (k + 2).
"""

from __future__ import annotations

import re
from math import log

_START = 100_000  # bytes by which it is told
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
