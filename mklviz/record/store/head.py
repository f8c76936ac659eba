"""What is known of a run when it begins: who made it and why, and the machine it runs on."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from mklviz.record.store.machine import Machine

__all__ = ["RunHead", "new_id", "read_head"]


@dataclass(frozen=True)
class RunHead:
    """What the runs of a race share, beside what each trace says of itself.

    Attributes
    ----------
    race : str
        Key of the race; one is made where it is empty.
    words : str
        The recipe in words, which a search finds.
    data : str
        Title of the data.
    name : str
        What the race is called at first; a person may change it.
    lesson : str
        Name of the scenario, where the race is a lesson's or a scenario's.
    made_by : str
        "dashboard", "notebook", "command line", "sweep" or "file".
    owner : str
        Browser session on a shared server; "" otherwise.
    sweep, member : str
        Keys of a sweep and of its member.
    machine : Machine
        Filled in by the store.
    """

    race: str = ""
    words: str = ""
    data: str = ""
    name: str = ""
    lesson: str = ""
    made_by: str = ""
    owner: str = ""
    sweep: str = ""
    member: str = ""
    machine: Machine = field(default_factory=Machine)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON knows it."""
        return asdict(self)


def read_head(stored: Mapping[str, Any]) -> RunHead:
    """Return the head that a file states; what is missing, or no text, has its default."""
    words = {each.name: stored.get(each.name) for each in fields(RunHead) if each.name != "machine"}
    given = {name: value for name, value in words.items() if isinstance(value, str)}
    return RunHead(**given, machine=Machine.read(stored.get("machine")))


def new_id(ending: str = "", at: datetime | None = None, chance: str = "") -> str:
    """Return a key that no other run or race has: "20261124T083207-3fa9c2d1-level", in UTC.

    `chance`: eight hexadecimal digits in the place of random ones.
    """
    moment = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%S")
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", ending)[:60].strip("-")
    return "-".join(filter(None, (moment, chance or secrets.token_hex(4), plain)))
