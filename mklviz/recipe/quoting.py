"""Texts in pieces, and names and values written so that they can be read back; double quotes as in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import numpy as np

from mklviz.errors import MklvizError, ProblemError
from mklviz.numbers import is_number
from mklviz.recipe.parsing import number, show_number

__all__ = ["literal", "pieces", "quoted", "switch", "tight", "unquoted", "written"]

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
