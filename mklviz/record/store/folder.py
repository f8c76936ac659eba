"""The folder of a run, which is the truth about it: small files in JSON, frames, and the packed run.

Each file is written beside its place, brought to the disk and then given its name, so that it is whole or not there.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mklviz.record.bundle import SUFFIX

__all__ = [
    "ABOUT",
    "CUT_OFF_SECONDS",
    "END",
    "FRAME",
    "HEAD",
    "PACKED",
    "SEEN",
    "bring_to_disk",
    "read_json",
    "read_seen",
    "write_durably",
    "write_json",
    "write_seen",
]

HEAD, END, ABOUT, SEEN = "head.json", "end.json", "about.json", "seen"
PACKED = f"run{SUFFIX}"
FRAME = ".frame"
CUT_OFF_SECONDS = 30.0  # a run that is going on says so more often
MOST_STATED = 10**7  # bytes of a file in JSON: what is longer was not written here


def write_durably(path: Path, content: bytes) -> int:
    """Write a file that is on the disk under its name afterwards, or not at all; return its size in bytes.

    Raises `OSError` if the disk does not take it. Some runs are over in a few hundredths of a second: this takes a
    third of the time of `replacing`.
    """
    beside = f"{path.parent}{os.sep}.{path.name}-{os.getpid()}-{threading.get_ident()}.part"
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    bring_to_disk(path.parent)
    return len(content)


def bring_to_disk(folder: Path) -> None:
    """Have a name that was given in a folder survive a power cut, where the system can promise that."""
    with suppress(OSError):  # Windows opens no folders, and some network disks bring none to the disk
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_json(path: Path) -> dict[str, Any]:
    """Return what a file states; nothing where it is missing or damaged."""
    try:
        with path.open("rb") as file:
            stated = json.loads(file.read(MOST_STATED).decode())
    except (OSError, ValueError, RecursionError):
        return {}
    return stated if isinstance(stated, dict) else {}


def write_json(path: Path, stated: Mapping[str, Any]) -> int:
    """Replace a file whole, or raise `OSError`; return its size. What JSON does not know is written as text."""
    content = json.dumps(stated, ensure_ascii=False, default=str).encode("utf-8", "replace")
    return write_durably(path, content)


def read_seen(folder: Path) -> float:
    """Return when a run last said that it was going on, in seconds since 1970; 0 where it never has."""
    try:
        return float((folder / SEEN).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0.0


def write_seen(folder: Path) -> float:
    """Say that a run is going on, and return the time that was written. A power cut may lose it, which says as much."""
    now = time.time()
    beside = folder / f".{SEEN}.part"
    beside.write_text(f"{now:.1f}", encoding="ascii")
    beside.replace(folder / SEEN)
    return now
