"""What is known of a run when it begins: who made it and why, and the machine it runs on."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mklviz.record.store.machine import Machine

__all__ = ["RunHead", "is_id", "new_id", "owned_key"]

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
    # `sweep`, `member`: keys of a sweep and of its member
    sweep: str = ""
    member: str = ""
    machine: Machine = field(default_factory=Machine)  # filled in by the store


def is_id(text: Any) -> bool:
    """Return whether a text may be the name of a run's folder."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def owned_key(key: str, owner: str) -> str:
    """Return a key that only one owner's race has, where several people share a server."""
    return f"{key}-{owner[:8]}" if owner else key


def new_id(ending: str = "", at: datetime | None = None, chance: str = "") -> str:
    """Return a key that no other run or race has: "20261124T083207-3fa9c2d1-level", in UTC.

    `chance`: eight hexadecimal digits in the place of random ones.
    """
    moment = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%S")
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", ending)[:60].strip("-")
    return "-".join(filter(None, (moment, chance or secrets.token_hex(4), plain)))
