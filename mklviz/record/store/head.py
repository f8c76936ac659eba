"""What is known of a run when it begins: who made it and why, whose it is, and the machine it runs on.

Times of different machines are not to be compared.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.record.run_facts import number_in, text_in


@dataclass(frozen=True)
class Machine:
    """A machine, as it was when a run began."""

    name: str = ""  # of its processor
    cores: int = 0
    load: float = 0.0  # processes that wanted to run, on average over a minute
    calibration: float = 0.0  # CPU seconds of a fixed piece of work
    id: str = ""  # a digest, which differs between machines

    @classmethod
    def read(cls, stored: Any) -> Machine:
        """Return the machine that a file states; what is missing has its default."""
        stated = stored if isinstance(stored, Mapping) else {}
        cores, load, calibration = (number_in(stated, name, most=1e9) for name in ("cores", "load", "calibration"))
        return cls(text_in(stated, "name"), int(cores), load, calibration, text_in(stated, "id"))


def this_machine() -> Machine:
    """Return the machine that this process runs on; only its load is asked for each time."""
    return replace(_measured(), load=_load())


@cache
def _measured() -> Machine:
    name, cores = _processor(), os.cpu_count() or 1
    text = "\n".join((platform.node(), _installation(), name, str(cores)))
    return Machine(name, cores, 0.0, _calibration(), hashlib.sha256(text.encode()).hexdigest()[:8])


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


def _calibration() -> float:
    """Return the CPU seconds that some arithmetic and sorting take, the least of five times."""
    numbers = np.random.default_rng(0).standard_normal(20_000)
    times = []
    for _ in range(5):
        begun = time.thread_time()
        np.sort(np.exp(numbers) * numbers).cumsum()
        times.append(time.thread_time() - begun)
    return min(times)


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
