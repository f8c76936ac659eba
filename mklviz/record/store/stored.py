"""What a table of runs says of one run: what its folder states, without its steps."""

from __future__ import annotations

import math
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mklviz.quoting import one_line
from mklviz.record.run_facts import FINAL, MOST_COUNT, MOST_VALUES, number_in, plain_values, text_in, text_of
from mklviz.record.store.folder import ABOUT, CUT_OFF_SECONDS, END, HEAD, LOCKS, PACKED, is_gone, read_json, read_seen
from mklviz.record.store.frames import newest_numbers
from mklviz.record.store.head import Machine

_LINES = (
    *("key", "solver", "label", "status", "reason", "words", "data", "problem"),
    *("name", "note", "lesson", "made_by"),
)
CUT_OFF = "cut off"  # the status of a run that ended without saying how
DAMAGED = "damaged"  # and of one that cannot be read
_HEADLESS = "what it began with is missing or damaged"
_REPAIR = "mklviz runs repair sets it aside."
_NAMES = ("race", "key", "data", "name", "lesson", "made_by", "owner", "sweep", "member")
_COUNTS = ("steps", "svm_solves", "active", "kernels")
_TIMES = 2.5e11  # seconds since 1970: later ones no calendar has
_LONG = 10**5  # letters of a recipe or a note


@dataclass(frozen=True)
class StoredRun:
    """A run in the store.

    Times are seconds since 1970, `seconds` those of CPU; numbers that a run does not know are nan. `status` is
    "running", "cut off" where the run has not been heard of for 30 seconds, "damaged" where it cannot be read, or how
    the run ended.
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
    changed: float = 0.0  # when a person last wrote something of it
    lesson: str = ""
    made_by: str = ""
    owner: str = ""
    sweep: str = ""
    member: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)
    bytes: int = 0

    def __post_init__(self) -> None:
        """Keep whatever people and files say on one line that steers no terminal and turns no letters round."""
        for name in _LINES:
            text = getattr(self, name)
            object.__setattr__(self, name, one_line(text, len(text)))
        object.__setattr__(self, "tags", tuple(one_line(tag, len(tag)) for tag in self.tags))


def status_now(status: str, seen: float) -> str:
    """Return the status as of now: what says that it is running, but has not been heard of, is cut off."""
    return CUT_OFF if status == "running" and time.time() - seen > CUT_OFF_SECONDS else status


def run_in(folder: Path) -> StoredRun | None:
    """Return what a run's folder states; None where nothing is in it, or not yet its head."""
    head, about, size = read_json(folder / HEAD), read_json(folder / ABOUT), bytes_of(folder)
    if not head:
        begun = time.time() - folder.stat().st_mtime < CUT_OFF_SECONDS
        with suppress(FileNotFoundError):
            (folder / HEAD).open("rb").close()
        return None if begun or not size else damaged(run_of(folder.name, {}, {}, {}, about, 0.0, size), _HEADLESS)
    end = read_json(folder / END)
    numbers = _mapping(end, "numbers") if end else newest_numbers(folder)
    if not end and is_cut_off(folder):
        end = {"status": CUT_OFF}
    times = read_seen(folder), number_in(head, "created", most=_TIMES), number_in(end, "ended", most=_TIMES)
    seen = min(max(times), time.time())  # clocks may be ahead
    run = run_of(folder.name, head, end, numbers, about, seen, size)
    with suppress(FileNotFoundError), (folder / PACKED).open("rb") as packed:
        return run if zipfile.is_zipfile(packed) else damaged(run, "its file is cut off")
    return run


def is_cut_off(folder: Path) -> bool:
    """Return whether the process that recorded a run without an end lives no more, as far as anybody can tell."""
    writer = text_in(read_json(folder / HEAD), "writer")
    return writer.isalnum() and is_gone(folder.parent.parent / LOCKS / writer) and not (folder / END).exists()


def damaged(run: StoredRun, why: str) -> StoredRun:
    """Return a run that cannot be read, as a table shows it."""
    return replace(run, status=DAMAGED, reason=one_line(f"It cannot be read: {why}. {_REPAIR}"))


def run_of(
    run_id: str,
    head: Mapping[str, Any],
    end: Mapping[str, Any],
    numbers: Mapping[str, Any],
    about: Mapping[str, Any],
    seen: float,
    size: int,
) -> StoredRun:
    """Return what the files of a run state, of any origin; what is missing or fits nowhere has its default."""
    trace, tags = _mapping(head, "trace"), about.get("tags")
    options = plain_values(_mapping(trace, "options"))
    stated: dict[str, Any] = {name: text_in({**head, **about} if name == "name" else head, name) for name in _NAMES}
    stated |= {name: text_in(trace, name) for name in ("solver", "label")}
    stated |= {name: text_in(trace, name, _LONG) for name in ("problem", "recipe")}
    stated |= {name: number_in(numbers, name, math.nan) for name in ("objective", "lower_bound", "gap")}
    stated |= {name: int(number_in(numbers, name, most=MOST_COUNT)) for name in _COUNTS}
    deleted, status = number_in(about, "deleted", math.nan, _TIMES), text_in(end, "status") if end else "running"
    return StoredRun(
        id=run_id,
        **{**stated, "race": stated["race"] or run_id},
        words=text_in(head, "words", _LONG),
        note=text_in(about, "note", _LONG),
        options=options,
        versions={name: str(version) for name, version in plain_values(_mapping(trace, "versions")).items()},
        seed=seed if type(seed := options.get("seed")) is int else None,
        status=status if status in ("running", CUT_OFF, *FINAL) else CUT_OFF,
        reason=text_in(end, "reason"),
        results=plain_values(_mapping(end, "results")),
        machine=Machine.read(head.get("machine")),
        created=number_in(head, "created", most=_TIMES),
        seen=seen,
        seconds=number_in(numbers, "seconds"),
        tags=tuple(filter(None, map(text_of, tags[:MOST_VALUES] if isinstance(tags, list) else ()))),
        pinned=about.get("pinned") is True,
        deleted=None if math.isnan(deleted) else deleted,
        changed=number_in(about, "changed", most=_TIMES),
        bytes=size,
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


def _mapping(stated: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = stated.get(name)
    return value if isinstance(value, dict) else {}
