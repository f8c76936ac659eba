"""Lists in the words of a recipe: what is to be tried one after the other.

    data=sonar,heart; split=0...19; C=1,10,100; regularizer=simplex|lp-ball:p={1.5,2}; solvers=silp,level:lam={0.3,0.5}

A vertical bar separates whole values. Where a value of the key never has a comma, as with data, splits and numbers, a
comma does so as well, and a range such as 0...19 or 2^-3...2^6 stands for its numbers. Braces hold alternatives within
a value, as in a shell.
"""

from __future__ import annotations

import re
from itertools import product

from mklviz.errors import ProblemError
from mklviz.recipe.parsing import numbers, pieces, show_number, tight

__all__ = ["SEPARATED", "alternatives", "join"]

SEPARATED = ("kernels", "degrees", "loss", "regularizer")  # whose values may have commas: only a bar separates them
_RANGE = re.compile(r"[^\"]*(?:…|\.\.)[^\"]*")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"")
_BRACES = re.compile(r"\"(?:\\.|[^\"\\])*\"|\{([^{}]*)\}")


def alternatives(key: str, text: str) -> tuple[str, ...]:
    """Return the values that a text lists for a key of a recipe, each as the recipe's own words have it."""
    if key == "solvers":
        listed = _entries(text)
    elif key in SEPARATED:
        listed = pieces(text, "|", braces=True)
    else:
        listed = [value for part in pieces(tight(text), "|,", braces=True) for value in _spanned(part, key)]
    values = [value.strip() for part in listed for value in _opened(part, key)]
    if not all(values) or not values:
        raise ProblemError(f"A value of {key} is missing in “{text.strip():.80}”.")
    return tuple(dict.fromkeys(values))


def join(key: str, values: tuple[str, ...]) -> str:
    """Return the text in which `alternatives` finds these values."""
    mark = " | " if key in SEPARATED or any(len(pieces(value, ",")) > 1 for value in values) else ","
    whole = [int(value) for value in values if value.isdecimal() and len(value) < 10]
    if len(whole) == len(values) > 2 and whole == [*range(whole[0], whole[-1] + 1)]:
        return f"{whole[0]}...{whole[-1]}"
    return mark.join(values)


def _entries(text: str) -> list[str]:
    """Return the solvers of a list, each with its options."""
    entries: list[str] = []
    for token in filter(None, pieces(tight(text), " ,|\t\n", braces=True)):
        option = len(pieces(token, "=", braces=True)) > 1 and len(pieces(token, ":", braces=True)) == 1
        if option and entries:
            entries[-1] += f",{token}"
        else:
            entries.append(token)
    return entries


def _spanned(text: str, key: str) -> list[str]:
    """Return the numbers of a range, or else the text itself."""
    return [show_number(value) for value in numbers(text, key)] if _RANGE.fullmatch(text) else [text]


def _opened(text: str, key: str) -> list[str]:
    """Return the texts that come of one with alternatives in braces."""
    parts: list[list[str]] = []
    end = 0
    for brace in _BRACES.finditer(text):
        if brace[1] is None:  # in quotes
            continue
        parts += [[text[end : brace.start()]], [one for part in pieces(brace[1], ",") for one in _spanned(part, key)]]
        end = brace.end()
    rest = text[end:]
    if any(sign in _QUOTED.sub("", rest) for sign in "{}"):
        raise ProblemError(f"The braces of {key} do not match in “{text:.80}”.")
    return ["".join(chosen) for chosen in product(*parts, [rest])]
