"""A run in a few words, and texts about it from a file of any origin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mklviz.quoting import MOST_SAID

__all__ = ["MOST_COUNT", "MOST_VALUES", "number", "number_in", "plain_values", "shares_text", "text_in", "text_of"]

MOST_COUNT = 2**53
MOST_VALUES = 100  # tags, options, versions and results of a run


def shares_text(shares: Mapping[str, float]) -> str:
    """Return what took the time, largest share first: "SVM 40 %, gradient 35 %"; "" where it was not measured."""
    by_size = sorted(shares.items(), key=lambda pair: -pair[1])
    named = ((part if part != "svm" else "SVM", f"{100 * share:.0f} %") for part, share in by_size)
    return ", ".join(f"{part} {percent}" for part, percent in named if percent != "0 %")


def number(value: float, form: str) -> str:
    """Format a number; a dash where there is none."""
    return format(value, form) if math.isfinite(value) else "–"


def text_of(value: Any, most: int = MOST_SAID) -> str:
    """Return a text cut to `most` letters, each of which can be written; "" for anything else."""
    return value[:most].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def text_in(stated: Mapping[str, Any], name: str, most: int = MOST_SAID) -> str:
    """Return a text that a file states, as `text_of` does."""
    return text_of(stated.get(name), most)


def number_in(stated: Mapping[str, Any], name: str, otherwise: float = 0.0, most: float = 1e300) -> float:
    """Return a number that a file states, where it is one of at most that size."""
    value = stated.get(name)
    fits = isinstance(value, (int, float)) and abs(value) <= most
    return float(value) if fits and math.isfinite(value) else otherwise  # type: ignore[arg-type]


def plain_values(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers and texts that a file states by name, as far as a table can show them."""
    plain: dict[str, Any] = {}
    for name, value in list(stated.items())[:MOST_VALUES]:
        most = MOST_COUNT if isinstance(value, int) else 1e300
        if isinstance(value, str):
            plain[text_of(name)] = text_in(stated, name)
        elif value is None or number_in(stated, name, math.nan, most) == value:
            plain[text_of(name)] = value
    return plain
