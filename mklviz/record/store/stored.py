"""What a table of runs says of one run: what its folder states, without its steps."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
import secrets
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from mklviz.quoting import one_line
from mklviz.record.run_facts import FINAL, MOST_COUNT, MOST_VALUES, number_in, plain_values, text_in, text_of
from mklviz.record.store.folder import ABOUT, CUT_OFF_SECONDS, END, HEAD, LOCKS, PACKED, is_gone, read_json, read_seen
from mklviz.record.store.frames import newest_numbers

# What is known of a run when it begins: who made it and why, whose it is, and the machine it runs on.
#
# Times of different machines are not to be compared.


@dataclass(frozen=True)
class Machine:
    """A machine, as it was when a run began."""

    name: str = ""  # of its processor
    cores: int = 0
    load: float = 0.0  # processes that wanted to run, on average over a minute
    id: str = ""  # a digest, which differs between machines

    @classmethod
    def read(cls, stored: Any) -> Machine:
        """Return the machine that a file states; what is missing has its default."""
        stated = stored if isinstance(stored, Mapping) else {}
        cores, load = (number_in(stated, name, most=1e9) for name in ("cores", "load"))
        return cls(text_in(stated, "name"), int(cores), load, text_in(stated, "id"))


def this_machine() -> Machine:
    """Return the machine that this process runs on; only its load is asked for each time."""
    return replace(_measured(), load=_load())


@cache
def _measured() -> Machine:
    name, cores = _processor(), os.cpu_count() or 1
    text = "\n".join((platform.node(), _installation(), name, str(cores)))
    return Machine(name, cores, id=hashlib.sha256(text.encode()).hexdigest()[:8])


def _processor() -> str:
    """Return what the processor is called."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _installation() -> str:
    """Return the number that an installation of Linux has; "" elsewhere."""
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _load() -> float:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return 0.0


_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}(-[A-Za-z0-9_-]{1,60})?")


@dataclass(frozen=True)
class RunHead:
    """What the runs of a race share, beside what each trace says of itself."""

    race: str = ""  # key of the race; one is made where it is empty
    words: str = ""  # the recipe in words, which a search finds
    data: str = ""  # title of the data
    name: str = ""  # what the race is called at first; a person may change it
    lesson: str = ""  # name of the scenario, where the race is a lesson's or a scenario's
    made_by: str = ""  # "dashboard", "notebook", "command line", "sweep" or "file"
    owner: str = ""  # browser session on a shared server
    sweep: str = ""  # keys of a sweep and of its member
    member: str = ""
    machine: Machine = field(default_factory=Machine)  # filled in by the store


def is_id(text: Any) -> bool:
    """Return whether a text may be the name of a run's folder."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def owned_key(key: str, owner: str) -> str:
    """Return a key that only one owner's race has, where several people share a server."""
    return f"{key}-{owner[:8]}" if owner else key


def new_id(ending: str = "", at: datetime | None = None, chance: str = "") -> str:
    """Return a key as "20261124T083207-3fa9c2d1-level", in UTC; `chance`: digits in place of random ones."""
    moment = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%S")
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", ending)[:60].strip("-")
    return "-".join(filter(None, (moment, chance or secrets.token_hex(4), plain)))


# -- whose runs a store reads, changes and gives out: the rule that keeps the visitors of one server apart


@dataclass(frozen=True)
class Owner:
    """One of several people who share a store, by a name that is never empty."""

    name: str

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("An owner has a name; EVERYBODY may see all runs.")

    @property
    def condition(self) -> tuple[str, tuple[str, ...]]:
        """The runs that are this owner's, as an expression of SQL and its values."""
        return "owner = ?", (self.name,)

    def owns(self, owner: str) -> bool:
        """Return whether a run is this owner's whose head names `owner`."""
        return owner == self.name


@dataclass(frozen=True)
class Everybody:
    """An asker that may see all runs."""

    name: str = ""  # that runs without an owner have
    condition: tuple[str, tuple[str, ...]] = ("1", ())

    def owns(self, owner: str) -> bool:
        """Return that every run may be read and changed."""
        return True


Asker = Owner | Everybody
EVERYBODY = Everybody()
"""Who works on the command line or with the library, and visitors of a server that shares all runs."""


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
