"""What a search of runs asks for: words that all occur, and conditions such as ``solver:level`` and ``gap<1e-3``."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from mklviz.errors import MklvizError
from mklviz.quoting import quote
from mklviz.record.store.folder import CUT_OFF_SECONDS
from mklviz.record.store.stored import CUT_OFF
from mklviz.record.words import text_of

__all__ = ["NUMBERS", "condition"]

Condition = tuple[str, tuple[Any, ...]]  # an expression of SQL, and what stands in the places of its question marks

NUMBERS = ("gap", "objective", "lower_bound", "svm_solves", "seconds", "steps", "kernels", "active", "bytes", "seed")
_SHORT = {"svm": "svm_solves", "made": "made_by"}
_SAME = ("race", "sweep", "member", "owner", "machine", "made_by")
_STATUS = f"CASE WHEN status = 'running' AND seen < ? THEN '{CUT_OFF}' ELSE status END = ?"
_WITHIN = ("data", "lesson", "name", "note", "problem", "words")
_TOKEN = re.compile(r'(?:[^\s"]|"[^"]*")+')
_ASKED = re.compile(r"([A-Za-z_]+)(:|<=|>=|<|>)(.*)", re.DOTALL)


def condition(where: str) -> Condition:
    """Return what a search asks for as an expression of SQL, with its values.

    Raises `MklvizError` with a sentence that names the part at fault.
    """
    where = text_of(where, len(where))
    if where.count('"') % 2:
        raise MklvizError(f"A quotation mark is open in {quote(where)}: close it, or leave it out.")
    parts = [_part(token) for token in _TOKEN.findall(where)]
    return " AND ".join(part for part, _ in parts) or "1", tuple(value for _, values in parts for value in values)


def _part(token: str) -> Condition:
    """Return what one word or condition asks for; what begins with a quotation mark is words."""
    asked = _ASKED.fullmatch(token)
    if asked is None:
        return _contains("haystack", token.replace('"', ""))
    name, sign, value = asked[1].lower(), asked[2], asked[3].replace('"', "")
    name = _SHORT.get(name, name)
    if not value:
        raise MklvizError(f"Nothing stands behind {token!r}: write a value, such as solver:level or gap<1e-3.")
    if sign != ":":
        return _compared(name, sign, value, token)
    if name in _WORDS:
        return _WORDS[name](value)
    if name in NUMBERS:
        return _compared(name, "=", value, token)
    if name in _SAME:
        return f"lower({name}) = ?", (value.lower().replace("-", " ") if name == "made_by" else value.lower(),)
    if name in _WITHIN:
        return _contains(f"lower({name})", value)
    known = ", ".join(sorted({*_WORDS, *_SAME, *_WITHIN, *NUMBERS} - {*_SHORT.values()} | {*_SHORT}))
    raise MklvizError(f"No run has {quote(name)}: ask for {known}, or put {quote(token)} into quotation marks.")


def _compared(name: str, sign: str, value: str, token: str) -> Condition:
    if name not in NUMBERS:
        numbers = ", ".join(NUMBERS)
        raise MklvizError(f"{quote(name)} cannot be compared with a number; what can is {numbers}.")
    try:
        return f"{name} {sign} ?", (float(value),)
    except ValueError:
        raise MklvizError(f"{quote(value)} in {quote(token)} is no number: write it like 0.001 or 1e-3.") from None


def _contains(column: str, text: str) -> Condition:
    return f"instr({column}, ?) > 0", (text.casefold(),)


def _since(value: str) -> Condition:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise MklvizError(f"{quote(value)} is no date: write it like since:2026-11-01.") from None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return "created >= ?", (zoned.timestamp(),)


def _pinned(value: str) -> Condition:
    if value not in ("yes", "no"):
        raise MklvizError(f"A run is pinned or not: write pinned:yes or pinned:no, not pinned:{value[:40]}.")
    return "pinned = ?", (value == "yes",)


_WORDS: Mapping[str, Callable[[str], Condition]] = {
    "run": lambda value: ("id = ?", (value,)),
    "solver": lambda value: ("(lower(solver) = ? OR lower(label) = ?)", (value.lower(),) * 2),
    "tag": lambda value: ("EXISTS (SELECT 1 FROM json_each(tags) WHERE lower(value) = ?)", (value.lower(),)),
    "status": lambda value: (_STATUS, (time.time() - CUT_OFF_SECONDS, value.lower().replace("-", " "))),
    "since": _since,
    "pinned": _pinned,
}
