"""Numbers in words, everywhere people write them: every refusal is one sentence that says what would be accepted.

Widths are written as in the papers: ``2^-3 … 2^6`` (or 2⁻³ … 2⁶) doubles, ``1 … 3`` counts, ``0.5, 1, 2`` lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from mklviz.errors import MklvizError, ProblemError
from mklviz.numbers import RAISED, is_number

T = TypeVar("T")
MOST_VALUES = 100
MOST_SPANNED = 10_000
MOST_PARTS = 12  # the largest denominator of a ratio that is written as one

_PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
_SUPERSCRIPT = re.compile(r"(?<=[0-9])([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_RANGE = re.compile(r"\s*(?:…|\.\.\.?|\bto\b)\s*")
_RATIO = re.compile(r"([+-]?\d{1,3})\s*/\s*(\d{1,3})")
_WRITTEN_POWER = re.compile(r"\^(-?\d+)")
_EXPONENT = re.compile(r"e\+?(-?)0*")
_POWER = re.compile(r"2\s*(?:\^|\*\*)\s*\(?\s*([+-]?\d+)\s*\)?")


def number(text: str, what: str) -> float:
    """Return the number written in `text`, also as a power of two, such as 2^-3, or as a ratio, such as 4/3."""
    plain = _SUPERSCRIPT.sub(r"^\1", text.strip()).translate(_PLAIN)
    power, ratio = _POWER.fullmatch(plain), _RATIO.fullmatch(plain)
    try:
        if ratio:
            plain = str(float(ratio[1]) / float(ratio[2]))
        value = 2.0 ** int(power.group(1)) if power else float(plain)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ProblemError(f"{what} must be a number, but “{text.strip():.80}” was entered.") from None
    if not np.isfinite(value):
        raise ProblemError(f"{what} must be a finite number, but “{text.strip():.80}” was entered.")
    return value


def bounded(text: str, what: str, low: float | None, high: float | None, open_low: bool = False) -> float:
    """Return the number in `text` if it lies between `low` and `high` (None: no bound)."""
    value = number(text, what)
    below = low is not None and (value <= low if open_low else value < low)
    if below or (high is not None and value > high):
        least = "" if low is None else f"{'above' if open_low else 'at least'} {show_number(low)}"
        most = "" if high is None else f"at most {show_number(high)}"
        raise ProblemError(f"{what} must be {' and '.join(filter(None, (least, most)))}.")
    return value


def positive(text: str, what: str) -> float:
    """Return the positive number in `text`."""
    return bounded(text, what, 0.0, None, open_low=True)


def whole(text: str, what: str, low: int | None = None, high: int | None = None) -> int:
    """Return the whole number in `text`."""
    value = bounded(text.replace(",", ""), what, low, high)
    if value != round(value):
        raise ProblemError(f"{what} must be a whole number, but “{text.strip():.80}” was entered.")
    return int(value)


def percent(text: str, what: str) -> float:
    """Return the fraction in `text`: “1 %”, or plain “1”, which means per cent too."""
    return positive(text.strip().removesuffix("%"), what) / 100.0


def fraction(text: str, what: str) -> float:
    """Return the fraction in `text`: “0.01” or “1 %”."""
    return percent(text, what) if text.strip().endswith("%") else number(text, what)


def optional(parse: Callable[[str, str], T]) -> Callable[[str, str], T | None]:
    """Return a parser that reads an empty text as None."""
    return lambda text, what: parse(text, what) if text.strip() else None


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Return the numbers that `text` lists or spans."""
    ends = _RANGE.split(text.strip())
    if len(ends) == 2:
        listed = _span(ends[0], ends[1], what)
    elif len(ends) == 1:
        listed = tuple(number(piece, what) for piece in re.split(r"[,;\s]+", text.strip()) if piece)
    else:
        raise ProblemError(f"{what} can be one range, such as 2^-3 … 2^6, or a list, such as 0.5, 1, 2.")
    if not listed:
        raise ProblemError(f"{what}: enter at least one number, such as 0.5, 1, 2 or 2^-3 … 2^6.")
    return listed


def values(text: str, what: str) -> tuple[float, ...]:
    """Return the positive numbers that `text` lists or spans, all different and not too many for a screen."""
    listed = numbers(text, what)
    if min(listed) <= 0:
        raise ProblemError(f"{what} must be positive, but {show_number(min(listed))} was entered.")
    if len(set(listed)) < len(listed):
        raise ProblemError(f"{what} must differ from each other, but one was entered twice.")
    if len(listed) > MOST_VALUES:
        raise ProblemError(f"{what}: at most {MOST_VALUES} values, but {len(listed):,} were entered.")
    return listed


def _span(first: str, last: str, what: str) -> tuple[float, ...]:
    low, high = number(first, what), number(last, what)
    if low > high:
        raise ProblemError(f"{what}: the range {first:.40} … {last:.40} runs backwards.")
    if high - low > MOST_SPANNED:
        raise ProblemError(f"{what}: the range {first:.40} … {last:.40} is too long.")
    if low == round(low) and high == round(high) and not _is_power(first) and not _is_power(last):
        return tuple(float(value) for value in range(int(low), int(high) + 1))
    if low > 0 and _exponent(low) is not None and _exponent(high) is not None:
        return tuple(2.0**k for k in range(int(np.log2(low)), int(np.log2(high)) + 1))
    raise ProblemError(f"{what}: a range runs over powers of two, 2^-3 … 2^6, or over whole numbers, 1 … 3.")


def _is_power(text: str) -> bool:
    return bool(_SUPERSCRIPT.search(text)) or "^" in text or "**" in text


def _exponent(value: float) -> int | None:
    exponent = float(np.log2(value)) if value > 0 else 0.5
    return int(exponent) if exponent == round(exponent) else None


def show_number(value: float) -> str:
    """Write a number so that reading it gives it back, as a ratio such as 4/3 where it has no end in decimals."""
    short = f"{value:g}"
    if float(short) == value:
        return _EXPONENT.sub(r"e\1", short)
    ratio = Fraction(value).limit_denominator(MOST_PARTS)
    if 0 < abs(ratio.numerator) < 1000 and ratio.numerator / ratio.denominator == value:
        return f"{ratio.numerator}/{ratio.denominator}"
    return repr(float(value))


def show_percent(value: float) -> str:
    """Write a fraction in per cent."""
    return f"{show_number(float(f'{100.0 * value:.12g}'))} %"


def write_values(values: Sequence[float]) -> str:
    """Write numbers the way `numbers` reads them, without blanks: ``2^-3...2^6``, ``1...3`` or ``0.5,1,2``."""
    values = [float(value) for value in values]
    counting = all(b == a + 1 for a, b in pairwise(values))
    if counting and 2 < len(values) <= MOST_SPANNED and values[0] == round(values[0]):
        return f"{values[0]:.0f}...{values[-1]:.0f}"
    exponents = [_exponent(value) for value in values]
    doubling = len(values) > 2 and None not in exponents and all(b == 2 * a for a, b in pairwise(values))
    if doubling and values[-1] - values[0] <= MOST_SPANNED:
        return f"2^{exponents[0]}...2^{exponents[-1]}"
    return ",".join(show_number(value) for value in values)


def show_values(values: Sequence[float]) -> str:
    """Write numbers as papers do: ``2⁻³ … 2⁶``, ``1 … 3`` or ``0.5, 1, 2``; `values` reads that, too."""
    text = write_values(values).replace("...", " … ").replace(",", ", ")
    return _WRITTEN_POWER.sub(lambda power: power[1].translate(RAISED), text)


# -- texts in pieces, and names and values written so that they can be read back; double quotes as in JSON

MOST_DIGITS = 400  # no double holds more

_NAME = re.compile(r"[^\W\d][\w.+-]*")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_WHOLE = re.compile(r"[+-]?\d+")
_LOOSE = re.compile(r'"(?:\\.|[^"\\])*"|\s*(?:…|\.\.\.?|,)\s*|\s+to\s+')
_SWITCH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def pieces(text: str, marks: str, braces: bool = False) -> list[str]:
    """Split a text at any of the marks, but not within quotes, nor, if asked, within braces."""
    parts, inside, escaped, depth = [""], False, False, 0
    for sign in text:
        if sign == '"' and not escaped:
            inside = not inside
        escaped = sign == "\\" and inside and not escaped
        if braces and not inside:
            depth += (sign == "{") - (sign == "}")
        if sign in marks and not inside and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    if inside:
        raise ProblemError(f"A quotation mark is missing in “{text:.80}”.")
    return parts


def tight(text: str) -> str:
    """Return a text without the blanks around commas and within ranges; blanks within quotes stay."""

    def closed(match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        return "," if match[0].strip() == "," else "..."

    return _LOOSE.sub(closed, text)


def quoted(name: str, reserved: Collection[str] = ()) -> str:
    """Write a name, in quotes unless it is a plain word."""
    plain = (_NAME.fullmatch(name) or _DIGEST.fullmatch(name)) and name.lower() not in (*reserved, *_SWITCH, "none")
    return name if plain and literal(name) == name else json.dumps(name, ensure_ascii=False)


def unquoted(text: str) -> str:
    """Return the name that was written with or without quotes."""
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        raise ProblemError(f"“{text:.80}” cannot be read: names in quotes are written as in JSON.") from None


def switch(text: str, what: str) -> bool:
    """Return whether a text says yes or no."""
    word = text.strip().lower()
    if word not in _SWITCH:
        raise ProblemError(f"{what} must be true or false, but “{text.strip():.80}” was entered.")
    return _SWITCH[word]


def literal(text: str) -> Any:
    """Return the value that a text stands for: true, false, none, a number, or the text itself."""
    word = text.strip()
    if word.lower() in ("true", "false", "yes", "no"):
        return _SWITCH[word.lower()]
    if word.lower() == "none":
        return None
    if _WHOLE.fullmatch(word):
        whole = int(word) if len(word) < MOST_DIGITS else word
        return whole if is_number(whole) else word
    if word.startswith('"'):
        return unquoted(word)
    try:
        value = number(word, "The value")
    except ProblemError:
        return word
    return int(value) if "^" in word and value == round(value) else value


def registered(thing: Any, families: Mapping[str, Any], what: str) -> str:
    """Return the name of a loss or the like, or raise `MklvizError` if it is a person's own and has none."""
    if families.get(thing.name_) is not type(thing):
        raise MklvizError(f"A {what} of your own, {type(thing).__name__}, has no name that others could read.")
    return str(thing.name_)


def written(value: Any) -> str:
    """Write a value so that `literal` reads it back."""
    if value is None or isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return show_number(float(value))
    if isinstance(value, str):
        return quoted(value)
    raise MklvizError(f"{value!r:.80} cannot be written as a word.")
