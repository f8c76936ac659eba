"""What is stated of a whole run: how it ended, where it began, what it was computed with, and a few words."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

from mklviz._version import __version__
from mklviz.quoting import MOST_SAID, one_line

SOLVED = ("converged", "precision")  # the ends at which something is proved
FINAL = (*SOLVED, "rule", "limit", "stopped", "failed")


@dataclass(frozen=True)
class Verdict:
    """How a run ended: a status word and a sentence.

    "converged" is what the gap proves, "precision" a gap that rounding hides, "rule" that another rule fired. A reason
    may be a plug-in's or a file's: it stands on one line of bounded length, without what would steer a terminal.
    """

    status: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", one_line(self.reason))


# -- the step of another run from which a run continues: steps, SVM solves and seconds count on from there


@dataclass(frozen=True)
class Origin:
    """A step of a run, from which another goes on."""

    label: str  # name of the run that took the step
    step: int  # which it was
    svm_solves: int  # SVMs solved by then
    seconds: float  # CPU seconds spent by then
    # the same seconds by part; empty where they were not measured
    split: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, fields: Any) -> Origin | None:
        """Return the origin that a file states, None for a run that began by itself."""
        if fields is None:
            return None
        if not isinstance(fields, dict) or set(fields) != {*cls.__dataclass_fields__}:
            raise ValueError("it does not say where it began")
        counts = [fields["step"], fields["svm_solves"]]
        spent = fields["split"] if isinstance(fields["split"], dict) else {"": math.nan}
        seconds = [fields["seconds"], *spent.values()]
        whole = all(type(count) is int and 0 <= count < 2**53 for count in counts)
        measured = all(type(each) in (int, float) and 0.0 <= each < math.inf for each in seconds)
        if not (isinstance(fields["label"], str) and whole and measured):
            raise ValueError("where it began is no step of a run")
        split = {str(part): float(each) for part, each in spent.items()}
        return cls(fields["label"], fields["step"], fields["svm_solves"], float(fields["seconds"]), split)


# -- what a run was computed with: the versions that decide its last digits

_PACKAGES = ("numpy", "scipy", "numba")


@cache
def versions_in_use() -> Mapping[str, str]:
    """Return versions by name: "mklviz", "python" and packages."""
    return {"mklviz": __version__, "python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


# -- a run in a few words, and texts about it from a file of any origin

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
