"""What a table of runs says of one run: what its folder states, without its steps."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mklviz.quoting import one_line
from mklviz.record.store.folder import ABOUT, CUT_OFF_SECONDS, END, HEAD, read_json, read_seen
from mklviz.record.store.frames import newest_numbers
from mklviz.record.store.machine import Machine

__all__ = ["CUT_OFF", "StoredRun", "bytes_of", "run_in", "run_of", "status_now"]

_SAID = ("key", "solver", "label", "status", "reason", "words", "data", "problem", "name", "note", "lesson", "made_by")
CUT_OFF = "cut off"  # the status of a run that ended without saying how


@dataclass(frozen=True)
class StoredRun:
    """A run in the store.

    Times are seconds since 1970, `seconds` those of CPU; numbers that a run does not know are nan. `status` is
    "running", "cut off" where the run has not been heard of for 30 seconds, or how the run ended.
    """

    id: str
    race: str = ""
    key: str = ""
    solver: str = ""
    label: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    status: str = "running"
    reason: str = ""
    words: str = ""
    recipe: str = ""
    data: str = ""
    problem: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Machine = field(default_factory=Machine)
    created: float = 0.0
    seen: float = 0.0
    steps: int = 0
    svm_solves: int = 0
    seconds: float = 0.0
    objective: float = math.nan
    lower_bound: float = math.nan
    gap: float = math.nan
    active: int = 0
    kernels: int = 0
    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    pinned: bool = False
    deleted: float | None = None
    changed: float = 0.0  # when a person last said something of it
    lesson: str = ""
    made_by: str = ""
    owner: str = ""
    sweep: str = ""
    member: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)
    bytes: int = 0

    def __post_init__(self) -> None:
        """Keep whatever people and files say on one line that steers no terminal and turns no letters round."""
        for name in _SAID:
            text = getattr(self, name)
            object.__setattr__(self, name, one_line(text, len(text)))
        object.__setattr__(self, "tags", tuple(one_line(tag, len(tag)) for tag in self.tags))


def status_now(status: str, seen: float) -> str:
    """Return the status as of now: what says that it is running, but has not been heard of, is cut off."""
    return CUT_OFF if status == "running" and time.time() - seen > CUT_OFF_SECONDS else status


def run_in(folder: Path) -> StoredRun | None:
    """Return what a run's folder states; None where it has no head."""
    head = read_json(folder / HEAD)
    if not head:
        return None
    end = read_json(folder / END)
    numbers = end.get("numbers") if end else newest_numbers(folder)
    seen = max(read_seen(folder), _number(head.get("created")), _number(end.get("ended")))
    return run_of(folder.name, head, end, numbers or {}, read_json(folder / ABOUT), seen, bytes_of(folder))


def run_of(
    run_id: str,
    head: Mapping[str, Any],
    end: Mapping[str, Any],
    numbers: Mapping[str, Any],
    about: Mapping[str, Any],
    seen: float,
    size: int,
) -> StoredRun:
    """Return what the files of a run state; what is missing or of another kind has its default."""
    own = _of_kind(about, name=str, note=str, pinned=bool, deleted=(int, float), changed=(int, float))
    counts = _of_kind(numbers, steps=int, svm_solves=int, active=int, kernels=int)
    values = {key: _number(numbers.get(key), math.nan) for key in ("objective", "lower_bound", "gap")}
    words = ("race", "key", "words", "data", "name", "lesson", "made_by", "owner", "sweep", "member")
    trace = head.get("trace")
    told = _of_kind(
        trace if isinstance(trace, dict) else {},
        **dict.fromkeys(("solver", "label", "problem", "recipe"), str),
        options=dict,
        versions=dict,
    )
    stated = {
        **_of_kind(head, **dict.fromkeys(words, str)),
        **told,
        **_of_kind(end, status=str, reason=str, results=dict),
        **counts,
        **values,
        **own,
    }
    seed = stated.get("options", {}).get("seed")
    return StoredRun(
        id=run_id,
        seed=seed if isinstance(seed, int) else None,
        machine=Machine.read(head.get("machine")),
        created=_number(head.get("created")),
        seen=seen,
        seconds=_number(numbers.get("seconds")),
        tags=tuple(tag for tag in about.get("tags", ()) if isinstance(tag, str)),
        bytes=size,
        **stated,
    )


def bytes_of(folder: Path) -> int:
    """Return how many bytes the files of a run take."""
    size = 0
    for path in folder.iterdir():
        try:
            size += path.stat().st_size
        except OSError:  # it has just been removed, or replaced
            continue
    return size


def _of_kind(stated: Mapping[str, Any], **kinds: Any) -> dict[str, Any]:
    return {key: stated[key] for key, kind in kinds.items() if isinstance(stated.get(key), kind)}


def _number(value: Any, otherwise: float = 0.0) -> float:
    return float(value) if isinstance(value, (int, float)) else otherwise
